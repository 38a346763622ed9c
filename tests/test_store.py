"""Files between stages are whole or absent, and are refused if they are something else."""

import os
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest
from conftest import ROOT

from lindrop import store
from lindrop.atomic import atomic
from lindrop.data.interactions import Interactions, RawCounts
from lindrop.errors import UserError

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
    store.write_interactions(path, EVENTS, {"format": "csv", "verified_by": None})
    again, source = store.read_interactions(path)
    for name in ("user", "item", "user_ids", "item_ids"):
        np.testing.assert_array_equal(getattr(again, name), getattr(EVENTS, name))
    assert again.user.dtype == np.int32
    assert (again.min_rating, again.raw) == (3.5, EVENTS.raw)
    assert source == {"format": "csv", "verified_by": None}
    assert [file.name for file in path.parent.iterdir()] == ["interactions.h5"]


def test_the_same_content_gives_the_same_bytes(tmp_path):
    for name in ("a.h5", "b.h5"):
        store.write_interactions(tmp_path / name, EVENTS, {"format": "csv"})
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()


@pytest.mark.parametrize("content", ["text", "foreign", "other kind", "cut short", "absent"])
def test_a_file_of_another_kind_is_refused(content, tmp_path):
    path = tmp_path / "split.h5"
    if content == "text":
        path.write_text("hello")
    elif content == "foreign":
        h5py.File(path, "w").close()
    elif content != "absent":
        store.write_interactions(path, EVENTS, {})
    if content == "cut short":
        path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(UserError, match=rf"{path}: .*delete it") as caught:
        store.read_split(path)
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
import time
from lindrop.atomic import atomic
with atomic({str(path)!r}) as partial:
    partial.write_text("half")
    time.sleep(60)
"""
    env = os.environ | {"PYTHONPATH": str(ROOT / "workflow")}
    process = subprocess.Popen([sys.executable, "-c", code], env=env)
    while not any(file.stat().st_size for file in tmp_path.iterdir()):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not path.exists()
    with atomic(path) as partial:  # a rerun overwrites the leftover
        partial.write_text("whole")
    assert [file.read_text() for file in tmp_path.iterdir()] == ["whole"]


@pytest.fixture
def tiny_disk(tmp_path):
    """A file system of 1 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True, text=True
    )
    if mount.returncode:
        pytest.skip(f"cannot mount a small file system here: {mount.stderr.strip()}")
    yield disk
    subprocess.run(["umount", disk], check=True)


FULL = """
import numpy as np
from pathlib import Path
from lindrop import store
from lindrop.data.interactions import Interactions, RawCounts
from lindrop.reporting import job
noise = np.random.default_rng(0).integers(0, 2**31, 10**6).astype(np.int32)
ids = np.array(["x"], object)
with job("log.txt"):
    data = Interactions(noise, noise, ids, ids, None, RawCounts(1, 1, 1))
    store.write_interactions(Path({path!r}), data, {{}})
"""


def test_disk_full_is_one_clear_line(tiny_disk, tmp_path):
    path = str(tiny_disk / "interactions.h5")
    env = os.environ | {"PYTHONPATH": str(ROOT / "workflow")}
    done = subprocess.run(
        [sys.executable, "-c", FULL.format(path=path)],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("lindrop: error: disk full while writing")
    assert path in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tiny_disk.iterdir()) == []
    assert "disk full" in (tmp_path / "log.txt").read_text()
