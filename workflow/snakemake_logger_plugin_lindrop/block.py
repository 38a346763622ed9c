"""The lines at the bottom of the terminal: a bar, the running jobs, and progress of long jobs."""

import time
from collections.abc import Callable

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from snakemake_logger_plugin_lindrop.run import Job, Run
from snakemake_logger_plugin_lindrop.time_left import time_left
from snakemake_logger_plugin_lindrop.words import duration, last_words, left

LONG = 5.0  # seconds after which a job has a line of its own
GAP = 2  # columns between two cells
LEAST = 8  # columns below which a shortened text is useless
WIDEST = 100  # columns: a longer line is harder to read, and breaks when the window shrinks


class Block:
    """The current state of a run, drawn to fit the width and height of the terminal."""

    def __init__(self, run: Run, clock: Callable[[], float] = time.time):
        self._run, self._clock = run, clock

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        run, now = self._run, self._clock()
        width = min(options.max_width - 1, WIDEST)  # the last column makes some terminals wrap
        if not run.total:
            yield Text("Finding out what is to be done", "dim", no_wrap=True, overflow="ellipsis")
            return
        jobs = sorted(run.running.values(), key=lambda job: job.start)
        long = [job for job in jobs if now - job.start > LONG]
        yield self._head(now, [str(job) for job in jobs if job not in long], width)
        room = max(options.size.height // 2 - 1, 1)
        if len(long) > room:
            yield from self._lines(now, long[: room - 1], width)
            yield Text(f"  and {len(long) - room + 1} more", "dim", no_wrap=True)
        else:
            yield from self._lines(now, long, width)

    def _head(self, now: float, names: list[str], width: int) -> RenderableType:
        """First line: the bar, the number of jobs done, the time left and the jobs just started."""
        run = self._run
        counts = Text(f"{run.done}/{run.total} jobs", "bold")
        if run.failed:
            counts.append(f", {len(run.failed)} failed", "red")
        if (rest := time_left(run, now)) is not None:
            counts.append(f", {left(rest)}", "not bold")
        recent = ", ".join(names)
        bar = max(min(width // 4, width - len(counts) - GAP), 5)
        return _row(
            width,
            (ProgressBar(run.total, run.done, width=bar, complete_style="green"), bar),
            (counts, len(counts)),
            (Text(recent, "dim"), len(recent)),
        )

    def _lines(self, now: float, jobs: list[Job], width: int) -> list[RenderableType]:
        """One line for each job: its name, its time so far and the last line of its log."""
        names = [f"  {job}" for job in jobs]
        times = [duration(now - job.start) for job in jobs]
        words = [last_words(job.log, job.start) or "" for job in jobs]
        name_width = min(max(map(len, names), default=0), width * 2 // 5)
        time_width = max(map(len, times), default=0)
        return [
            _row(
                width,
                (Text(name), name_width),
                (Text(spent, justify="right"), time_width),
                (Text(said, "cyan"), len(said)),
            )
            for name, spent, said in zip(names, times, words, strict=True)
        ]


def _row(width: int, *cells: tuple[RenderableType, int]) -> RenderableType:
    """One line of cells with their wanted widths, as far as there is room.

    A text too long for its cell ends in an ellipsis; a cell with room for fewer than LEAST columns
    of its text is left out.
    """
    row = Table.grid(padding=(0, GAP, 0, 0))
    shown = []
    for cell, wanted in cells:
        if width >= min(wanted, LEAST):
            row.add_column(width=min(wanted, width), no_wrap=True, overflow="ellipsis")
            shown.append(cell)
        width -= wanted + GAP
    row.add_row(*shown)
    return row
