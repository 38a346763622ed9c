"""A budget of minutes on the user's own table: what is said before, during and after the run."""

import json
import re

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


def kept_choice(project):
    """The file of the choice that was made last, and what it says of the dataset."""
    files = project.path(".snakemake/lindrop/budget").glob("*.json")
    file = max(files, key=lambda file: file.stat().st_mtime_ns)
    return file, json.loads(file.read_text())["choices"].get("mine")


def planned(project, cores=2):
    """Jobs of a comparison, and the choice that they follow."""
    jobs = sorted(rules_run(project.ok(COMPARE % (cores, "-n"))))
    return jobs, kept_choice(project)[1]


def test_the_choice_is_told_first_and_a_table_grows(own):
    own.write("config/mine.yaml", MINE + "compare: {models: [ease, popularity, sparse_edlae]}\n")
    output = own.ok(COMPARE % (2, ""))
    told = kept_choice(own)[1]["told"].splitlines()[0]
    assert f"mine (read): {own.rows:,} rows, " in told
    assert output.index(told) < output.index("rule verify_source")
    assert "within a budget of 15 min" in output
    so_far = output.index("mine, so far: the best is ")
    # what a job says may come after the head of the next one, where both are short
    assert output.index("rule compare_so_far") < output.rindex("rule compare_table")
    assert "still to come: ease" in output[so_far:]
    found = pd.read_csv(own.path("results/tables/compare.csv"))
    assert {*found["model"]} == {"ease", "popularity", "sparse_edlae"}
    best = found["model"].iloc[0]
    assert "mine: " in output[output.rindex("results/report/compare.html") :]
    assert "next: snakemake --cores 2 recommend --configfile config/mine.yaml" in output
    again = own.ok(COMPARE % (1, ""))
    assert "Nothing to be done" in again
    assert f"by <code>{best}</code>" in own.path("results/report/compare.html").read_text()
    recommend = own.ok("snakemake --cores 2 recommend --configfile config/mine.yaml")
    assert set(rules_run(recommend)) == {"recommend_users", "recommend"}
    file = own.path(f"results/recommendations/mine/{best}.parquet")
    users = pd.read_csv(own.path("my.csv"))["user"]
    assert {*pd.read_parquet(file)["user"]} == {*users}


def test_without_named_models_all_that_pay_are_taken_on_any_number_of_cores(own):
    jobs, choice = planned(own)
    assert {"popularity", "sparse_edlae", "ease", "full_edlae", "edlae"} <= {*choice["models"]}
    assert "sampled_dropout" not in choice["models"]
    assert "left out: sampled_dropout (" in choice["told"]
    assert jobs.count("fit") == len(choice["models"])
    assert jobs.count("compare_so_far") == len(choice["stages"])
    assert not [job for job in jobs if job.startswith("steck2020")]  # nothing of a paper
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


def test_jobs_on_other_machines_follow_their_run_whatever_is_planned_beside_it(own):
    own.write("probe.smk", 'include: "workflow/Snakefile"\nprint(CHOICES["mine"]["told"])\n')
    planned(own)
    file, choice = kept_choice(own)
    choice["told"] = "as chosen by the run"
    kept = json.loads(file.read_text())
    file.write_text(json.dumps(kept | {"choices": {"mine": choice}}))
    own.write("config/other.yaml", MINE + "compare: {budget: 3}\n")
    own.ok("snakemake --cores 2 -n compare --configfile config/other.yaml")
    own.write("my.csv", "user,item\nchanged,since\n")
    job = "snakemake -s probe.smk --mode remote --cores 1 -n plan --configfile config/mine.yaml"
    assert "as chosen by the run" in own.ok(job)


def test_plan_prints_and_makes_nothing(own):
    output = own.ok("snakemake --cores 2 plan --configfile config/mine.yaml")
    assert rules_run(output) == ["plan"]
    assert f"mine (read): {own.rows:,} rows" in output
    assert "time by number of cores: 2: " in output
    found = re.search(r"`snakemake compare` alone:\n(\d+) jobs", output)
    dry = own.ok("snakemake -n --cores 2 compare --configfile config/mine.yaml")
    total = re.search(r"^total +(\d+)$", dry, re.MULTILINE)  # the target itself is a job there
    assert int(found[1]) == int(total[1]) - 1
    assert not own.path("results/data").exists()
    assert "Nothing to be done" not in own.ok(
        "snakemake --cores 2 plan --configfile config/mine.yaml"
    )


def test_a_fit_that_has_begun_ends_with_the_budget_and_the_next_run_tries_it_again(own):
    own.write(
        "config/mine.yaml",
        MINE + "compare: {models: [popularity, slim], budget: 0.2}\n",
    )
    solver = own.path("workflow/lindrop/models/slim.py")
    quick = solver.read_text()
    endless = "    import time\n\n    while True:\n        time.sleep(0.1)\n"
    first = "    penalty = Penalty(l1"
    assert quick.count(first) == 1
    solver.write_text(quick.replace(first, endless + first))
    output = own.ok(COMPARE % (2, ""))
    reason = "not done within the budget of 0.2 min"
    assert f"lindrop: warning: dataset mine, model slim: left out: {reason}" in output
    found = pd.read_csv(own.path("results/tables/compare.csv"))
    assert {*found["model"]} == {"popularity"}
    page = own.path("results/report/compare.html").read_text()
    assert f"Left out: SLIM ({reason}; the next run tries again)." in page
    refused = own.fails("lindrop similar results/models/mine/slim.h5 p1")
    assert f"lindrop: error: results/models/mine/slim.h5: {reason}" in refused
    jobs = rules_run(own.ok(COMPARE % (2, "-n")))
    assert jobs.count("tune") == jobs.count("fit") == 1
    solver.write_text(quick)
    own.write("config/mine.yaml", MINE + "compare: {models: [popularity, slim], budget: 20}\n")
    own.ok(COMPARE % (2, ""))
    found = pd.read_csv(own.path("results/tables/compare.csv"))
    assert {*found["model"]} == {"popularity", "slim"}
    assert "Left out: SLIM" not in own.path("results/report/compare.html").read_text()
    assert "Nothing to be done" in own.ok(COMPARE % (2, ""))


def test_a_fit_that_was_left_out_is_tried_again_without_its_tuning(own):
    own.write("config/mine.yaml", MINE + "compare: {models: [ease]}\n")
    own.ok("snakemake --cores 2 results/models/mine/ease.h5 --configfile config/mine.yaml")
    dry = "snakemake --cores 2 -n results/models/mine/ease.h5 --configfile config/mine.yaml"
    assert "Nothing to be done" in own.ok(dry)
    own.write(".snakemake/lindrop/left_out.jsonl", '["mine", "fit of ease"]\n')
    assert rules_run(own.ok(dry)) == ["fit"]
    own.write(".snakemake/lindrop/left_out.jsonl", '["mine", "ease"]\n')
    assert sorted(rules_run(own.ok(dry))) == ["fit", "tune"]


def test_no_budget_ends_models_that_are_named_without_one(own):
    own.write("config/mine.yaml", MINE + "compare: {models: [popularity]}\n")
    own.write(
        "probe.smk",
        "include: \"workflow/Snakefile\"\nlimit.begin = lambda *_: print('the clock began')\n",
    )
    run = "snakemake -s probe.smk --cores 1 -f compare_table --configfile config/mine.yaml"
    assert "the clock began" not in own.ok(run)
    own.write("config/mine.yaml", MINE + "compare: {models: [popularity], budget: 9}\n")
    assert "the clock began" in own.ok(run)
