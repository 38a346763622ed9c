"""Runs of a copy of the project on one machine and on the test cluster, and faults there."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import time

import h5py
import pandas as pd

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
points_per_job: 1
models:
  edlae: {p: [0.2, 0.4], lambda: [10]}
"""
)
ON_ONE_MACHINE = "snakemake {targets} --cores 2 --configfile {configuration} --quiet"
# What the profile leaves to the user, and what suits two small nodes and jobs of seconds.
ON_SLURM = (
    "snakemake {targets} --configfile {configuration} --profile workflow/profiles/slurm "
    "--default-resources slurm_account=test slurm_partition=batch --slurm-status-command squeue "
    "--slurm-init-seconds-before-status-checks 8 --latency-wait 10 --cores 2 "
    "--group-components experiments=2 tuning=2 fitting=2"
)
NO_RESULTS = ("logs/", "benchmarks/", "report")
COSTS = ["seconds", "megabytes"]  # columns of tables, attributes of metrics
# claims about how long something takes
MEASURED = re.compile("remark_5_1|theorem_2_2_time|remark_5_2_time")
# Faults from inside a job, just before its output is complete, in a module that Python imports at
# start: the first job that makes a file hangs until it is released; every one needs more memory,
# and waits to be killed where it has more than its share.
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
    """A digest of every result of a run, but drawings and times."""
    results = project.path("results")
    files = (file for file in results.rglob("*") if file.suffix in {".h5", ".csv", ".json"})
    names = {file.relative_to(results).as_posix(): file for file in files}
    return {
        name: hashlib.sha256(without_times(file)).hexdigest()
        for name, file in names.items()
        if not name.startswith(NO_RESULTS) and not MEASURED.search(name)
    }


def without_times(file):
    """Its bytes; of a table and of metrics all but what something took."""
    if file.suffix == ".csv" and "seconds" in (table := pd.read_csv(file)):
        return table.drop(columns=COSTS, errors="ignore").to_csv().encode()
    if file.parts[-3] == "metrics":
        return metrics_without_costs(file)
    if file.name == "scorecard.csv":
        return "".join(line for line in file.open() if not MEASURED.search(line)).encode()
    return file.read_bytes()


def metrics_without_costs(file):
    """Every array and attribute of a file of metrics but what the fits took."""
    found = []

    def add(name, entry):
        attributes = {key: str(entry.attrs[key]) for key in entry.attrs if key not in COSTS}
        values = entry[()].tobytes() if isinstance(entry, h5py.Dataset) else b""
        found.append((name, sorted(attributes.items()), values))

    with h5py.File(file) as metrics:
        metrics.visititems(add)
    return repr(found).encode()


def contents_on_one_machine(project, targets, configuration):
    """The same of a run without a cluster, which leaves no trace in the project."""
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
        """As a machine that loses power: Snakemake and what it runs itself, not the cluster."""
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
