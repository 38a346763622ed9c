"""A file appears under its name when it is whole, whatever stops the write."""

import os
import signal
import subprocess
import sys

import pytest

from lindrop.base.atomic import atomic
from support.processes import finish, wait_until
from support.repository import REPOSITORY


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
