"""What a person sees of a run where no bar can move: plain lines and errors."""

import logging
import subprocess

import pytest
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.tests import MockOutputSettings, TestLogHandlerBase

from snakemake_logger_plugin_lindrop import LogHandler
from support.terminal import ENV, SHOWN, WAITING


@pytest.mark.parametrize("how", [{}, {"CI": "true"}, {"TERM": "dumb"}])
def test_one_plain_line_for_each_job_where_no_bar_can_move(how, workflow):
    (workflow.folder / "Snakefile").write_text(WAITING % "")
    workflow.go()
    done = subprocess.run(
        SHOWN, cwd=workflow.folder, env=ENV | how, capture_output=True, text=True, check=True
    )
    lines = done.stderr.splitlines()
    assert [line.partition("  ")[0] for line in (lines[0], lines[-1])] == [
        "[1/4] split",
        "[4/4] all",
    ]
    assert {line.partition(" ")[2].partition("  ")[0] for line in lines[1:-1]} == {
        "fit edlae",
        "fit ease",
    }
    assert not done.stdout


def handler_for(**asked):
    settings = MockOutputSettings()
    settings.printshellcmds = False
    vars(settings).update(asked)
    return LogHandler(settings, None)


class Records:
    """Sends a handler the records of a run, at times that the test chooses."""

    def __init__(self, handler):
        self.handler = handler

    def __call__(self, event=None, message="", level=logging.INFO, at=0.0, **fields):
        attributes = {"event": event, "msg": message, "levelno": level, "created": at}
        self.handler.handle(logging.makeLogRecord(attributes | fields))

    def job(self, number, rule, at=0.0, log=(), **wildcards):
        about = {"rule_name": rule, "wildcards": wildcards, "log": log, "benchmark": None}
        self(LogEvent.JOB_INFO, jobid=number, at=at, **about)

    def failed(self, number, log=()):
        self(LogEvent.JOB_ERROR, jobid=number, rule_name="fit", log=log, level=logging.ERROR)


@pytest.fixture
def records(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Records(handler_for())


def test_a_plain_line_says_which_job_how_long_and_what_is_left(records, capsys):
    records(LogEvent.RUN_INFO, stats={"fit": 3, "total": 3})
    records.job(1, "fit", dataset="demo", model="edlae")
    records(LogEvent.JOB_FINISHED, job_id=1, at=44)
    records.job(2, "fit", at=44, dataset="demo", model="ease")
    records(LogEvent.JOB_FINISHED, job_id=2, at=110)
    records.job(3, "fit", at=110, dataset="demo", model="slim")
    records(LogEvent.JOB_FINISHED, job_id=3, at=110.2)
    assert capsys.readouterr().err.splitlines() == [
        "[1/3] fit demo edlae  44 s, about 90 s left",
        "[2/3] fit demo ease  1 min 6 s, about 60 s left",
        "[3/3] fit demo slim  0.2 s",
    ]


def test_noise_is_left_out_and_anything_else_is_not(records, capsys):
    records(None, "Building DAG of jobs...")
    records(None, "Select jobs to execute...")
    records(LogEvent.JOB_STARTED, "Execute 2 jobs...", jobs=[1, 2])
    records(LogEvent.SHELLCMD, None)
    records(LogEvent.PROGRESS, None, done=1, total=2)
    assert not capsys.readouterr().err
    records(None, "Unlocked working directory.")
    records(None, "careful", level=logging.WARNING)
    records(LogEvent.ERROR, "WildcardError:\nno such model", level=logging.ERROR)
    said = ["Unlocked working directory.", "careful", "WildcardError:", "no such model"]
    assert capsys.readouterr().err.splitlines() == said


DIED = """RuleException:
CalledProcessError in file "models.smk", line 8:
Command 'set -euo pipefail;  python
tmp.py' died with <Signals.SIGKILL: 9>."""


def test_a_failed_job_is_named_with_its_log(records, capsys, tmp_path):
    records(LogEvent.RUN_INFO, stats={"fit": 3, "total": 3})
    (tmp_path / "fit.log").write_text("12:00:00 reading\n")
    records.job(1, "fit", log=["fit.log"], dataset="demo", model="edlae")
    records(LogEvent.ERROR, DIED, level=logging.ERROR)
    records.failed(1, log=["fit.log"])
    records(None, "Exiting because a job execution failed. Look above", logging.ERROR, at=61)
    records(LogEvent.ERROR, "WorkflowError:\nAt least one job did not complete successfully.")
    assert capsys.readouterr().err.splitlines() == [
        'CalledProcessError in file "models.smk", line 8: the job\'s command died with '
        "<Signals.SIGKILL: 9>.",
        "Failed: fit demo edlae (log: fit.log)",
        "Logfile fit.log:",
        "================",
        "12:00:00 reading",
        "================",
        "0 of 3 jobs done, 1 failed, in 1 min 1 s",
    ]


def test_jobs_that_a_user_stopped_have_not_failed(records, capsys):
    records(LogEvent.RUN_INFO, stats={"fit": 3, "total": 3})
    records.job(1, "fit", model="edlae")
    records(None, "Terminating processes on user request, this might take some time.")
    records(LogEvent.ERROR, DIED, level=logging.ERROR)
    records.failed(1)
    incomplete = "WorkflowError:\nAt least one job did not complete successfully."
    records(LogEvent.ERROR, incomplete, level=logging.ERROR)
    assert capsys.readouterr().err.splitlines()[1:] == ["Stopped: fit edlae"]


def test_a_fault_of_the_handler_does_not_hide_what_was_said(records, capsys):
    records(LogEvent.JOB_INFO, "rule without a name", jobid=1)
    assert capsys.readouterr().err == "rule without a name\n"


def test_whoever_asks_for_more_gets_the_output_of_snakemake(capsys):
    records = Records(handler_for(verbose=True))
    records(None, "Select jobs to execute...")
    records(LogEvent.JOB_FINISHED, "Finished jobid: 3", job_id=3)
    said = capsys.readouterr().err
    assert "Select jobs to execute..." in said
    assert "Finished jobid: 3" in said


class TestOfTheInterface(TestLogHandlerBase):
    """Snakemake's own test suite for logger plugins."""

    __test__ = True

    def get_log_handler_cls(self):
        return LogHandler

    def get_log_handler_settings(self):
        return None

    def _create_handler(self):
        return handler_for()
