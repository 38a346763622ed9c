"""A budget of minutes on the user's own table: what is said before, during and after the run."""

import json

import numpy as np
import pandas as pd
import pytest

from support.configurations import rules_run

MINE = """
datasets:
  mine:
    source: {format: csv, path: my.csv}
    protocol: {heldout_users: 30}
"""
COMPARE = "snakemake --cores %d %s compare --configfile config/mine.yaml"


@pytest.fixture
def own(project):
    random = np.random.default_rng(1)
    likes = random.random((200, 1)) < random.random((1, 50))
    lines = [f"u{user},p{item}" for user, item in np.argwhere(likes ^ likes[:, ::-1])]
    project.write("my.csv", "\n".join(["user,item", *lines]))
    project.write("config/mine.yaml", MINE)
    project.rows = len(lines)
    return project


def planned(project, cores=2):
    """Jobs of a comparison, and the choice that they follow."""
    jobs = sorted(rules_run(project.ok(COMPARE % (cores, "-n"))))
    kept = json.loads(project.path(".snakemake/lindrop/budget.json").read_text())
    return jobs, kept["choices"].get("mine")


def test_the_choice_is_told_first_and_a_table_grows(own):
    own.write("config/mine.yaml", MINE + "compare: {models: [ease, popularity, sparse_edlae]}\n")
    output = own.ok(COMPARE % (2, ""))
    kept = json.loads(own.path(".snakemake/lindrop/budget.json").read_text())
    told = kept["choices"]["mine"]["told"].splitlines()[0]
    assert f"mine (read): {own.rows:,} rows, " in told
    assert output.index(told) < output.index("rule verify_source")
    assert "within a budget of 15 min" in output
    so_far = output.index("mine, so far: the best is ")
    assert so_far < output.rindex("rule compare_table")
    assert "still to come: ease" in output[so_far:]
    found = pd.read_csv(own.path("results/tables/compare.csv"))
    assert {*found["model"]} == {"ease", "popularity", "sparse_edlae"}
    again = own.ok(COMPARE % (1, ""))
    assert "Nothing to be done" in again


def test_without_named_models_all_that_pay_are_taken_on_any_number_of_cores(own):
    jobs, choice = planned(own)
    assert {"popularity", "sparse_edlae", "ease", "full_edlae", "edlae"} <= {*choice["models"]}
    assert "sampled_dropout" not in choice["models"]
    assert "left out: sampled_dropout (" in choice["told"]
    assert jobs.count("fit") == len(choice["models"])
    assert jobs.count("compare_so_far") == len(choice["stages"])
    assert "steck2020_table1" not in jobs  # its rows are models that do not pay
    assert planned(own, cores=8) == (jobs, choice)


def test_what_the_configuration_sets_stays_and_no_budget_is_no_choice(own):
    own.write("config/mine.yaml", MINE + "models: {ease: {lambda: [7, 70]}}\nrank: 9\nranks: [9]\n")
    _, choice = planned(own)
    assert choice["models"]["ease"]["options"]["lambda"] == [7, 70]
    assert choice["models"]["edlae"]["rank"] == 9
    own.write("config/mine.yaml", MINE + "compare: {budget: null}\n")
    jobs = rules_run(own.ok(COMPARE % (2, "-n")))
    assert "steck2020_table1" in jobs
    assert "compare_so_far" not in jobs


def test_plan_prints_and_makes_nothing(own):
    output = own.ok("snakemake --cores 2 plan --configfile config/mine.yaml")
    assert rules_run(output) == ["plan"]
    assert f"mine (read): {own.rows:,} rows" in output
    assert "time by number of cores: 2: " in output
    assert not own.path("results/data").exists()
    assert "Nothing to be done" not in own.ok(
        "snakemake --cores 2 plan --configfile config/mine.yaml"
    )
