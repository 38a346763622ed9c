"""A run that finds a result damaged says so in one line, and the next run makes it anew."""

import os

import pytest

from support.configurations import SMALL, errors

COMMAND = (
    "snakemake --cores 2 results/gram/small.h5 results/gram/small.spectrum.h5 "
    "--configfile config/mine.yaml"
)


def flip(file):
    """Flip a bit of a file."""
    content = bytearray(file.read_bytes())
    content[-100] ^= 4
    overwrite(file, content)


def overwrite(file, content):
    """Change a file but keep its time of change, as a failing disk does."""
    times = file.stat()
    file.write_bytes(content)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_what_was_damaged_is_made_anew(project):
    project.write("config/mine.yaml", SMALL)
    project.ok(COMMAND)
    gram, spectrum = (project.path(f"results/gram/small{end}.h5") for end in ("", ".spectrum"))
    split = project.path("results/data/small/split.h5")
    before = [file.read_bytes() for file in (split, gram, spectrum)]
    for damaged, made_from_it, maker in ((gram, spectrum, "gram"), (split, gram, "split")):
        flip(damaged)
        made_from_it.unlink()
        output = project.fails(COMMAND)
        name = damaged.relative_to(project.path(".")).as_posix()
        assert errors(output) == {
            f"lindrop: error: dataset small: {name}: damaged (its checksum differs): delete it and "
            f"run again; the rule {maker} makes it anew"
        }
        assert f"lindrop: {name} was damaged and is deleted: run again" in output
        assert "Traceback" not in output
        assert not damaged.exists()
        project.ok(COMMAND)
        assert [file.read_bytes() for file in (split, gram, spectrum)] == before


@pytest.mark.parametrize("content", [b"", b"text", b"\x89HDF\r\n\x1a\n" + bytes(2000)])
def test_a_file_that_is_not_lindrops_is_left_alone(content, project):
    project.write("config/mine.yaml", SMALL)
    project.ok(COMMAND)
    split = project.path("results/data/small/split.h5")
    overwrite(split, content)
    project.path("results/gram/small.h5").unlink()
    (error,) = errors(project.fails(COMMAND))
    assert "split.h5: made by an older version of lindrop, or not a file of lindrop" in error
    assert split.read_bytes() == content
