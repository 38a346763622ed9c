"""What a command says on standard error: its steps, warnings, and bars with the time left."""

import logging
import re
import sys
import threading
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from lindrop.base import reporting
from lindrop.base.reporting import logger

FLAGS = {"seed": "split-seed"}  # of a protocol: --seed is that of the models
KEYS = r"heldout_users|test_fraction|min_rating|min_(item|user)_[a-z]+|validation_fraction"


def flag_of(key: str) -> str:
    """Option of a key of the protocol."""
    return f"--{FLAGS.get(key, key).replace('_', '-')}"


def with_flags(text: str) -> str:
    """A message about the protocol with the names of options in place of its keys."""
    text = re.sub(r"(?<![\w/])protocol\.([a-z_]+)(:| to\b)?", lambda found: flag_of(found[1]), text)
    text = re.sub(r"(?<![-\w])(split|repeats): (?=\w)", r"--\1 ", text)
    return re.sub(rf"(?<![-\w])({KEYS})\b", lambda found: flag_of(found[1]), text)


class Talk:
    """Standard error of a command; where it is no terminal, lines take the place of bars."""

    def __init__(self, quiet: bool = False, verbose: bool = False) -> None:
        self.quiet, self.verbose = quiet, verbose
        self.console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)

    def say(self, text: str, style: str | None = None) -> None:
        """Say a line."""
        if not self.quiet:
            self.console.print(text, style=style)

    @contextmanager
    def bars(self, shown: bool = True) -> Iterator[None]:
        """Show the progress of everything that the block does, and pass on its warnings."""
        handler = _Lines(self)
        level, raising = logger.level, logging.raiseExceptions
        logger.setLevel(logging.INFO)
        logger.addHandler(handler)
        logging.raiseExceptions = False
        bars = _Bars(self.console)
        terminal = shown and self.console.is_terminal and not self.quiet
        handler.progress = not terminal
        if terminal:
            bars.start()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield
        finally:
            bars.stop()
            logger.removeHandler(handler)
            logger.setLevel(level)
            logging.raiseExceptions = raising


class _Lines(logging.Handler):
    """Warnings, and progress where no bar shows it; with `verbose` all that the library logs."""

    def __init__(self, talk: Talk) -> None:
        super().__init__()
        self.talk, self.progress = talk, True

    def emit(self, record: logging.LogRecord) -> None:
        arguments = record.args if isinstance(record.args, tuple) else ()
        progress = any(isinstance(each, reporting.Progress) for each in arguments)
        if record.levelno >= logging.WARNING:
            self.talk.say(f"note: {with_flags(record.getMessage())}", "yellow")
        elif getattr(record, "loud", False):
            self.talk.say(with_flags(record.getMessage()))
        elif self.talk.verbose or (progress and self.progress and _unfinished(arguments)):
            self.talk.say(record.getMessage(), "dim")


def _unfinished(arguments: tuple[object, ...]) -> bool:
    """Whether a line is about work that goes on: the last line of short work tells nothing."""
    return any(
        isinstance(each, reporting.Progress) and (each.total is None or each.done < each.total)
        for each in arguments
    )


class _Bars:
    """A bar for every `Progress` that advances, until nobody refers to it any more."""

    def __init__(self, console: Console) -> None:
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
        )
        self._tasks: weakref.WeakKeyDictionary[reporting.Progress, TaskID]
        self._tasks = weakref.WeakKeyDictionary()
        self._lock = threading.RLock()

    def start(self) -> None:
        """Begin to show bars."""
        self._bars.start()
        reporting.Progress.watchers.append(self.watch)

    def stop(self) -> None:
        """Remove all bars."""
        if self.watch in reporting.Progress.watchers:
            reporting.Progress.watchers.remove(self.watch)
            self._bars.stop()

    def watch(self, progress: reporting.Progress) -> None:
        """Show how far something is."""
        with self._lock:
            task = self._tasks.get(progress)
            if task is None:
                task = self._bars.add_task(progress.what, total=None, unit=progress.unit)
                self._tasks[progress] = task
                weakref.finalize(progress, self._bars.update, task, visible=False)
        total = None if progress.total is None else progress.total / progress.scale
        self._bars.update(task, completed=progress.done / progress.scale, total=total)


def is_terminal() -> bool:
    """Whether a person reads standard output."""
    return sys.stdout.isatty()
