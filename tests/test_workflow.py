"""What a user types and sees: Snakemake run for real in a copy of the project."""

import re

import pytest
from configurations import RATINGS, SMALL, TABLE, rows, rules_run
from conftest import Project, copy_project


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The default configuration, run by the line that the README gives."""
    project = Project(copy_project(tmp_path_factory.mktemp("finished")))
    project.first_output = project.ok("snakemake --cores 8")
    return project


def test_the_line_that_a_user_types_runs_the_default(finished):
    assert "(100%) done" in finished.first_output
    (row,) = rows(finished).values()
    assert row["dataset"] == "demo"
    assert row["source"] == "synthetic"
    assert int(row["users"]) > 2 * int(row["heldout_users"]) == 20_000
    assert row["paper_items"] == row["paper_users"] == row["paper_interactions"] == ""
    assert "demo" in finished.path(f"{TABLE}.md").read_text()
    assert r"\begin{tabular}" in finished.path(f"{TABLE}.tex").read_text()
    assert "<td>demo</td>" in finished.path(f"{TABLE}.html").read_text()


def test_a_second_run_has_nothing_to_do(finished):
    assert "Nothing to be done" in finished.ok("snakemake --cores 8")


def test_every_job_leaves_its_log_and_its_benchmark(finished):
    jobs = set(rules_run(finished.first_output)) - {"all"}
    for kind, end in (("logs", "log"), ("benchmarks", "tsv")):
        files = finished.path(f"results/{kind}").rglob(f"*.{end}")
        stages = {file.relative_to(finished.path(f"results/{kind}")).parts[0] for file in files}
        assert jobs <= {stage.removesuffix(f".{end}") for stage in stages}


@pytest.mark.parametrize("name", ["ml-1m", "paper"])
def test_the_other_configurations_can_be_planned(name, project):
    """Memory of what is not downloaded yet is left open, not guessed."""
    output = project.ok(f"snakemake -n --cores 8 --configfile config/{name}.yaml")
    assert "fetch" in rules_run(output)
    assert re.search(r"rule read_interactions:(\n .*)*mem_mb=<TBD>", output)
    assert not project.path("results/downloads").exists()


def test_heavy_rules_take_every_core(project):
    both = SMALL + RATINGS.replace("datasets:\n", "") % ("", "path: README.md")
    project.write("config/both.yaml", both)
    targets = "data results/data/small/csv"
    output = project.ok(f"snakemake -n --cores 5 {targets} --configfile config/both.yaml")
    jobs = re.split(r"\n(?=rule )", output)
    threads = {
        rules_run(job)[0]: int(re.search(r"threads: (\d+)", job)[1]) if "threads:" in job else 1
        for job in jobs
        if rules_run(job)
    }
    light = {"verify_source", "steck2020_table1_datasets", "data"}
    assert {rule for rule, number in threads.items() if number == 1} == light
    assert {threads[rule] for rule in threads.keys() - light} == {5}
    assert len(threads) == len(light) + 5


def test_the_report_has_every_table_with_its_caption(finished):
    finished.ok("snakemake --cores 1 --report results/report.html")
    report = finished.path("results/report.html").read_text()
    assert "steck2020_table1_datasets" in report
    assert "Data-set properties as in the last rows of Table 1" in report


def test_a_mistake_in_the_configuration_stops_before_any_job(project):
    project.write("config/mine.yaml", SMALL.replace("heldout_users", "heldout_user"))
    output = project.fails("snakemake data --cores 2 --configfile config/mine.yaml")
    assert "did you mean heldout_users?" in output
    assert "Traceback" not in output
    assert [file.name for file in project.path("results").iterdir()] == [".gitkeep"]


def test_a_configuration_given_by_hand_replaces_the_default(project):
    project.write("config/small.yaml", SMALL)
    project.ok("snakemake data --cores 2 --configfile config/small.yaml")
    assert set(rows(project)) == {"small"}


def test_the_seed_decides_the_synthetic_data(project):
    project.write("config/small.yaml", SMALL)
    split = project.path("results/data/small/split.h5")
    contents = []
    for option in ("", "--config seed=2", "--config seed=1"):
        project.ok(f"snakemake data --cores 2 --configfile config/small.yaml {option}")
        contents.append(split.read_bytes())
    assert contents[0] == contents[2] != contents[1]


def test_a_changed_module_reruns_the_rules_that_use_it(project):
    project.write("config/small.yaml", SMALL)
    run = "snakemake data --cores 2 --configfile config/small.yaml"
    project.ok(run)
    module = project.path("workflow/lindrop/tables.py")
    module.write_text(module.read_text() + "\n# changed\n")
    assert set(rules_run(project.ok(run))) == {"steck2020_table1_datasets", "data"}
    module = project.path("workflow/lindrop/data/split.py")
    module.write_text(module.read_text() + "\n# changed\n")
    assert "split" in rules_run(project.ok(run))


def test_the_workflow_can_be_a_module_of_another(project):
    """As the Snakemake workflow catalog promises for standardised workflows."""
    project.write("config/small.yaml", SMALL)
    project.write(
        "other/Snakefile",
        f"""
source = {{"format": "synthetic", "users": 400, "items": 60, "interactions": 6000}}
datasets = {{"tiny": {{"source": source, "protocol": {{"heldout_users": 50}}}}}}

module lindrop:
    snakefile: "{project.path("workflow/Snakefile")}"
    config: {{"datasets": datasets}}

use rule * from lindrop
""",
    )
    project.ok("cd other && snakemake --cores 2 results/data/tiny/split.h5")
    assert project.path("other/results/data/tiny/split.h5").exists()
