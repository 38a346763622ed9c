"""Processes of the tests: no limit of time, but one that has ceased to work is ended."""

import os
import re
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path

LOOK = 10  # seconds from one look at a working process to the next
LOOKS = 60  # in which whoever works, on however busy a machine, uses a second of a processor
TICKS = os.sysconf("SC_CLK_TCK")
HELPERS = set()  # processes that work for others which only wait for them


def run(command, **options):
    """Run a command to its end; returns the finished process, its stdout with all that it said."""
    usual = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, **(usual | options)) as process:
        said = finish(process)
    return subprocess.CompletedProcess(command, process.returncode, said)


def finish(process):
    """Wait for the end of a process; returns what it said."""
    with watched(process) as patience:
        while True:
            try:
                return process.communicate(timeout=LOOK)[0]
            except subprocess.TimeoutExpired as waiting:
                patience.look(waiting.output)


def wait_until(event, process):
    """Wait for an event that a process brings about; one that ends without it is at fault."""
    with watched(process) as patience:
        while not event():
            assert process.poll() is None or event(), finish(process)
            patience.look(process.args)
            time.sleep(0.02)


@contextmanager
def watched(process):
    """Whoever stops waiting for a process ends it, and patience with it has an end."""
    try:
        yield Patience(lambda: processor_seconds(process.pid))
    except BaseException:
        end(process.pid)
        raise


class Patience:
    """Lasts while `work` grows: a number, as seconds or bytes, of which less than 1 is nothing."""

    def __init__(self, work, clock=time.monotonic):
        self.work, self.clock = work, clock
        self.done, self.looked, self.in_vain = work(), clock(), 0

    def look(self, said):
        """Look again, if it is time; counts looks, as a machine may stand still between two."""
        if self.clock() - self.looked < LOOK:
            return
        moved = abs((done := self.work()) - self.done) >= 1
        self.looked, self.in_vain = self.clock(), 0 if moved else self.in_vain + 1
        if moved:
            self.done = done
        assert self.in_vain < LOOKS, f"hangs: {said}"


def descendants(pid):
    """Processes below `pid`."""
    below = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            (parent,) = re.findall(r"^PPid:\t(\d+)$", status.read_text(), re.MULTILINE)
        except OSError:  # it has ended
            continue
        below.setdefault(int(parent), []).append(int(status.parent.name))
    found = [pid]
    for each in found:  # grows meanwhile
        found += below.get(each, [])
    return found[1:]


def processor_seconds(pid):
    """What a process, `HELPERS` and all below have used of processors, with those that ended."""
    return sum(seconds_of(each) for top in {pid, *HELPERS} for each in [top, *descendants(top)])


def seconds_of(pid):
    """Processor seconds of one process and of those that it has waited for."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:  # it has ended
        return 0
    return sum(map(int, stat.rpartition(")")[2].split()[11:15])) / TICKS


def end(pid):
    """Kill a process and all below it."""
    for each in [pid, *descendants(pid)]:
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
