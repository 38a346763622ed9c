"""What README and docs promise of errors and reruns: each sentence is read and tried out."""

import re

import pytest

from support.configurations import SMALL, errors
from support.project import Project
from support.repository import REPOSITORY, copy_project

MINE = """
  mine:
    source: {format: csv, path: my.csv}
    protocol: {heldout_users: 50}
"""
GOOD = "\n".join(
    ["user,item", *(f"u{user},i{item}" for user in range(200) for item in range(user % 7 + 3))]
)
COMMAND = "snakemake data --cores 2 --configfile mine.yaml"
SCRIPT = "workflow/scripts/read_interactions.py"
UNREADABLE = {
    "not UTF-8": (SMALL.encode("utf-16"), "UnicodeDecodeError"),
    "not valid YAML": (b"a: [1\n", "Config file is not valid JSON or YAML"),
    "contains itself by an alias": (b"datasets: &a {b: *a}\n", "RecursionError"),
    "nested hundreds of levels deep": (b"a: " + b"[" * 900 + b"]" * 900, "RecursionError"),
    "a number of thousands of digits": (b"seed: " + b"9" * 5000, "ValueError"),
    "a date that does not exist": (b"a: 2020-13-45\n", "ValueError"),
    "a tag such as `!!int` before another type": (b"a: !!int x\n", "ValueError"),
}


def says(page, *sentences):
    """Assert that a page has these sentences, however its lines are broken."""
    text = " ".join((REPOSITORY / page).read_text(encoding="utf-8").split())
    for sentence in sentences:
        assert sentence in text, (page, sentence)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A project with a finished synthetic dataset, and with data of one's own beside it."""
    project = Project(copy_project(tmp_path_factory.mktemp("two")))
    project.write("mine.yaml", SMALL)
    project.ok(COMMAND)
    project.write("mine.yaml", SMALL + MINE)
    return project


def test_the_error_is_among_the_last_ten_lines_and_a_rerun_keeps_finished_results(two):
    says(
        "README.md",
        "so does a column that a file lacks. "
        "The rows of a file are checked when its first job runs.",
        "Where lindrop refuses something, the run says so in a line `lindrop: error: …`, which "
        "stands among its last ten lines, above Snakemake's closing lines.",
        "Correct the cause and run the same command again: finished results stay.",
    )
    says("docs/data.md", "The run prints it when the job fails and once more near its end;")
    finished = two.path("results/data/small/split.h5")
    before = finished.stat().st_mtime_ns, finished.read_bytes()
    two.write("my.csv", f"{GOOD}\nu1")
    lines = two.fails(COMMAND).rstrip().splitlines()
    own = [place for place, line in enumerate(lines) if line.startswith("lindrop: error: ")]
    assert len(own) == 2
    assert len(errors("\n".join(lines))) == 1
    assert len(lines) - 10 <= own[-1]
    assert lines[own[-1] + 1].startswith("Complete log(s): ")
    assert "rule read_interactions:" in "\n".join(lines)
    assert not any("Traceback" in line for line in lines)
    two.write("my.csv", GOOD)
    two.ok(COMMAND)
    assert (finished.stat().st_mtime_ns, finished.read_bytes()) == before
    assert two.path("results/data/mine/split.h5").exists()


def test_a_killed_job_has_no_line_of_ours_and_no_output(two, tmp_path):
    says(
        "README.md",
        "A job that was killed has no such line: Snakemake prints the signal, such as `SIGKILL`.",
    )
    says("docs/data.md", "no output under its final name; a rerun keeps what is finished,")
    project = two.copy(tmp_path)
    project.write("my.csv", f"{GOOD}\nu1,i9")
    script = project.path(SCRIPT).read_text(encoding="utf-8")
    project.write(SCRIPT, f"import os\n\nos.kill(os.getpid(), 9)\n{script}")
    output = project.fails(COMMAND)
    assert errors(output) == set()
    assert "SIGKILL" in output
    assert not project.path("results/data/mine/interactions.h5").exists()
    project.write(SCRIPT, script)
    project.ok(COMMAND)


def test_a_mistake_in_the_configuration_stops_the_run_before_any_job(project):
    says("README.md", "A mistake in the configuration stops the run before any job;")
    says(
        "config/README.md",
        "A mistake stops the run before any job, with one line that names the key, the value and "
        "what is allowed.",
    )
    project.write("mine.yaml", SMALL.replace("heldout_users: 50", "heldout_users: none"))
    output = project.fails(COMMAND)
    (line,) = errors(output)
    for part in ("heldout_users", "none", "whole number"):
        assert part in line
    assert output.rstrip().splitlines()[-10:].count(line) == 1
    assert not re.search(r"^(local)?rule ", output, re.MULTILINE)
    assert [file.name for file in project.path("results").iterdir()] == [".gitkeep"]


@pytest.mark.parametrize("what", UNREADABLE)
def test_a_file_that_snakemake_cannot_read_ends_in_its_own_error_but_with_make_in_ours(
    what, project
):
    says(
        "config/README.md",
        "Without `make`, Snakemake reads the file first. Its own error or traceback ends the run "
        "if the file is not UTF-8, is not valid YAML, contains itself by an alias, is nested "
        "hundreds of levels deep, has a number of thousands of digits, has a date that does not "
        "exist, or has a tag such as `!!int` before another type. `make CONFIG=FILE` checks the "
        "file before and says one line.",
        what,
    )
    content, error = UNREADABLE[what]
    project.path("mine.yaml").write_bytes(content)
    output = project.fails(COMMAND)
    assert error in output
    assert errors(output) == set()
    assert [file.name for file in project.path("results").iterdir()] == [".gitkeep"]
    makefile = project.path("Makefile").read_text(encoding="utf-8")
    (check,) = re.findall(
        r"^CHECK +:= \$\(BIN\)/(python -m .*) \$\(CONFIG\)$", makefile, re.MULTILINE
    )
    output = project.fails(f"{check} mine.yaml", PYTHONPATH=str(project.path("workflow")))
    assert output.startswith("lindrop: error: mine.yaml")
    assert output.count("\n") == 1
