"""Kill a run at random moments and compare what it finally makes with an undisturbed run.

    PYTHONPATH=workflow:tests python benchmarks/kills.py REFERENCE KILLS [CONFIGURATION]
    PYTHONPATH=workflow:tests python benchmarks/kills.py slurm KILLS
    PYTHONPATH=workflow:tests python benchmarks/kills.py

REFERENCE is the `results` folder of an undisturbed run of the CONFIGURATION (config/config.yaml if
none is given) in a clone of the same commit. In a copy of the project, the run is started again and
again; every time it is killed with SIGKILL after a random time, exponentially distributed with a
mean of MEAN seconds: a job alone, Snakemake alone, or all processes together. The first life of a
run is longer, LEAD seconds on average, so that not all kills are at its beginning; after MOST kills
the run is left alone. At its end, its results are compared with the reference, byte for byte but
for times, and the next run begins from nothing, until there were KILLS kills more.

With `slurm`, a tiny configuration runs on the two nodes of tests/cluster, which needs root. A job
or a group of jobs is killed there, a node with all that runs on it, or Snakemake, whose jobs go on.

Adds rows to benchmarks/results/kills.csv and prints the table of docs/performance.md: how many
kills of each kind there were, and how many left the results as they are. Without KILLS, it only
prints.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import pandas as pd

from support.processes import descendants
from support.project import Project
from support.repository import copy_project
from support.same_results import differences
from support.slurm import Slurm, output_of
from support.slurm_runs import TINY, SlurmRun, contents, contents_on_one_machine

OUTPUT = Path(__file__).parent / "results" / "kills.csv"
MEAN, LEAD, SHORT = 40, 90, 3  # seconds, on a machine with other work
MOST = 25  # kills of one run
COLUMNS = ["configuration", "run", "victim", "after_seconds", "running", "same_results"]
VICTIMS = ("a job", "Snakemake", "everything")
COMMAND = "snakemake --cores 2 --rerun-incomplete --quiet --configfile {configuration}"


def jobs_of(pid):
    """Processes of the scripts that a run has started, with the files that they run."""
    found = {}
    for child in descendants(pid):
        try:
            words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
        except OSError:  # it has ended meanwhile
            continue
        scripts = [word.decode() for word in words if b".snakemake/scripts/" in word]
        if scripts:
            found[child] = Path(scripts[0]).name.split(".", 1)[1]
    return found


def end(pid):
    """Kill a process that may have ended meanwhile."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def strike(process, victim, rng):
    """Kill what `victim` names; returns the scripts that were running, or None without a job."""
    jobs = jobs_of(process.pid)
    running = " ".join(sorted(jobs.values()))
    if victim == "a job":
        if not jobs:
            return None
        end(rng.choice(sorted(jobs)))
    elif victim == "Snakemake":
        end(process.pid)
        for job in jobs:  # what it leaves behind works on for a moment, then the machine goes off
            time.sleep(rng.random())
            end(job)
    else:
        os.killpg(process.pid, signal.SIGKILL)
    return running


def one_life(project, configuration, rng, mean=MEAN):
    """Start the run and kill it, unless it ends before: the kill as a row, or None."""
    command = COMMAND.format(configuration=configuration).split()
    lock = project.path(".snakemake/locks")
    if lock.exists():
        project.ok(f"{COMMAND.format(configuration=configuration)} --unlock")
    process = subprocess.Popen(
        command,
        cwd=project.folder,
        env=project.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    victim, after = rng.choice(VICTIMS), rng.expovariate(1 / mean)
    running, waited = None, 0.0
    while running is None:
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            running, waited = strike(process, victim, rng), waited + after
            after = rng.expovariate(1 / mean)  # if there was no job to kill
        else:
            assert process.returncode == 0, "a run that nobody killed has failed"
            return None
    if victim == "a job":
        process.wait()  # Snakemake ends by itself: another job may still be at work
    else:
        for child in descendants(process.pid):
            end(child)
        process.wait()
    return {"victim": victim, "after_seconds": round(waited, 1), "running": running}


def unfinished(project):
    """Files that a killed job left."""
    return list(project.path("results").rglob("*.part*"))


def killed_run(reference, configuration, rng, most):
    """One run from nothing to its end, with its kills as rows, each with the final comparison."""
    with tempfile.TemporaryDirectory() as folder:
        project = Project(copy_project(Path(folder)), real=True)  # no forks: they end as asked
        kills = []
        while len(kills) < most:
            kill = one_life(project, configuration, rng, MEAN if kills else LEAD)
            if kill is None:
                break
            kills.append(kill)
            print(len(kills), *kill.values(), flush=True)
        project.ok(f"{COMMAND.format(configuration=configuration)} --unlock")
        project.ok(COMMAND.format(configuration=configuration))
        found = list(differences(reference, project.path("results")))
        print("\n".join(found) or "the same results", flush=True)
        same = not found and not unfinished(project)
        return [kill | {"same_results": same} for kill in kills]


ON_SLURM = "tests/support/slurm_runs.py on Slurm"  # its configuration
TARGETS = (  # shards of X'X, tuning and experiments in groups, light rules
    "results/metrics/small/edlae.h5 results/tables/steck2020_table1_datasets.csv "
    "results/figures/pal2020_fig1.csv results/figures/pretorius2018_rates.csv"
)


def running_on_slurm():
    """The jobs that run on the cluster: the node and the rules of each."""
    listed = output_of("squeue", "--noheader", "--states=running", "--format=%A %N %k")
    return {job: rest for job, *rest in (line.split(" ", 2) for line in listed.splitlines())}


def strike_on_slurm(cluster, run, begun, rng):
    """Kill a job, a group, a node with its jobs, or Snakemake; returns a row of the table.

    None where the run ended before.
    """
    kind = rng.choice(["a job", "a node", "Snakemake"])
    while not (jobs := running_on_slurm()) and kind != "Snakemake":
        if run.process.poll() is not None:
            return None
        time.sleep(rng.expovariate(1 / SHORT))  # a job is struck at any moment of its time
    after = round(time.monotonic() - begun, 1)
    if kind == "a job":
        job = rng.choice(sorted(jobs))
        subprocess.run(["scancel", "--signal=KILL", "--full", job], check=True)
        kind = "a job" if "_wildcards_" in jobs[job][1] else "a job group"
    elif kind == "a node":
        node = rng.choice(sorted({node for node, _ in jobs.values()}))
        cluster.power_off(node)
        time.sleep(MEAN)  # longer than Slurm needs to notice
        cluster.start_node(node)
    else:
        run.kill()
    running = " ".join(sorted(rules for _, rules in jobs.values()))
    return {"victim": kind, "after_seconds": after, "running": running}


def killed_run_on_slurm(cluster, alone, rng, most):
    """Rows of the table for a run on the test cluster, killed up to `most` times at random moments.

    Its results are compared with `alone`, those of one machine without a kill.
    """
    with tempfile.TemporaryDirectory() as folder:
        project = Project(copy_project(Path(folder)), real=True)
        run = SlurmRun(project, TARGETS, project.write("config/tiny.yaml", TINY))
        kills, before = [], 0  # kills before Snakemake was started last
        while True:
            begun = time.monotonic()
            try:
                run.process.wait(rng.expovariate(1 / MEAN) if len(kills) < most else None)
            except subprocess.TimeoutExpired:
                kill = strike_on_slurm(cluster, run, begun, rng)
                if kill:
                    kills.append(kill)
                    print(len(kills), *kill.values(), flush=True)
            if run.process.poll() == 0:
                break
            if run.process.poll() is not None:  # killed, or a job was killed at every attempt
                assert len(kills) > before, f"nobody killed it: {run.output.read_text()[-3000:]}"
                before = len(kills)
                if project.path(".snakemake/locks").exists():
                    project.ok(f"{run.command} --unlock")
                run.start()
        cluster.wait_for(
            lambda: not cluster.jobs(), "end of the jobs of Snakemakes that were killed"
        )
        same = contents(project) == alone
        print("the same results" if same else "OTHER RESULTS", flush=True)
        return [kill | {"same_results": same and not unfinished(project)} for kill in kills]


def main(reference, count, configuration="config/config.yaml"):
    """Rows of all kills, written as soon as each run is compared."""
    done = pd.read_csv(OUTPUT) if OUTPUT.exists() else pd.DataFrame(columns=COLUMNS)
    rng = random.Random(len(done) + 1)  # moments that no earlier kill had
    wanted = len(done) + count
    with ExitStack() as stack:
        if reference == "slurm":
            configuration = ON_SLURM
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            project = Project(copy_project(Path(folder)), real=True)
            tiny = project.write("config/tiny.yaml", TINY)
            alone = contents_on_one_machine(project, TARGETS, tiny)
            killed = partial(killed_run_on_slurm, stack.enter_context(Slurm()), alone)
        else:
            killed = partial(killed_run, Path(reference), configuration)
        while len(done) < wanted:
            earlier = done.loc[done["configuration"] == configuration, "run"]
            number = 1 + int(earlier.max() if len(earlier) else 0)
            found = killed(rng, min(MOST, wanted - len(done)))
            rows = [{"configuration": configuration, "run": number} | row for row in found]
            done = pd.concat([done, pd.DataFrame(rows, columns=COLUMNS)], ignore_index=True)
            done.to_csv(OUTPUT, index=False, lineterminator="\n")


def table():
    """Table of docs/performance.md: what was killed in which run, and how it ended."""
    rows = pd.read_csv(OUTPUT).rename(columns={"configuration": "run of", "victim": "killed"})
    counted = rows.groupby(["run of", "killed"])["same_results"].agg(["size", "sum"])
    return counted.rename(columns={"size": "kills", "sum": "same results"}).reset_index()


if __name__ == "__main__":
    if sys.argv[1:]:
        main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
    print(table().to_markdown(index=False))
