"""The submit lines of docs/cluster.md, with a scheduler that runs what it is given at once."""

import math
import re

import pytest

from support.modules import SNAKEFILE, TAG, check
from support.repository import REPOSITORY
from support.slurm_runs import TINY

DOCS = REPOSITORY / "docs" / "cluster.md"
LINES = dict(re.findall(r"^\| (\w+) \| `((?:bsub|qsub|sbatch) .*)` \|$", DOCS.read_text(), re.M))
# What the split asks for with two cores, its memory in `{mb}`. SGE counts memory by core, SGE and
# PBS count seconds.
ASKED = {
    "LSF": "-n 2 -R span[hosts=1] -M {mb}MB -W 60",
    "SGE": "-terse -cwd -pe smp 2 -l h_rt=3600,h_vmem={half}M",
    "PBS": "-l select=1:ncpus=2:mem={mb}mb -l walltime=3600",
    "Slurm": "--parsable --cpus-per-task=2 --mem={mb} --time=60",
}
SCHEDULER = """#!/bin/sh
for script; do :; done
printf '%s\\n' "$*" >> asked.log
sh "$script" > job.log 2>&1
echo 1
"""


@pytest.mark.parametrize("scheduler", ASKED)
def test_a_line_asks_for_what_the_rule_needs(scheduler, project):
    assert LINES.keys() == ASKED.keys()
    project.write("config/tiny.yaml", TINY)
    command = project.path(project.write(f"bin/{LINES[scheduler].split()[0]}", SCHEDULER))
    command.chmod(0o755)
    project.ok(
        "snakemake results/data/small/split.h5 --configfile config/tiny.yaml --cores 2 "
        "--profile workflow/profiles/cluster-generic --latency-wait 5 "
        f"--cluster-generic-submit-cmd '{LINES[scheduler]}'",
        PATH=f"{command.parent}:{project.env['PATH']}",
    )
    asked = project.path("asked.log").read_text().splitlines()
    (_, of_the_split) = (line.rpartition(" ")[0] for line in asked)
    size = project.path("results/data/small/interactions.h5").stat().st_size
    mb = math.ceil(500 + 18 * size / 2**20)  # of rule split
    assert of_the_split == ASKED[scheduler].format(mb=mb, half=mb // 2)


def test_jobs_of_a_module_from_a_repository_find_its_library(theirs, repository):
    scheduler = theirs.path(theirs.write("bin/submit", SCHEDULER))
    scheduler.chmod(0o755)
    source = f'"git+file://{repository}/workflow/Snakefile@{TAG}"'
    theirs.write("Snakefile", SNAKEFILE.format(source=source))
    check(
        theirs,
        f"snakemake --executor cluster-generic --cluster-generic-submit-cmd {scheduler} --jobs 2 "
        "--latency-wait 5",
    )
    assert theirs.path("asked.log").read_text().count("\n") > 3
