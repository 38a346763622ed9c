"""Patience with processes: none that works is ended, and every one that hangs is."""

import itertools
import os
import subprocess
import sys

import pytest

from support import processes
from support.processes import LOOK, LOOKS, Patience, descendants, processor_seconds, run, wait_until

# Waits for a child that waits for ever.
HANGS = """
import subprocess, sys
subprocess.run([sys.executable, "-c", "import signal; signal.pause()"], close_fds=False)
"""


def looks(work):
    """How often one looks, a tick of the clock before it is time among them, until it ends."""
    now, done = [0.0], [0.0]
    patience = Patience(lambda: done[0], lambda: now[0])
    for number, more in enumerate(work, 1):
        patience.look("")  # too early
        now[0], done[0] = now[0] + LOOK, done[0] + more
        try:
            patience.look("something")
        except AssertionError:
            return number
    return None


@pytest.mark.parametrize(
    ("work", "ends"),
    [
        ([0] * LOOKS, LOOKS),
        ([0.9 / LOOKS] * LOOKS, LOOKS),  # as one that only looks whether something happened
        ([1.1 / LOOKS] * 3 * LOOKS, None),
        (([0] * (LOOKS - 1) + [1]) * 3, None),
        ([*[0] * (LOOKS - 1), 1, *[0] * LOOKS], 2 * LOOKS),
    ],
)
def test_patience_lasts_while_any_work_is_done(work, ends):
    assert looks(work) == ends


def test_whoever_hangs_is_ended_with_all_below_it(monkeypatch):
    monkeypatch.setattr(processes, "LOOK", 0.01)
    family, numbers = [], itertools.count()

    def work(pid):
        family[:] = descendants(pid)
        return 0 if family else next(numbers)

    monkeypatch.setattr(processes, "processor_seconds", work)
    ours, theirs = os.pipe()
    with pytest.raises(AssertionError, match="hangs"):
        run([sys.executable, "-c", HANGS], pass_fds=[theirs])
    os.close(theirs)
    assert os.read(ours, 1) == b"", "nobody is left who could write"
    os.close(ours)


def test_all_that_was_said_is_told_however_long_it_took(monkeypatch):
    monkeypatch.setattr(processes, "LOOK", 0.001)
    monkeypatch.setattr(processes, "LOOKS", float("inf"))
    code = "print('first', flush=True); sum(range(1_000_000)); print('last'); raise SystemExit(3)"
    done = run([sys.executable, "-c", code])
    assert (done.stdout, done.returncode) == ("first\nlast\n", 3)


def test_whoever_ends_without_what_was_waited_for_is_at_fault():
    with (
        subprocess.Popen(
            [sys.executable, "-c", "print('why')"], stdout=subprocess.PIPE, text=True
        ) as process,
        pytest.raises(AssertionError, match="why"),
    ):
        wait_until(lambda: False, process)


def test_the_work_of_a_process_is_that_of_its_children_too(monkeypatch):
    monkeypatch.setattr(processes, "HELPERS", set())
    work = "import time\nwhile time.process_time() < 0.5: pass"
    both = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}]); input()"
    with subprocess.Popen([sys.executable, "-c", both], stdin=subprocess.PIPE) as process:
        pid = process.pid
        wait_until(lambda: processor_seconds(pid) >= 0.3 and not descendants(pid), process)
        process.communicate(b"\n")
    assert processor_seconds(process.pid) == 0
