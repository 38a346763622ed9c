"""Log messages, progress lines and error messages of workflow jobs."""

import errno
import logging
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import ClassVar

from lindrop.base import blas_kernels, error_file
from lindrop.base.errors import Damaged, UserError

logger = logging.getLogger("lindrop")
STARTED = "%.2f s of the processor to start, %.2f s to work"


@contextmanager
def job(log: str | Path, about: str = "", code: Iterable[str] = ()) -> Iterator[logging.Logger]:
    """Run one workflow job: messages go to the file `log`, errors also to standard error.

    The modules `code` are imported first: the log ends with the processor time of starting and
    importing, and with that of the work.
    `about` names the dataset at the start of an error message. Errors that a user can fix end the
    process with exit code 1 and no traceback; any other error is a bug and keeps its traceback, in
    the log as well. The run repeats the line of either at its end.
    """
    Path(log).parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(log, mode="w", encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    loud = logging.StreamHandler()
    loud.addFilter(lambda record: getattr(record, "loud", False))
    loud.setFormatter(_Loud(about))
    logger.addHandler(handler)
    logger.addHandler(loud)
    logger.setLevel(logging.INFO)
    logging.raiseExceptions = False  # a failed write to the log must not hide the error itself
    prefix = f"{about}: " if about else ""
    hooks = sys.excepthook, sys.unraisablehook
    # on a full disk, h5py prints a traceback for each object that it cannot close: only log it
    sys.excepthook = lambda kind, error, trace: logger.info("while closing: %s", error)
    sys.unraisablehook = lambda ignored: logger.info("while closing: %s", ignored.exc_value)
    try:
        for name in code:
            import_module(name)
        began = time.process_time()
        yield logger
    except KeyboardInterrupt:
        logger.info("interrupted")
        raise SystemExit(130) from None
    except Exception as error:
        if message := explained(error):
            _report(log, f"{prefix}{message}", error.path if isinstance(error, Damaged) else None)
            if disk_is_full(error):
                os._exit(1)  # at exit, HDF5 would crash on closing a file that it could not write
            raise SystemExit(1) from error
        logger.exception("unexpected error")
        error_file.add(log, f"{prefix}{bug(error)} with the log")
        raise
    else:
        error_file.withdraw(log)
        if "numpy" in sys.modules:
            logger.info("%s", blas_kernels.in_use())
        logger.info(STARTED, began, time.process_time() - began)
    finally:
        sys.excepthook, sys.unraisablehook = hooks
        logger.removeHandler(loud)
        logger.removeHandler(handler)
        handler.close()


class _Loud(logging.Formatter):
    """Writes a message as a line of lindrop that names the dataset, such as those of errors."""

    def __init__(self, about: str) -> None:
        super().__init__()
        self.about = f"{about}: " if about else ""

    def format(self, record: logging.LogRecord) -> str:
        kind = "warning: " if record.levelno >= logging.WARNING else ""
        return f"lindrop: {kind}{self.about}{record.getMessage()}"


def tell(message: str, *values: object, warning: bool = False) -> None:
    """Log a message that the user must not miss: a job writes it to standard error as well."""
    level = logging.WARNING if warning else logging.INFO
    logger.log(level, message, *values, extra={"loud": True})


def explained(error: BaseException) -> str:
    """What went wrong, in one line, if a user can do something about it, else an empty text."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"out of memory ({error}): use a machine with more memory or a smaller dataset"
    if disk_is_full(error):
        file = getattr(error, "filename", None) or "an output"
        return f"disk full while writing {file}: free some space and rerun"
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return ""


def bug(error: BaseException) -> str:
    """One line about an error that no user can correct."""
    what = traceback.format_exception_only(error)[0].partition("\n")[0]
    return f"unexpected {what}; this is a bug in lindrop, please report it"


def disk_is_full(error: BaseException | None) -> bool:
    """Whether an error or one of its causes is a full disk; HDF5 wraps it in several ways."""
    if error is None:
        return False
    return (
        getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
        or "No space left" in str(error)
        or disk_is_full(error.__cause__ or error.__context__)
    )


def _report(log: str | Path, message: str, damaged: Path | None = None) -> None:
    """Write an error message to the log, to the run's file of errors and to standard error."""
    logger.error("error: %s", message)
    error_file.add(log, message, damaged)
    # one write per line, so that lines of jobs that fail at the same time do not mix
    sys.stderr.write(f"lindrop: error: {message}\n")
    sys.stderr.flush()


class Progress:
    """Logs a line every `every` seconds with the amount done, the speed and the time left.

    Whoever shows progress in another way is among the `watchers`, called after every advance.
    """

    watchers: ClassVar[list[Callable[["Progress"], None]]] = []

    def __init__(self, what: str, total: int | None, *, unit: str = "MB", every: float = 5.0):
        self.what, self.total, self.every = what, total, every
        self.unit, self.scale = unit, 1e6 if unit == "MB" else 1.0
        self.done = 0
        self.start = self.last = time.monotonic()
        self.offset = 0

    def advance(self, amount: int) -> None:
        """Count `amount` more units (bytes if `unit` is MB) and log a line if one is due."""
        self.done += amount
        for watch in Progress.watchers:
            watch(self)
        now = time.monotonic()
        if now - self.last >= self.every:
            self.last = now
            logger.info("%s", self)

    def resume_at(self, done: int) -> None:
        """Set the amount that an earlier run already did; it does not count towards the speed."""
        self.done = self.offset = done

    def __str__(self) -> str:
        elapsed = max(time.monotonic() - self.start, 1e-9)
        rate = (self.done - self.offset) / elapsed
        amount = f"{self.done / self.scale:,.0f}"
        speed = f"{rate / self.scale:,.1f} {self.unit}/s"
        if self.unit != "MB" and 0 < rate < 0.5:
            speed = f"{1 / rate:,.0f} s each"
        if not self.total:
            return f"{self.what}: {amount} {self.unit}, {speed}"
        share = f"{100 * self.done / self.total:.0f} %"
        left = (
            f"{max(self.total - self.done, 0) / rate:,.0f} s left" if rate else "time left unknown"
        )
        total = f"{self.total / self.scale:,.0f}"
        return f"{self.what}: {amount} of {total} {self.unit} ({share}), {speed}, {left}"
