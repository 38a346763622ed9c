"""Killed in the middle of any rule, a rerun gives what an undisturbed run gives."""

import shutil

import pytest

from support.configurations import RATINGS, SMALL
from support.killed import kill_at
from support.project import Project
from support.repository import copy_project

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
        file = kill_at(left, victim, project, COMMAND)
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


COMMAND = (
    "snakemake --cores 2 data results/data/small/csv results/data/ratings/csv "
    "--configfile config/both.yaml"
)


def prepare(project, mirror):
    both = SMALL + RATINGS.replace("datasets:\n", "") % ("", f"url: {mirror.url}/ml-20m.zip")
    project.write("config/both.yaml", both)


@pytest.fixture(scope="module")
def finished_both(tmp_path_factory, mirror):
    project = Project(copy_project(tmp_path_factory.mktemp("both")), real=True)
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
