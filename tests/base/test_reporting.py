"""What a job says of its progress and of its failure."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from lindrop.base.error_file import ERRORS, add, begin_run, damaged_of_run, errors_of_run
from lindrop.base.errors import Damaged, UserError
from lindrop.base.reporting import STARTED, Progress, job
from support.repository import REPOSITORY


@pytest.mark.parametrize(
    ("unit", "total", "done", "elapsed", "said"),
    [
        ("fits", 4, 1, 90, "tuning: 1 of 4 fits (25 %), 90 s each, 270 s left"),
        ("fits", 40, 30, 10, "tuning: 30 of 40 fits (75 %), 3.0 fits/s, 3 s left"),
        ("MB", 20_000_000, 5_000_000, 50, "tuning: 5 of 20 MB (25 %), 0.1 MB/s, 150 s left"),
        ("MB", None, 5_000_000, 5, "tuning: 5 MB, 1.0 MB/s"),
    ],
)
def test_progress_says_how_fast_and_how_long(unit, total, done, elapsed, said, monkeypatch):
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    progress = Progress("tuning", total, unit=unit)
    progress.done, now = done, now + elapsed
    assert str(progress) == said


def test_an_error_is_written_as_one_line_at_once(tmp_path, monkeypatch):
    """Two jobs that fail together share an output, which need not be buffered."""
    written = []
    stream = SimpleNamespace(write=written.append, flush=lambda: None)
    monkeypatch.setattr("sys.stderr", stream)
    with pytest.raises(SystemExit), job(tmp_path / "log", "dataset mine"):
        raise UserError("broken")
    assert written == ["lindrop: error: dataset mine: broken\n"]


def test_a_job_ends_by_saying_what_was_not_work(tmp_path):
    """Importing belongs to the start, as is the time of Python and of the script's own imports."""
    (tmp_path / "slow.py").write_text("import time\nwhile time.process_time() < 1: pass\n")
    script = """if 1:
        import time
        from lindrop.base.reporting import job
        with job("log", code=["slow"]):
            began = time.process_time()
            while time.process_time() < began + 0.3: pass
    """
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}:{REPOSITORY / 'workflow'}"}
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, check=True)
    last = (tmp_path / "log").read_text().splitlines()[-1].split()[1:]
    said = STARTED.split()
    assert last[1:6] == said[1:6]
    assert 1 <= float(last[0]) < 1.3
    assert 0.3 <= float(last[7]) < 0.6


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder in which a run has begun."""
    monkeypatch.chdir(tmp_path)
    begin_run()
    return tmp_path


def fail(error, log="fit.log"):
    with pytest.raises((SystemExit, type(error))), job(log, "dataset mine"):
        raise error


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        (UserError("broken"), "dataset mine: broken"),
        (MemoryError("9 GB"), "dataset mine: out of memory (9 GB): use a machine with more memory"),
        (PermissionError(13, "denied", "a.h5"), "dataset mine: a.h5: denied"),
        (
            KeyError("user"),
            "dataset mine: unexpected KeyError: 'user'; this is a bug in lindrop, please report it",
        ),
        (ValueError("one\ntwo"), "dataset mine: unexpected ValueError: one; this is a bug"),
        (ValueError(), "dataset mine: unexpected ValueError; this is a bug"),
    ],
)
def test_the_error_of_a_job_is_kept_with_its_log(error, kept, folder):
    fail(error)
    (message,) = errors_of_run().values()
    assert message.startswith(kept)
    assert list(errors_of_run()) == ["fit.log"]


def test_what_a_job_found_damaged_is_kept_until_the_job_succeeds(folder):
    fail(Damaged("a.h5", "too short", "the rule split"))
    fail(Damaged("a.h5", "too short", "the rule split"), "tune.log")
    fail(UserError("broken"), "gram.log")
    assert damaged_of_run() == [Path("a.h5")]
    assert errors_of_run()["fit.log"] == (
        "dataset mine: a.h5: damaged (too short): delete it and run again; the rule split makes it "
        "anew"
    )
    for log in ("fit.log", "tune.log"):
        with job(log):
            pass
    assert damaged_of_run() == []


def test_an_interrupted_job_is_no_error(folder):
    with pytest.raises(SystemExit), job("fit.log"):
        raise KeyboardInterrupt
    assert errors_of_run() == {}


def test_the_errors_of_an_earlier_run_are_forgotten(folder):
    fail(UserError("broken"))
    begin_run()
    assert errors_of_run() == {}


def test_of_a_job_that_is_tried_again_the_last_attempt_counts(folder):
    for log in ("fit.log", "split.log", "fit.log"):
        fail(UserError(f"broken {log}"), log)
    assert list(errors_of_run()) == ["split.log", "fit.log"]
    with job("fit.log"):
        pass
    assert errors_of_run() == {"split.log": "dataset mine: broken split.log"}


def test_nothing_is_kept_where_no_run_began(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".snakemake").mkdir()
    fail(UserError("broken"))
    assert errors_of_run() == {}
    assert list((tmp_path / ".snakemake").iterdir()) == []


@pytest.mark.parametrize("place", ["a folder", "a full disk", "a file for a folder"])
def test_an_error_that_cannot_be_kept_is_still_said(place, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if place == "a file for a folder":
        ERRORS.parent.parent.mkdir()
        ERRORS.parent.touch()
    else:
        ERRORS.parent.mkdir(parents=True)
        ERRORS.mkdir() if place == "a folder" else ERRORS.symlink_to("/dev/full")
    begin_run()
    fail(UserError("broken"))
    assert "lindrop: error: dataset mine: broken\n" in capsys.readouterr().err
    assert place == "a full disk" or errors_of_run() == {}


def test_a_line_that_a_full_disk_cut_off_hides_no_other(folder):
    add("one.log", "first")
    with ERRORS.open("a") as file:
        file.write('{"time": "2024-\n7\n{}\n')
    add("two.log", "second")
    assert errors_of_run() == {"one.log": "first", "two.log": "second"}


APPENDING = """
import sys
from lindrop.base.error_file import add
for number in range(200):
    add(f"{sys.argv[1]}-{number}.log", sys.argv[1] * 5000 + "\\n")
"""


def test_errors_of_concurrent_jobs_stay_whole(folder):
    env = os.environ | {"PYTHONPATH": str(REPOSITORY / "workflow")}
    jobs = [subprocess.Popen([sys.executable, "-c", APPENDING, name], env=env) for name in "abcd"]
    assert [each.wait() for each in jobs] == [0] * 4
    assert errors_of_run() == {
        f"{name}-{number}.log": name * 5000 + "\n" for name in "abcd" for number in range(200)
    }
