"""Show a run on a terminal: a progress bar, and above it the output of jobs and libraries."""

import time
import traceback
from contextlib import suppress
from threading import Event, Thread

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.style import Style

from snakemake_logger_plugin_lindrop.block import Block
from snakemake_logger_plugin_lindrop.captured import Captured
from snakemake_logger_plugin_lindrop.plain import Plain
from snakemake_logger_plugin_lindrop.run import Job, Run

TICK = 0.25  # seconds between two drawings


class Bar:
    """A block of lines at the bottom of the terminal, redrawn constantly and removed at the end.

    A thread draws the block and prints above it, unchanged, whatever is written to standard error;
    only an unfinished line is held back until its end or the next message.
    """

    def __init__(self, run: Run, color: bool = True):
        self._run = run
        self._captured = Captured()  # before the first job starts, since jobs inherit the terminal
        self._console = Console(
            file=self._captured.terminal, force_terminal=True, no_color=not color, highlight=False
        )
        self._live = Live(
            Block(run),
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._plain: Plain | None = None  # replaces the bar after an error of the bar
        self._unfinished = ""
        self._closing = Event()
        self._thread = Thread(target=self._watch, name="bar", daemon=True)
        self._thread.start()

    def begin(self) -> None:
        """Start to show the bar."""
        with self._run.lock:
            self._live.start(refresh=True)

    def finished(self, job: Job, seconds: float) -> None:
        """Take note of a finished job; the bar itself shows it when it is drawn next."""
        if self._plain:
            self._plain.finished(job, seconds)

    def tell(self, text: str, style: str | None = None) -> None:
        """Print a message above the bar."""
        with self._run.lock:
            self._pass_on()  # print a job's own output before a message about the job
            self._end_line()
            self._draw(f"{text}\n", style)

    def close(self) -> None:
        """Remove the bar, give the terminal back and print the summary of the run."""
        if self._closing.is_set():
            return
        self._captured.release()
        self._closing.set()
        try:
            self._thread.join()
        finally:  # a second Ctrl-C must not leave the terminal without a cursor
            with self._run.lock:
                self._stop()
        if self._run.total and not self._run.failed:
            self.tell(self._run.summary(time.time()), "bold")

    def _watch(self) -> None:
        """Loop of the thread: print new output and redraw the bar until the run is closed."""
        while not self._closing.is_set():
            self._captured.wait(TICK)
            self._pass_on()
        # do not wait for the end of the pipe: a job that outlives the run may hold it open
        self._pass_on()
        self._end_line()

    def _pass_on(self) -> None:
        """Print the lines that were written to standard error since the last call."""
        with self._run.lock:
            text = self._unfinished + self._captured.read()
            lines, end, self._unfinished = text.rpartition("\n")
            self._draw(lines + end)

    def _end_line(self) -> None:
        """Print an unfinished line without waiting for its end."""
        with self._run.lock:
            if self._unfinished:
                self._draw(f"{self._unfinished}\n")
                self._unfinished = ""

    def _draw(self, above: str = "", style: str | None = None) -> None:
        """Print something above the block, and draw the block as it is now."""
        with self._run.lock:
            try:
                self._console.size = self._captured.size()
                if above:
                    self._console.print(_Unchanged(above, style), crop=False)
                elif self._live.is_started:
                    self._live.refresh()
            except Exception:
                self._give_up(above)

    def _give_up(self, above: str) -> None:
        """Replace the bar by plain lines: its error must neither hide output nor break the run."""
        self._plain = Plain(self._run)
        with suppress(Exception):
            self._stop()
        self._captured.write(above + traceback.format_exc())

    def _stop(self) -> None:
        """Remove the block and show the cursor again."""
        self._live.update("")
        self._live.stop()


class _Unchanged:
    """Text printed to the terminal byte for byte, including escape codes and tabs."""

    def __init__(self, text: str, style: str | None):
        self._text, self._style = text, Style.parse(style) if style else None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Segment(self._text, self._style)
