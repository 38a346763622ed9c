"""A run on a disk that is full."""

import subprocess

import pytest

from support.configurations import SMALL, errors


@pytest.fixture
def tiny_disk(project):
    """A project whose results are on a small tmpfs, and a function that sets its size."""
    disk = project.path("results")
    disk.joinpath(".gitkeep").unlink()
    mount = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", disk], capture_output=True, text=True)
    if mount.returncode:
        pytest.skip(f"needs a user who may mount a file system, as root: {mount.stderr.strip()}")
    yield lambda size: subprocess.run(["mount", "-o", f"remount,size={size}", disk], check=True)
    subprocess.run(["umount", disk], check=True)


def test_disk_full_is_one_clear_line(tiny_disk, project):
    """Whichever job fills the disk, there is one error line.

    There is no traceback of ours and no partial file; with more room the run continues.
    """
    project.write("config/small.yaml", SMALL)
    targets = "data dataset_long_tails steck2020_table1_datasets"
    options = "--configfile config/small.yaml"
    run = f"snakemake --cores 1 {targets} {options}"
    for size in ("40k", "60k", "100k", "140k"):
        tiny_disk(size)
        output = project.fails(run)
        (line,) = errors(output)
        assert "disk full" in line
        assert "Traceback" not in output.replace("[Errno 28]", "")
        assert [f for f in project.path("results").rglob("*") if "partial" in f.name] == []
    tiny_disk("50m")
    project.ok(run)
