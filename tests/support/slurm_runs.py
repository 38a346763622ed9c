"""Runs of a copy of the project on one machine and on the test cluster, and faults there."""

import json
import os
import shutil
import signal
import subprocess
import time

from support import same_results
from support.configurations import QUICK

TINY = (
    QUICK
    + """
datasets:
  small:
    source: {format: synthetic, preset: demo, users: 400, items: 60, interactions: 6000}
    protocol: {heldout_users: 50}
ranks: [2, 5]
rank: 5
gram_shards: 2
tuning: grid
points_per_job: 1
models:
  edlae: {p: [0.2, 0.4], lambda: [10]}
"""
)
ON_ONE_MACHINE = "snakemake {targets} --cores 2 --configfile {configuration} --quiet"
# Options the profile leaves to the user, and values for two small nodes and short jobs.
ON_SLURM = (
    "snakemake {targets} --configfile {configuration} --profile workflow/profiles/slurm "
    "--default-resources slurm_account=test slurm_partition=batch --slurm-status-command squeue "
    "--slurm-init-seconds-before-status-checks 8 --latency-wait 10 --cores 2 "
    "--group-components experiments=2 tuning=2 fitting=2"
)
# Faults injected into fsync, just before an output is complete, by a module that Python imports at
# start. 0 MB hangs the first job that writes the file until it is released; any other number
# allocates that much, and a job above its share waits to be killed.
FAULTS = """
import json, os, time
fsync = os.fsync
faults = json.loads(os.environ.get("FAULTS", "{}"))
def fault(descriptor):
    name = os.readlink(f"/proc/self/fd/{descriptor}")
    for number, (file, megabytes) in enumerate(faults.items()):
        mark = f"{os.environ['FAULTS_FOLDER']}/{number}"
        if file in name and megabytes:
            needed = b"x" * (megabytes * 1_000_000)
            pages = int(open("/proc/self/statm").read().split()[1])
            while pages * os.sysconf("SC_PAGE_SIZE") >> 20 > int(os.environ["SLURM_MEM_PER_NODE"]):
                time.sleep(0.1)
        elif file in name and not os.path.exists(mark):
            with open(f"{mark}.part", "w") as file:
                file.write(f"{os.environ['SLURM_JOB_ID']} {os.environ['SLURMD_NODENAME']}")
            os.rename(f"{mark}.part", mark)
            while not os.path.exists(f"{mark}.released"):
                time.sleep(0.1)
    fsync(descriptor)
os.fsync = fault
"""


def contents(project):
    """Digests of all results of a run, except drawings and times."""
    return same_results.contents(project.path("results"))


def contents_on_one_machine(project, targets, configuration):
    """Digests of the results of a run without a cluster, which leaves no trace in the project."""
    command = ON_ONE_MACHINE.format(targets=targets, configuration=configuration)
    with subprocess.Popen(command.split(), cwd=project.folder, env=project.env) as process:
        assert process.wait() == 0
    found = contents(project)
    for folder in (".snakemake", "results"):
        shutil.rmtree(project.path(folder))
    return found


class SlurmRun:
    """Snakemake on the cluster; `faults` maps a file to the memory (MB) it needs, or 0 to hang."""

    def __init__(self, project, targets, configuration, faults=None):
        self.project, self.faults = project, faults or {}
        self.command = ON_SLURM.format(targets=targets, configuration=configuration)
        self.output = project.path("output.log")
        project.write("faults/sitecustomize.py", FAULTS)
        self.start()

    def start(self):
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                self.command.split(),
                cwd=self.project.folder,
                env=self.project.env
                | {
                    "PYTHONPATH": str(self.project.path("faults")),
                    "FAULTS": json.dumps(self.faults),
                    "FAULTS_FOLDER": str(self.project.path("faults")),
                },
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def kill(self):
        """Kill Snakemake and its children as a power failure would; the cluster's jobs run on."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def job_at(self, file):
        """Wait until a job hangs before this file is complete; returns its id and its node."""
        while not self._mark(file).exists():
            assert self.process.poll() is None, self.output.read_text()[-5000:]
            time.sleep(0.1)
        return self._mark(file).read_text().split()

    def _mark(self, file):
        return self.project.path(f"faults/{list(self.faults).index(file)}")

    def release(self, file):
        self._mark(file).with_suffix(".released").touch()

    def finish(self):
        """Wait for the end; returns all that Snakemake said."""
        self.process.wait()
        text = self.output.read_text()
        assert self.process.returncode == 0, text[-5000:]
        return text
