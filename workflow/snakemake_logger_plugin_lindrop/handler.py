"""Receive Snakemake's log records, keep the state of the run and show it."""

import os
import re
import sys
from logging import INFO, WARNING, Handler, LogRecord
from pathlib import Path
from typing import Protocol

from snakemake.logging import ColorizingTextHandler, DefaultFilter, DefaultFormatter, show_logs
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.settings import OutputSettingsLoggerInterface

from snakemake_logger_plugin_lindrop.earlier import earlier_runs
from snakemake_logger_plugin_lindrop.plain import Plain
from snakemake_logger_plugin_lindrop.run import Job, Run

BENCHMARKS = Path("results/benchmarks")

# Beginnings of Snakemake's routine messages, which are hidden. All other messages are shown.
NOISE = (
    "Adding ",
    "Assuming unrestricted shared filesystem",
    "Building DAG of jobs",
    "Complete log(s)",
    "Conda environments: ignored",
    "Elapsed time",
    "Group jobs: inactive",
    "Loading script code",
    "Removing temporary output",
    "Select jobs to execute",
    "Shutting down, this might take some time",
    "Singularity containers: ignored",
    "Touching output file",
    "Using shell",
)
STOPPING = "Terminating processes on user request"
FAILED = "Exiting because a job execution failed"
INCOMPLETE = "At least one job did not complete successfully"
JOB_DIED = "RuleException:\nCalledProcessError in file"


class View(Protocol):
    """Shows a run to the user: a bar or plain lines."""

    def begin(self) -> None: ...
    def finished(self, job: Job, seconds: float) -> None: ...
    def tell(self, text: str, style: str | None = None) -> None: ...
    def close(self) -> None: ...


class LogHandler(LogHandlerBase):
    """Shows a bar on a terminal, and a line for each finished job elsewhere.

    For a dry run, or with options for more or less output, Snakemake's own handler is used.
    """

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        self._run = Run()
        self._snakemake = _snakemakes_own(self.common_settings)
        self._view: View = Plain(self._run)
        if self._snakemake is None and _can_move():
            from snakemake_logger_plugin_lindrop.bar import Bar

            self._view = Bar(self._run, color=not self.common_settings.nocolor)

    def emit(self, record: LogRecord) -> None:
        """Show a log record, or pass it to Snakemake's own handler."""
        try:
            if self._snakemake:
                self._snakemake.handle(record)
            else:
                with self._run.lock:
                    self._take(record)
        except Exception:  # an error of this handler must not break the run or hide a message
            print(record.getMessage(), file=sys.stderr, flush=True)

    def close(self) -> None:
        self._view.close()
        super().close()

    def _take(self, record: LogRecord) -> None:
        """Update the state of the run from a log record, and show what it reports."""
        fields = vars(record)
        match fields.get("event"):
            case LogEvent.WORKFLOW_STARTED:
                self._view.begin()
            case LogEvent.RUN_INFO:
                self._run.plan(fields["stats"], earlier_runs(BENCHMARKS))
            case LogEvent.JOB_INFO:
                self._run.start(fields["jobid"], fields, record.created)
            case LogEvent.JOB_FINISHED:
                if done := self._run.finish(fields["job_id"], record.created):
                    self._view.finished(*done)
            case LogEvent.JOB_ERROR:
                job = self._run.fail(fields["jobid"])
                self._tell_failed(job or fields["rule_name"], fields["log"])
            case event:
                self._tell(record, event)

    def _tell_failed(self, job: Job | str, logs: list[str]) -> None:
        """Show that a job failed or was stopped, with its logs if they were asked for."""
        if self._run.stopping:
            self._view.tell(f"Stopped: {job}")
            return
        where = f" (log: {', '.join(logs)})" if logs else ""
        self._view.tell(f"Failed: {job}{where}", "bold red")
        if self.common_settings.show_failed_logs and logs:
            self._view.tell("\n".join(show_logs(logs)))

    def _tell(self, record: LogRecord, event: LogEvent | None) -> None:
        """Show a message unless it is noise; replace messages that jobs failed by one summary."""
        run, text = self._run, record.getMessage()
        if record.levelno < WARNING:
            run.stopping |= text.startswith(STOPPING)
            if record.levelno == INFO and event is None and not text.startswith(NOISE):
                self._view.tell(text)
        elif text.startswith(FAILED):
            self._view.tell(run.summary(record.created), "bold")
        elif not _known(run, text):
            self._view.tell(_shortened(text), "red" if record.levelno > WARNING else "yellow")


def _known(run: Run, text: str) -> bool:
    """Whether a message only says that jobs failed or were stopped, which was shown already."""
    if INCOMPLETE in text:
        return bool(run.failed) or run.stopping
    return run.stopping and text.startswith(JOB_DIED)


def _shortened(text: str) -> str:
    """The message without a job's command, which names a temporary file and not the cause."""
    pattern = r"^RuleException:\n(CalledProcessError in file .*):\nCommand '.*' (returned|died)"
    return re.sub(pattern, r"\1: the job's command \2", text, flags=re.DOTALL)


def _snakemakes_own(settings: OutputSettingsLoggerInterface) -> Handler | None:
    """Snakemake's own handler if its options ask for other output than usual, else None."""
    asked = settings.dryrun or settings.verbose or settings.debug_dag or settings.printshellcmds
    if not (asked or settings.quiet):
        return None
    handler: Handler = ColorizingTextHandler(
        nocolor=settings.nocolor,
        stream=sys.stdout if settings.stdout else sys.stderr,
        formatter=DefaultFormatter(settings.quiet, settings.show_failed_logs),
        filter=DefaultFilter(
            settings.quiet,
            settings.debug_dag,
            settings.verbose,
            settings.dryrun,
            settings.printshellcmds,
        ),
    )
    return handler


def _can_move() -> bool:
    """Whether standard error is a terminal of a user that can redraw lines (UTF-8, not CI)."""
    return (
        sys.stderr.isatty()
        and sys.stderr.encoding.lower().startswith("utf")
        and os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown")
        and not os.environ.get("CI")
    )
