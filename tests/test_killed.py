"""Killed in the middle of any rule, a rerun gives what an undisturbed run gives."""

import os
import shutil
import signal
import subprocess

import pytest
from configurations import RATINGS, SMALL
from conftest import Project, copy_project
from processes import descendants, finish, wait_until

# Fault injection from outside: a module that Python imports at start lets the job of a file hang
# just before its output is complete, for the first time or a later one, where it is then killed.
HANG = """
import os, time
fsync, times = os.fsync, []
def hang(descriptor):
    name = os.readlink(f"/proc/self/fd/{descriptor}")
    times.extend(file for file in os.environ["HANG_AT"].split() if file in name)
    if len(times) == int(os.environ["HANG_OCCASION"]):
        with open(f"{os.environ['HANG_MARK']}.part", "w") as mark:
            mark.write(times[-1])
        os.rename(mark.name, os.environ["HANG_MARK"])
        while os.path.exists(os.environ["HANG_WHILE"]):
            time.sleep(0.1)
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
    ("victim", "rules"), [("everything", KILLED), ("the job", ["split", "fetch"])]
)
def test_killed_in_the_middle_of_every_rule(victim, rules, project, finished_both, mirror):
    """SIGKILL of the job or of Snakemake with it: a rerun gives what an undisturbed run gives.

    Each rerun is killed in the middle of the next rule, whichever comes, but the last.
    """
    prepare(project, mirror)
    left = {KILLED[rule] for rule in rules}
    while left:
        file = kill_at(left, victim, project)
        left.remove(file)
        final = file.replace("/.", "/").lstrip(".")
        assert not any(str(file).endswith(final) for file in project.path("results").rglob("*"))
        assert contents(project).items() <= finished_both.items()
        if victim == "everything":  # Snakemake's own lock is left
            unlock(project, by_hand=not left)
    project.ok(COMMAND)
    assert contents(project) == finished_both
    assert partial(project) == []


def unlock(project, by_hand):
    """Remove the lock of a killed Snakemake, by hand as it says, or as quickly as it would."""
    if by_hand:
        assert "--unlock" in project.fails(COMMAND)
        project.ok(f"{COMMAND} --unlock")
    assert by_hand != project.path(".snakemake/locks").exists()
    shutil.rmtree(project.path(".snakemake/locks"), ignore_errors=True)


def kill_at(files, victim, project, command=None, occasion=1):
    """Start a run and kill it where one of `files` is about to be complete; returns which."""
    mark = project.path("hanging")
    mark.unlink(missing_ok=True)  # of a kill before
    project.write("faults/sitecustomize.py", HANG)
    process = subprocess.Popen(
        (command or COMMAND).split(),
        cwd=project.folder,
        env=project.env
        | {
            "PYTHONPATH": str(project.path("faults")),
            "HANG_AT": " ".join(files),
            "HANG_OCCASION": str(occasion),
            "HANG_MARK": str(mark),
            "HANG_WHILE": f"/proc/{os.getpid()}",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    wait_until(mark.exists, process)
    if victim == "everything":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        for pid in descendants(process.pid):
            os.kill(pid, signal.SIGKILL)
    finish(process)
    assert process.returncode != 0
    return mark.read_text()


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
    """Every result but logs and timings, and what a killed job left unfinished."""
    results = project.path("results")
    return {
        str(file.relative_to(results)): file.read_bytes()
        for folder in ("data", "figures", "tables")
        for file in set((results / folder).rglob("*")) - set(partial(project))
        if file.is_file()
    }


def partial(project):
    return [file for file in project.path("results").rglob("*") if ".part" in file.name]
