"""Killed in the middle of any rule, a rerun gives what an undisturbed run gives."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from configurations import RATINGS, SMALL
from conftest import Project, copy_project

# Fault injection from outside: a module that Python imports at start lets the job of one file hang
# just before its output is complete, for the first time or a later one, where it is then killed.
HANG = """
import os, time
fsync, times = os.fsync, []
def hang(descriptor):
    name = os.readlink(f"/proc/self/fd/{descriptor}")
    times.extend([name] * (os.environ["HANG_AT"] in name))
    if len(times) == int(os.environ["HANG_OCCASION"]):
        open(os.environ["HANG_MARK"], "w").close()
        time.sleep(120)
    fsync(descriptor)
os.fsync = hang
"""
KILLED = {
    "fetch": "/.ml-20m.zip",
    "verify_source": "ratings/.source.json",
    "read_interactions": "ratings/.interactions.h5",
    "generate_interactions": "small/.interactions.h5",
    "split": "ratings/.split.h5",
    "published_csv": "small/csv/.train.csv",
    "steck2020_table1_datasets": ".steck2020_table1_datasets.md",
    "dataset_long_tails": ".dataset_long_tails.pdf",
}


@pytest.mark.parametrize(
    ("rule", "victim"),
    [*((rule, "everything") for rule in KILLED), ("split", "the job"), ("fetch", "the job")],
)
def test_killed_in_the_middle_of_a_rule(rule, victim, project, finished_both, mirror):
    """SIGKILL of the job or of Snakemake with it: a rerun gives what an undisturbed run gives."""
    prepare(project, mirror)
    kill_at(KILLED[rule], victim, project)
    final = KILLED[rule].replace("/.", "/").lstrip(".")
    assert not any(str(file).endswith(final) for file in project.path("results").rglob("*"))
    if victim == "everything":  # Snakemake's own lock is left: it says so, and how to remove it
        assert "--unlock" in project.fails(COMMAND)
        project.ok(f"{COMMAND} --unlock")
    project.ok(COMMAND)
    assert contents(project) == finished_both
    leftovers = [file for file in project.path("results").rglob("*") if ".part" in file.name]
    assert leftovers == []


def kill_at(file, victim, project, command=None, occasion=1):
    """Start a run, wait until the job that makes `file` is about to finish it, and kill."""
    mark = project.path("hanging")
    mark.unlink(missing_ok=True)  # of a kill before
    project.write("faults/sitecustomize.py", HANG)
    process = subprocess.Popen(
        (command or COMMAND).split(),
        cwd=project.folder,
        env=project.env
        | {
            "PYTHONPATH": str(project.path("faults")),
            "HANG_AT": file,
            "HANG_OCCASION": str(occasion),
            "HANG_MARK": str(mark),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not mark.exists():
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    if victim == "everything":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        for pid in children(process.pid):
            os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode != 0


COMMAND = (
    "snakemake --cores 2 data results/data/small/csv results/data/ratings/csv "
    "--configfile config/both.yaml --profile workflow/profiles/local"
)


def prepare(project, mirror):
    both = SMALL + RATINGS.replace("datasets:\n", "") % ("", f"url: {mirror.url}/ml-20m.zip")
    project.write("config/both.yaml", both)


@pytest.fixture(scope="module")
def finished_both(tmp_path_factory, mirror):
    project = Project(copy_project(tmp_path_factory.mktemp("both")))
    prepare(project, mirror)
    project.ok(COMMAND)
    return contents(project)


def contents(project):
    """Every result but logs and timings."""
    results = project.path("results")
    return {
        str(file.relative_to(results)): file.read_bytes()
        for folder in ("data", "figures", "tables")
        for file in (results / folder).rglob("*")
        if file.is_file()
    }


def children(pid):
    """Processes below `pid`, the job and what it started."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
        except OSError:
            continue
        if re.search(rf"^PPid:\t{pid}$", text, re.MULTILINE):
            child = int(status.parent.name)
            found += [child, *children(child)]
    return found
