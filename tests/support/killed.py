"""Runs that are killed in the middle of a job."""

import os
import signal
import subprocess
from contextlib import suppress

from support.processes import descendants, finish, wait_until

# Fault injection from outside: a module that Python imports at start lets the job of a file hang
# just before its output is complete, for the first time or a later one, where it is then killed.
HANG = """
import os, time
fsync, times = os.fsync, []
def hang(descriptor):
    name = os.readlink(f"/proc/self/fd/{descriptor}")
    times.extend(file for file in os.environ["HANG_AT"].split() if file in name)
    if len(times) == int(os.environ["HANG_OCCASION"]):
        with open(f"{os.environ['HANG_MARK']}.part", "w") as mark:
            mark.write(times[-1])
        os.rename(mark.name, os.environ["HANG_MARK"])
        while os.path.exists(os.environ["HANG_WHILE"]):
            time.sleep(0.1)
    fsync(descriptor)
os.fsync = hang
"""


def kill_at(files, victim, project, command, occasion=1):
    """Start a run and kill it where one of `files` is about to be complete; returns which."""
    mark = project.path("hanging")
    mark.unlink(missing_ok=True)  # of a kill before
    project.write("faults/sitecustomize.py", HANG)
    process = subprocess.Popen(
        command.split(),
        cwd=project.folder,
        env=project.env
        | {
            "PYTHONPATH": str(project.path("faults")),
            "HANG_AT": " ".join(files),
            "HANG_OCCASION": str(occasion),
            "HANG_MARK": str(mark),
            "HANG_WHILE": f"/proc/{os.getpid()}",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    wait_until(mark.exists, process)
    if victim == "everything":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        for pid in descendants(process.pid):
            with suppress(ProcessLookupError):  # the process has ended by itself
                os.kill(pid, signal.SIGKILL)
    finish(process)
    assert process.returncode != 0
    return mark.read_text()
