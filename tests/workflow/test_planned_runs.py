"""Which jobs a target asks for, and how many cores and how much memory they ask for."""

import re

import pytest

from lindrop.base.memory import RETRIED
from lindrop.papers.catalogue import PAPERS, Figure
from support.configurations import MINE, RATINGS, SMALL, TUNE, rules_run, threads_of_tuning
from support.rules import rules


def test_the_default_run_is_planned_by_the_line_that_the_readme_gives(project):
    planned = set(rules_run(project.ok("snakemake -n --cores 8")))
    assert {"generate_interactions", "gram", "tune", "fit", "steck2020_table1"} <= planned
    assert "fetch" not in planned


@pytest.mark.parametrize("name", ["ml-1m", "paper"])
def test_the_other_configurations_can_be_planned(name, project):
    """Memory of what is not downloaded yet is left open, not guessed."""
    output = project.ok(f"snakemake -n --cores 8 --configfile config/{name}.yaml")
    assert "fetch" in rules_run(output)
    assert re.search(r"rule read_interactions:(\n .*)*mem_mb=<TBD>", output)
    assert not project.path("results/downloads").exists()


def test_the_experiments_at_the_papers_size_are_planned_without_any_data(project):
    figure = "results/figures/mianjy2018_fig3.pdf"
    output = project.ok(f"snakemake -n --cores 8 {figure} --configfile config/dropout.yaml")
    assert rules_run(output) == ["mianjy2018_convergence", "mianjy2018_fig3"]


FITS = {"gram", "spectrum", "tune", "fit", "tune_deep", "fit_deep"}


@pytest.mark.parametrize("paper", PAPERS)
def test_the_target_of_a_paper_makes_nothing_of_another_one(paper, project):
    planned = set(rules_run(project.ok(f"snakemake -n --cores 2 {paper}")))
    of_papers = {rule for rule in planned for each in PAPERS if rule.split("_")[0] == each}
    assert of_papers == {rule for rule in planned if rule.split("_")[0] == paper}
    rows = PAPERS[paper].items()
    later = {name for name, row in rows if isinstance(row, Figure) and (row.deep or row.asked)}
    made = {f"{paper}_{name}" for name, _ in rows if name not in later}
    assert planned >= {paper, f"{paper}_page", f"{paper}_checks", *made}
    if paper == "steck2020":
        assert planned & FITS
    else:
        assert planned == of_papers


def test_comparing_datasets_makes_nothing_of_a_paper_but_its_tables(project):
    project.write("config/small.yaml", SMALL)
    output = project.ok("snakemake -n --cores 2 compare --configfile config/small.yaml")
    planned = set(rules_run(output))
    tables = {"steck2020_table1", "steck2020_table1_datasets"}
    assert {rule for rule in planned if rule.split("_")[0] in PAPERS} == tables
    assert planned >= {"compare", "compare_page", "dataset_long_tails", "fit"}
    assert "scorecard" not in planned


def test_heavy_rules_take_every_core(project):
    both = SMALL + RATINGS.replace("datasets:\n", "") % ("", "path: README.md")
    project.write("config/both.yaml", both)
    targets = "data results/data/small/csv"
    output = project.ok(f"snakemake -n --cores 5 {targets} --configfile config/both.yaml")
    jobs = re.split(r"\n(?=rule |localrule )", output)
    threads = {
        rules_run(job)[0]: int(re.search(r"threads: (\d+)", job)[1]) if "threads:" in job else 1
        for job in jobs
        if rules_run(job)
    }
    light = {"verify_source", "steck2020_table1_datasets", "data"}
    assert {rule for rule, number in threads.items() if number == 1} == light
    assert {threads[rule] for rule in threads.keys() - light} == {5}
    assert len(threads) == len(light) + 5


OWN = "    source: {format: csv, path: my.csv, user: user_id, item: product%s}"


def test_a_small_file_of_many_items_is_not_small(project):
    """Fits of many items take every core, so that two never fill the memory at once."""
    lines = [f"u{user},p{item}" for item in range(4200) for user in range(item % 60, 300, 60)]
    project.write("my.csv", "\n".join(["user_id,product", *lines]))
    project.write("config/mine.yaml", MINE)
    assert project.path("my.csv").stat().st_size < 1e6
    assert threads_of_tuning(project.ok(TUNE % "-n")) == 5
    project.ok(TUNE.replace("tuning/mine/ease/0.csv", "data/mine/split.h5") % "")
    assert threads_of_tuning(project.ok(TUNE % "-n")) == 5


@pytest.mark.parametrize(("items", "threads"), [(4000, 1), (4001, 5)])
def test_items_that_are_stated_count_until_there_is_a_split(items, threads, project):
    state_items(project, items)
    assert threads_of_tuning(project.ok(TUNE % "-n")) == threads
    assert is_grouped(project) == (threads == 1)


@pytest.mark.parametrize("items", [4000, 4001])
def test_slurm_groups_as_a_plan_for_any_cluster_does(items, project):
    pytest.importorskip(
        "snakemake_executor_plugin_slurm",
        reason="needs the Slurm executor: make .venv/ready-cluster",
    )
    state_items(project, items)
    assert is_grouped(project, "--executor slurm") == is_grouped(project) == (items == 4000)


def state_items(project, items):
    project.write("my.csv", "user_id,product\n")
    project.write("config/mine.yaml", MINE.replace(OWN % "", OWN % f", items: {items}"))


def is_grouped(project, executor=""):
    return "Group job tuning" in project.ok(TUNE % f"-n --jobs 3 {executor}")


@pytest.mark.parametrize(("mode", "threads"), [("default", 5), ("remote", 3)])
def test_slurm_says_how_many_cores_are_those_of_a_job_that_was_submitted(mode, threads, project):
    """In a run that a user starts within an allocation, --cores counts instead."""
    project.write("config/small.yaml", SMALL)
    command = f"snakemake -n data --cores 5 --mode {mode} --configfile config/small.yaml"
    output = project.ok(command, SLURM_CPUS_PER_TASK="3")
    assert set(re.findall(r"threads: (\d+)", output)) == {str(threads)}


@pytest.mark.parametrize(("mode", "said"), [("default", ""), ("remote", "with more memory")])
def test_a_submitted_job_knows_that_a_retry_gets_more_memory(mode, said, project):
    project.write("config/small.yaml", SMALL)
    rule = f'rule said:\n    output: "said"\n    shell: "printenv {RETRIED} > {{output}} || true"\n'
    project.write("Said", f'include: "workflow/Snakefile"\n{rule}')
    run = "snakemake said --snakefile Said --cores 1 --configfile config/small.yaml"
    project.ok(f"{run} --mode {mode}")
    assert project.path("said").read_text().strip() == said


def test_every_rule_asks_a_cluster_for_what_it_needs():
    """Memory and time grow with each attempt, so that a retry is more than a repetition."""
    for rule in filter(lambda rule: rule.script, rules()):
        assert rule.states_threads, rule.name
        assert {"mem_mb", "runtime", "disk_mb"} <= rule.resources.keys(), rule.name
        assert rule.resources["mem_mb"], rule.name  # not a constant
        assert rule.resources["runtime"], rule.name
