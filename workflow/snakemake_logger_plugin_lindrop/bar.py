"""Shows a run on a terminal: one bar that moves, above it what jobs and libraries say."""

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
    """A block of lines at the bottom that is drawn anew all the time, and vanishes at the end.

    A thread draws it and prints above it whatever is written to standard error. Nothing of that
    is changed; only an unfinished line waits for its end, or for the next message.
    """

    def __init__(self, run: Run, color: bool = True):
        self._run = run
        self._captured = Captured()  # before the first job starts and inherits the terminal
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
        self._plain: Plain | None = None  # once the bar is given up
        self._unfinished = ""
        self._closing = Event()
        self._thread = Thread(target=self._watch, name="bar", daemon=True)
        self._thread.start()

    def begin(self) -> None:
        with self._run.lock:
            self._live.start(refresh=True)

    def finished(self, job: Job, seconds: float) -> None:
        """The next drawing shows it."""
        if self._plain:
            self._plain.finished(job, seconds)

    def tell(self, text: str, style: str | None = None) -> None:
        with self._run.lock:
            self._pass_on()  # what a job said before it ended comes before what is said of it
            self._end_line()
            self._draw(f"{text}\n", style)

    def close(self) -> None:
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
        while not self._closing.is_set():
            self._captured.wait(TICK)
            self._pass_on()
        # a job that outlives the run may hold the pipe: its end is not waited for
        self._pass_on()
        self._end_line()

    def _pass_on(self) -> None:
        """Print the lines that were written since the last time."""
        with self._run.lock:
            text = self._unfinished + self._captured.read()
            lines, end, self._unfinished = text.rpartition("\n")
            self._draw(lines + end)

    def _end_line(self) -> None:
        """Do not wait any longer for the end of a line."""
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
        """Show no bar any more: a fault of ours must not hide what was said, or break the run."""
        self._plain = Plain(self._run)
        with suppress(Exception):
            self._stop()
        self._captured.write(above + traceback.format_exc())

    def _stop(self) -> None:
        """Take the block away and show the cursor again."""
        self._live.update("")
        self._live.stop()


class _Unchanged:
    """Text that reaches the terminal byte for byte, escape codes and tabs included."""

    def __init__(self, text: str, style: str | None):
        self._text, self._style = text, Style.parse(style) if style else None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Segment(self._text, self._style)
