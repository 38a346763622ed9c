"""The line of progress of a long test run."""

import os
import re
import sys
from types import SimpleNamespace

import pytest

from support import processes
from support.progress import Progress
from support.repository import REPOSITORY

# Ends when the output that the run itself writes names it.
INNER = """
import time
from pathlib import Path
import pytest

@pytest.mark.parametrize("number", range(40))
def test_quick(number):
    pass

def test_slow():
    for _ in range(60_000):
        if "test_slow" in Path("output").read_text():
            return
        time.sleep(0.01)
    raise AssertionError("nothing was said")
"""
CONFTEST = """
from support.progress import Progress

def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(config, silence=0, pause=0.001))
"""
SAID = r"\[\d+ %\] \d+ of 41 tests; running: (none|test_inner\.py::\S+ \(\d+ s\)(, )?)+"


@pytest.mark.parametrize("workers", [0, 2])
def test_lines_are_whole_and_apart_from_the_dots(workers, tmp_path):
    """In this run of pytest, a line of progress is due all the time."""
    (tmp_path / "test_inner.py").write_text(INNER)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    command = [sys.executable, "-m", "pytest", "-q", "--color=no", f"--numprocesses={workers}"]
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    with (tmp_path / "output").open("w") as output:
        done = processes.run(
            command,
            cwd=tmp_path,
            env=env | {"PYTHONPATH": str(REPOSITORY / "tests")},
            stdout=output,
        )
    said = (tmp_path / "output").read_text()
    assert done.returncode == 0, said
    *lines, last = said.splitlines()
    assert last.startswith("41 passed")
    dots = [line for line in lines if re.fullmatch(r"\.*( +\[ *\d+%\])?", line)]
    assert sum(line.count(".") for line in dots) == 41
    others = {line for line in lines if line and line not in dots}
    assert any("test_slow" in line for line in others)
    for line in others - {"bringing up nodes...", "collecting tests"}:
        assert re.fullmatch(SAID, line), line


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_a_line_is_due_when_no_test_has_ended_for_a_while():
    clock, writer = Clock(), SimpleNamespace(width_of_current_line=3, said=[])
    writer.write = lambda text, flush: writer.said.append(text)
    progress = Progress(None, clock=clock)
    progress.writer = writer
    waits = iter([1, 20, 19.5, 0.5, 10, 0])
    progress.over.wait = lambda pause: advance(clock, next(waits)) or clock.now == 151
    progress.pytest_xdist_node_collection_finished(range(1903))
    progress.ended = 812
    progress.pytest_runtest_logstart("tests/test_killed.py::test_x")
    progress.watch()
    line = "[43 %] 812 of 1,903 tests; running: test_killed.py::test_x"
    assert writer.said == [f"\n{line} (21 s)\n", f"\n{line} (41 s)\n"]


def advance(clock, seconds):
    clock.now += seconds
