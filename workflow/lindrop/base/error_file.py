"""The file in which the jobs of a run leave their errors, so that the run can end with them."""

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

# below the folder in which Snakemake and all its jobs run, on a cluster as well
ERRORS = Path(".snakemake", "lindrop", "errors.jsonl")


def begin_run() -> None:
    """Create the file, or empty it of an earlier run's errors. Without the file, nothing is kept.

    Only the process that reads the file at the end calls this. Where there is none (the library
    used outside, the workflow used as a module), jobs do not fill a file that nobody reads.
    """
    with suppress(OSError):
        ERRORS.parent.mkdir(parents=True, exist_ok=True)
        ERRORS.write_bytes(b"")


def add(log: str | Path, message: str, damaged: Path | None = None) -> None:
    """Keep the error of the job that writes `log`; where that is impossible, do nothing.

    `damaged` is the file that the job found damaged.
    """
    _append(log, message, damaged)


def withdraw(log: str | Path) -> None:
    """Forget the error of a job that has now succeeded: a cluster tries failed jobs again."""
    if str(log) in errors_of_run():
        _append(log, None)


def errors_of_run() -> dict[str, str]:
    """The last error of each job that failed, by the job's log, in the order of the failures."""
    return {log: entry["message"] for log, entry in _last_entries().items()}


def damaged_of_run() -> list[Path]:
    """Files that jobs of this run found damaged."""
    files = (entry.get("damaged") for entry in _last_entries().values())
    return [Path(file) for file in dict.fromkeys(files) if file is not None]


def _last_entries() -> dict[str, dict[str, Any]]:
    """What is kept of the last error of each job that failed, by the job's log."""
    entries: dict[str, dict[str, Any]] = {}
    try:
        lines = ERRORS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return entries
    for line in lines:
        with suppress(ValueError, TypeError, KeyError):  # on a full disk, a line may be cut off
            entry = json.loads(line)
            log, message = entry["log"], entry["message"]
            entries.pop(log, None)
            if message is not None:
                entries[log] = entry
    return entries


def _append(log: str | Path, message: str | None, damaged: Path | None = None) -> None:
    entry = {"time": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "log": str(log), "message": message}
    if damaged:
        entry["damaged"] = str(damaged)
    with suppress(OSError):
        file = os.open(ERRORS, os.O_WRONLY | os.O_APPEND)
        try:
            # in one call: the lines of jobs that fail together stay whole
            os.write(file, f"{json.dumps(entry)}\n".encode())
        finally:
            os.close(file)
