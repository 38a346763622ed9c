"""Format times in words, and read the last line of a job's log."""

import os
import re
from pathlib import Path

LINE = re.compile(rb"^\d\d:\d\d:\d\d ([^\r\n]+)", re.MULTILINE)
TAIL = 4096  # bytes at the end of a log in which its last line is looked for


def duration(seconds: float) -> str:
    """A duration in words: `0.4 s`, `44 s`, `2 min 5 s` or `3 h 10 min`."""
    if seconds < 0.95:
        return f"{max(seconds, 0):.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def left(seconds: float) -> str:
    """The time left in words, rounded to the precision of an estimate: `about 3 min left`."""
    if seconds < 10:
        return "a few seconds left"
    if seconds < 95:
        return f"about {round(seconds / 10) * 10} s left"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"about {minutes} min left"
    if minutes < 10 * 60:
        hours, tens = divmod(round(minutes / 10), 6)
        return f"about {hours} h {tens * 10} min left"
    if minutes < 72 * 60:
        return f"about {round(minutes / 60)} h left"
    return f"about {round(minutes / 60 / 24)} days left"


def last_words(log: str | None, since: float) -> str | None:
    """Last line of a log, without its time of day; None unless written after `since`."""
    if log is None:
        return None
    try:
        with Path(log).open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_mtime < since:  # the log is from an earlier run
                return None
            file.seek(max(status.st_size - TAIL, 0))
            lines = LINE.findall(file.read())
    except OSError:
        return None
    return lines[-1].decode(errors="replace") if lines else None


def seconds_left(words: str | None) -> float:
    """Seconds left that a line of `base.reporting.Progress` states at its end; 0 if none."""
    found = re.search(r"([\d,]+) s left$", words or "")
    return float(found[1].replace(",", "")) if found else 0.0
