"""What two nodes of Slurm make is, byte for byte, what one machine makes."""

import subprocess

from support.slurm_runs import TINY, SlurmRun, contents, contents_on_one_machine

# Shards of X'X, tuning and experiments in groups, light rules.
TARGETS = (
    "results/metrics/small/edlae.h5 results/tables/steck2020_table1_datasets.csv "
    "results/figures/pal2020_fig1.csv results/figures/pretorius2018_rates.csv"
)


def test_results_are_those_of_one_machine(project, cluster):
    project.write("config/tiny.yaml", TINY)
    alone = contents_on_one_machine(project, TARGETS, "config/tiny.yaml")
    said = SlurmRun(project, TARGETS, "config/tiny.yaml").finish()
    assert contents(project) == alone
    assert "restart" not in said
    assert {"one", "two"} == set.union(*cluster.history("%N").values())


MODEL = "results/models/small/sparse_edlae.h5"
SHARD = "small/.sparse_edlae.1-of-3.h5"
PATTERN = """models:
  sparse_edlae: {neighbours: [10], p: [0.2, 0.4], lambda: [10]}
"""


def sharded(shards):
    """A configuration in which so many jobs fit the model."""
    return TINY.replace("models:\n", f"model_shards: {shards}\n{PATTERN}")


def test_a_model_of_three_jobs_one_of_which_is_cancelled_is_that_of_one_machine(project, cluster):
    project.write("config/one.yaml", sharded(1))
    project.write("config/three.yaml", sharded(3))
    alone = contents_on_one_machine(project, MODEL, "config/one.yaml")
    run = SlurmRun(project, MODEL, "config/three.yaml", {SHARD: 0})
    job, _ = run.job_at(SHARD)
    subprocess.run(["scancel", job], check=True)
    assert run.finish().count("Trying to restart job") == 1
    assert contents(project) == alone
