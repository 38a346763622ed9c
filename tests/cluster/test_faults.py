"""A job cancelled, one that needs more memory, a node lost, Snakemake killed: the same results."""

import subprocess

import pytest

from support.slurm_runs import TINY, SlurmRun, contents, contents_on_one_machine

SPLIT, CONFIGURATION = "small/.split.h5", "config/tiny.yaml"
TARGETS = "results/gram/small.h5"


@pytest.fixture
def alone(project):
    project.write(CONFIGURATION, TINY)
    return contents_on_one_machine(project, TARGETS, CONFIGURATION)


def test_a_cancelled_job_is_tried_again(project, cluster, alone):
    run = SlurmRun(project, TARGETS, CONFIGURATION, {SPLIT: 0})
    job, _ = run.job_at(SPLIT)
    subprocess.run(["scancel", job], check=True)
    said = run.finish()
    assert f"SLURM-job '{job}' failed, SLURM status is: 'CANCELLED'" in said
    assert contents(project) == alone


def test_a_job_over_its_memory_is_tried_again_with_more(project, cluster, alone):
    """Its rule asks for 500 MB at first."""
    run = SlurmRun(project, TARGETS, CONFIGURATION, {SPLIT: 500})
    said = run.finish()
    assert said.count("Trying to restart job") == 1
    assert {"500M"} < cluster.history("%m")["rule_split_wildcards_small"]
    assert contents(project) == alone


def test_a_job_on_a_lost_node_moves_to_another(project, cluster, alone):
    run = SlurmRun(project, TARGETS, CONFIGURATION, {SPLIT: 0})
    _, node = run.job_at(SPLIT)
    cluster.power_off(node)
    run.finish()
    cluster.start_node(node)
    assert contents(project) == alone


def test_a_killed_snakemake_goes_on_where_it_was(project, cluster, alone):
    """While the job that it had started is still there: it leaves the file to the newer job."""
    run = SlurmRun(project, TARGETS, CONFIGURATION, {SPLIT: 0})
    run.job_at(SPLIT)
    run.kill()
    assert not project.path("results/data/small/split.h5").exists()
    assert "--unlock" in project.fails(run.command)
    project.ok(f"{run.command} --unlock")
    run.start()
    said = run.finish()
    assert "rule generate_interactions:" not in said.partition("--unlock")[2]
    assert contents(project) == alone
    run.release(SPLIT)
    cluster.wait_for(lambda: not cluster.jobs(), "end of the older job")
    assert contents(project) == alone
