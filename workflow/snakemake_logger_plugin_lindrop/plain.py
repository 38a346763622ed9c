"""Show a run where no bar is possible: in a log file, a pipe or a dumb terminal."""

import sys

from snakemake_logger_plugin_lindrop.run import Job, Run
from snakemake_logger_plugin_lindrop.time_left import time_left
from snakemake_logger_plugin_lindrop.words import duration, left


class Plain:
    """Writes a line to standard error for each finished job and for each problem."""

    def __init__(self, run: Run):
        self._run = run

    def begin(self) -> None:
        """Do nothing: the first line follows the first finished job."""

    def finished(self, job: Job, seconds: float) -> None:
        """Write a line with the number of jobs done, the job, its time and the time left."""
        run = self._run
        rest = time_left(run, now=job.start + seconds)
        still = f", {left(rest)}" if rest is not None and run.done < run.total else ""
        self.tell(f"[{run.done}/{run.total}] {job}  {duration(seconds)}{still}")

    def tell(self, text: str, style: str | None = None) -> None:
        """Write a message; `style` is ignored."""
        sys.stderr.write(f"{text}\n")  # one write, since jobs write there, too
        sys.stderr.flush()

    def close(self) -> None:
        """Do nothing: every line was written already."""
