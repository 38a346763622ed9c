"""The whole default workflow with every fault in one run; 25 minutes on two busy cores."""

import subprocess

from support.slurm_runs import SlurmRun, contents, contents_on_one_machine

DEFAULT = "config/config.yaml"
SPLIT, GRAM = "demo/.split.h5", "gram/.demo.h5"
TRIALS, METRICS = "tuning/demo/edlae/.0.csv", "metrics/demo/.ease.h5"
FAULTS = {SPLIT: 0, GRAM: 1200, TRIALS: 0, METRICS: 0}


def test_the_default_workflow_with_every_fault(project, cluster):
    alone = contents_on_one_machine(project, "all", DEFAULT)
    run = SlurmRun(project, "all", DEFAULT, FAULTS)
    job, _ = run.job_at(SPLIT)
    subprocess.run(["scancel", job], check=True)
    _, node = run.job_at(TRIALS)
    cluster.power_off(node)
    run.job_at(METRICS)
    run.kill()
    cluster.start_node(node)
    project.ok(f"{run.command} --unlock")
    run.start()
    said = run.finish()
    assert said.count("Trying to restart job") >= 2
    assert contents(project) == alone
