"""Files between stages are whole or absent, and are refused if they are something else."""

import os
import signal
import subprocess
import sys

import h5py
import numpy as np
import pytest

from lindrop.base.atomic import atomic
from lindrop.base.errors import UserError
from lindrop.data.interactions import Interactions, RawCounts
from lindrop.store.interactions import read_interactions, write_interactions
from lindrop.store.split import read_split
from support.configurations import SMALL, errors
from support.processes import finish, wait_until
from support.repository import REPOSITORY

EVENTS = Interactions(
    user=np.array([1, 0, 1], np.int32),
    item=np.array([0, 0, 2], np.int32),
    user_ids=np.array(["a b", "ü"], object),
    item_ids=np.array(["0", "1", "2"], object),
    min_rating=3.5,
    raw=RawCounts(5, 3, 3),
)


def test_interactions_come_back_as_they_were(tmp_path):
    path = tmp_path / "new folder" / "interactions.h5"
    write_interactions(path, EVENTS, {"format": "csv", "verified_by": None})
    again, source = read_interactions(path)
    for name in ("user", "item", "user_ids", "item_ids"):
        np.testing.assert_array_equal(getattr(again, name), getattr(EVENTS, name))
    assert again.user.dtype == np.int32
    assert (again.min_rating, again.raw) == (3.5, EVENTS.raw)
    assert source == {"format": "csv", "verified_by": None}
    assert [file.name for file in path.parent.iterdir()] == ["interactions.h5"]


def test_the_same_content_gives_the_same_bytes(tmp_path):
    for name in ("a.h5", "b.h5"):
        write_interactions(tmp_path / name, EVENTS, {"format": "csv"})
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()


@pytest.mark.parametrize("content", ["text", "foreign", "other kind", "cut short", "absent"])
def test_a_file_of_another_kind_is_refused(content, tmp_path):
    path = tmp_path / "split.h5"
    if content == "text":
        path.write_text("hello")
    elif content == "foreign":
        h5py.File(path, "w").close()
    elif content != "absent":
        write_interactions(path, EVENTS, {})
    if content == "cut short":
        path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(UserError, match=rf"{path}: .*(delete it|no such file)") as caught:
        read_split(path)
    assert "\n" not in str(caught.value)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def fail_halfway():
        with atomic(path) as partial:
            partial.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_halfway()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_killed_write_leaves_nothing_that_looks_finished(tmp_path):
    path = tmp_path / "file"
    code = f"""
import sys
from lindrop.base.atomic import atomic
from lindrop.store.interactions import read_interactions, write_interactions
from lindrop.store.split import read_split
with atomic({str(path)!r}) as partial:
    partial.write_text("half")
    sys.stdin.read()
"""
    env = os.environ | {"PYTHONPATH": str(REPOSITORY / "workflow")}
    process = subprocess.Popen([sys.executable, "-c", code], env=env, stdin=subprocess.PIPE)
    wait_until(lambda: any(file.stat().st_size for file in tmp_path.iterdir()), process)
    process.send_signal(signal.SIGKILL)
    finish(process)
    assert not path.exists()
    with atomic(path) as partial:  # a rerun deletes the leftover
        partial.write_text("whole")
    assert [file.read_text() for file in tmp_path.iterdir()] == ["whole"]


def test_of_two_writers_the_later_one_wins(tmp_path, monkeypatch):
    """On a cluster, the job of a killed Snakemake runs on while the next one starts it again."""
    path = tmp_path / "file"

    with atomic(path) as older:
        older.write_text("older")
        monkeypatch.setattr("socket.gethostname", lambda: "another")
        with atomic(path) as newer:
            newer.write_text("newer")
    assert [file.read_text() for file in tmp_path.iterdir()] == ["newer"]


@pytest.mark.parametrize("earlier", [None, "earlier"])
def test_a_file_that_was_never_written_is_an_error(earlier, tmp_path):
    path = tmp_path / "file"
    if earlier:
        path.write_text(earlier)
    with pytest.raises(FileNotFoundError), atomic(path):
        pass
    assert path.exists() == bool(earlier)


@pytest.fixture
def tiny_disk(project):
    """A project whose results lie on a file system of their own, and what sets its size."""
    disk = project.path("results")
    disk.joinpath(".gitkeep").unlink()
    mount = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", disk], capture_output=True, text=True)
    if mount.returncode:
        pytest.skip(f"needs a user who may mount a file system, as root: {mount.stderr.strip()}")
    yield lambda size: subprocess.run(["mount", "-o", f"remount,size={size}", disk], check=True)
    subprocess.run(["umount", disk], check=True)


def test_disk_full_is_one_clear_line(tiny_disk, project):
    """Whichever job it hits: no traceback of ours, no half-written output, room makes it go on."""
    project.write("config/small.yaml", SMALL)
    targets = "data dataset_long_tails steck2020_table1_datasets"
    options = "--configfile config/small.yaml --profile workflow/profiles/local"
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
