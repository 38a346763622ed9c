"""What a person sees of a run on a terminal: the bar, the jobs' own lines, and errors."""

import sys

import pytest
from rich.console import Console
from rich.text import Text
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_lindrop.block import Block
from snakemake_logger_plugin_lindrop.run import Run
from support.terminal import WAITING

BOTH = "fit (edlae, fit ease|ease, fit edlae)"  # in whichever order they start


def bars(lines):
    return [line for line in lines if "━" in line]


# On a terminal


def test_one_bar_that_moves_and_vanishes(workflow):
    terminal = workflow(WAITING % "")
    assert len(bars(terminal.until(f"1/4 jobs.*  {BOTH}"))) == 1
    assert terminal.screen.cursor.hidden
    workflow.go()
    status, lines = terminal.end()
    assert status == 0
    assert len(lines) == 1
    assert lines[0].startswith("4 jobs done in ")
    assert not terminal.screen.cursor.hidden


def test_a_long_job_has_a_line_with_its_own_progress(workflow):
    says = "echo 12:00:00 fitting: 40 of 120 fits, 38 s left > {log};"
    terminal = workflow(WAITING % says)
    lines = terminal.until(r"fit edlae .*fits(.|\n)*fit|fit ease .*fits(.|\n)*fit")
    assert len(bars(lines)) == 1
    for model in ("edlae", "ease"):
        (line,) = (line for line in lines if f"fit {model}" in line)
        assert line.endswith("s  fitting: 40 of 120 fits, 38 s left")
    workflow.go()
    status, lines = terminal.end()
    assert (status, len(lines)) == (0, 1)


SAYS = r"""
from snakemake.logging import logger

LONG = "x" * 200

onerror:
    logger.error("lindrop: error: at the end")

rule fit:
    output: "edlae.fit"
    log: "edlae.log"
    shell: '''
        echo "lindrop: error: too small" | tee {log} >&2
        printf 'tab\\there, \\033[31mred\\033[0m, caf\\303\\251, {LONG}|\\n' >&2
        echo said on standard output
        printf 'half a line' >&2; until [ -e go ]; do sleep 0.05; done; printf ' and the rest' >&2
        exit 3
        '''
"""


@pytest.mark.parametrize("columns", [40, 120])
def test_what_a_failing_job_said_stays_whole(columns, workflow):
    terminal = workflow(SAYS, columns=columns, lines=50)
    terminal.until("standard output(.|\n)*0/1 jobs")
    workflow.go()
    status, lines = terminal.end()
    assert status == 1
    assert not bars(lines)
    assert lines[0] == "lindrop: error: too small"
    second = terminal.screen.buffer[1]
    assert "".join(second[column].data for column in range(17)) == "tab     here, red"
    assert [second[column].fg for column in (13, 14, 17)] == ["default", "red", "default"]
    whole = "".join(terminal.screen.display).replace(" ", "")
    assert f"tabhere,red,café,{'x' * 200}|" in whole
    assert {"said on standard output", "half a line and the rest"} <= set(lines)
    assert "Failed: fit (log: edlae.log)" in lines
    assert "Logfile edlae.log:" in lines
    assert lines[-2].startswith("0 of 1 job done, 1 failed, in ")
    assert lines[-1] == "lindrop: error: at the end"


def test_a_narrow_window_and_one_that_changes(workflow):
    terminal = workflow(WAITING % "echo said before >&2;", columns=40, lines=8)
    terminal.until(r"said before\nsaid before\n.*1/4 jobs")
    for columns, bar in ((100, 24), (60, 14), (30, 7)):
        terminal.resize(columns, 8)
        lines = terminal.until(rf"(?m)^[━╸╺]{{{bar}}}  1/4 jobs")
        assert lines[:2] == ["said before"] * 2
        assert len(bars(lines)) == 1
        assert max(map(len, lines)) < columns
    workflow.go()
    status, lines = terminal.end()
    assert status == 0
    assert lines[:2] == ["said before"] * 2
    assert lines[2].startswith("4 jobs done in ")


def test_interrupted_it_leaves_the_terminal_as_it_was(workflow):
    terminal = workflow(WAITING % "")
    terminal.until(f"1/4 jobs.*  {BOTH}")
    terminal.interrupt()
    status, lines = terminal.end()
    assert status == 1
    assert not terminal.screen.cursor.hidden
    assert not bars(lines)
    assert lines[-1].startswith("1 of 4 jobs done in ")
    assert {"Stopped: fit edlae", "Stopped: fit ease"} <= set(lines)


def test_a_process_that_outlives_the_run_does_not_hold_it(workflow):
    rule = 'rule all:\n    shell: "( until [ -e go ]; do sleep 0.05; done ) &"\n'
    terminal = workflow(rule)
    terminal.until("1 job done")
    assert terminal.process.wait() == 0
    workflow.go()
    terminal.end()


HANDLER = f"""
import logging
from types import SimpleNamespace
from snakemake_logger_plugin_lindrop import LogHandler, block

asked = dict.fromkeys("dryrun verbose debug_dag printshellcmds quiet nocolor".split())
handler = LogHandler(SimpleNamespace(**asked, show_failed_logs=False), None)

def record(event, **fields):
    handler.handle(logging.makeLogRecord(fields | {{"event": event}}))

record("{LogEvent.WORKFLOW_STARTED}")
"""


def test_an_exception_of_the_process_leaves_its_traceback(workflow):
    code = f"{HANDLER}raise ValueError('as it happens')"
    terminal = workflow("", "-c", code, command=[sys.executable])
    status, lines = terminal.end()
    assert status == 1
    assert lines[0].startswith("Traceback")
    assert lines[-1] == "ValueError: as it happens"
    assert not terminal.screen.cursor.hidden


def test_a_bar_that_cannot_be_drawn_gives_way_to_plain_lines(workflow):
    code = f"""{HANDLER}
block.Block.__rich_console__ = lambda self, *about: 1 / 0
about = dict(rule_name="fit", wildcards={{}}, log=[], benchmark=None, created=0.0)
record("{LogEvent.RUN_INFO}", stats={{"fit": 1, "total": 1}})
record("{LogEvent.JOB_INFO}", jobid=1, **about)
record(None, msg="said in time", levelno=logging.WARNING)
record("{LogEvent.JOB_FINISHED}", job_id=1, created=7.0)
"""
    terminal = workflow("", "-c", code, command=[sys.executable], lines=50)
    status, lines = terminal.end()
    assert status == 0
    assert "said in time" in lines
    assert lines.count("ZeroDivisionError: division by zero") == 1
    assert "[1/1] fit  7 s" in lines
    assert not terminal.screen.cursor.hidden


def test_without_jobs_a_user_reads_what_there_is_to_read(workflow):
    snakefile = 'rule split:\n    output: "split"\n    shell: "touch {output}"\n'
    _, lines = workflow(snakefile, "--dry-run").end()
    assert any(line.startswith("Job stats") for line in lines)
    assert any(line.startswith("This was a dry-run") for line in lines)
    (workflow.folder / "split").touch()
    _, lines = workflow(snakefile).end()
    assert lines == ["Nothing to be done (all requested files are present and up to date)."]
    _, lines = workflow(snakefile, "--summary").end()
    assert [line.split()[0] for line in lines] == ["output_file", "split"]


# The lines of the bar, without a terminal


def drawn(run, now, width, height=24):
    console = Console(width=width, height=height, force_terminal=True, color_system="standard")
    with console.capture() as capture:
        console.print(Block(run, clock=lambda: now))
    return Text.from_ansi(capture.get()).plain.splitlines()


@pytest.fixture
def busy(tmp_path):
    """A run after 60 seconds: one job done, twelve at work for 60 to 5 seconds."""
    log = tmp_path / "fit.log"
    run = Run()
    run.plan({"fit": 20, "total": 20}, {"fit": {"fit/0": 60.0}})
    for number in range(13):
        fields = {"rule_name": "fit", "wildcards": {"model": f"m{number}"}, "benchmark": None}
        run.start(number, fields | {"log": [str(log)]}, now=5.0 * max(number - 1, 0))
    run.finish(0, now=60)
    log.write_text("12:00:00 edlae: 40 of 120 fits (33 %), 2.1 fits/s, 38 s left\n")
    return run


@pytest.mark.parametrize("width", [10, 40, 80, 120])
def test_every_line_fits(width, busy):
    lines = drawn(busy, 60, width)
    assert len(lines) == 12
    assert max(map(len, lines)) < width
    head, first = lines[:2]
    assert "━" in head
    if width >= 40:
        assert "1/20 jobs, about" in head
        assert first.startswith("  fit m1   1 min 0 s  edlae: 40 of")
    if width >= 80:
        assert head.endswith("left  fit m12"), "only what has no line of its own"
        assert first.endswith("38 s left")


def test_a_low_window_shows_some_jobs_and_how_many_more(busy):
    lines = drawn(busy, 60, width=80, height=10)
    assert len(lines) == 5
    assert lines[-1] == "  and 8 more"


def test_before_the_jobs_are_known_it_says_so():
    assert drawn(Run(), 0, width=80) == ["Finding out what is to be done"]
