"""Shows a run where no bar can be: in a log file, through a pipe, on a dumb terminal."""

import sys

from snakemake_logger_plugin_lindrop.run import Job, Run
from snakemake_logger_plugin_lindrop.time_left import time_left
from snakemake_logger_plugin_lindrop.words import duration, left


class Plain:
    """One line on standard error for each job that is done, and for what goes wrong."""

    def __init__(self, run: Run):
        self._run = run

    def begin(self) -> None:
        """Nothing to say before the first job is done."""

    def finished(self, job: Job, seconds: float) -> None:
        run = self._run
        rest = time_left(run, now=job.start + seconds)
        still = f", {left(rest)}" if rest is not None and run.done < run.total else ""
        self.tell(f"[{run.done}/{run.total}] {job}  {duration(seconds)}{still}")

    def tell(self, text: str, style: str | None = None) -> None:
        sys.stderr.write(f"{text}\n")  # in one piece: jobs write there, too
        sys.stderr.flush()

    def close(self) -> None:
        """Nothing is left to say."""
