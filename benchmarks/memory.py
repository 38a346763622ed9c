"""Peak memory of the jobs of every model, compared with the estimate that they request.

    python benchmarks/memory.py [model or rule ...]

For each of two generated sets, the scripts of the rules gram, spectrum, tune and fit run in a new
process each, as Snakemake runs them: they read the split, fit, evaluate and write. The split is the
published one and, for some models, that by each user's last interactions, which tests all users.
The estimate is the rule's request without the memory of Snakemake itself. Iterations are few, since
their number changes no memory. Writes benchmarks/results/memory.csv, or replaces the rows of the
models named, and prints the table of docs/benchmarks.md. Takes about 10 minutes on two cores.
"""

import json
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pandas as pd

from lindrop.base.stopwatch import peak_bytes
from lindrop.models.catalogue import CATALOGUE
from lindrop.models.memory import (
    MARGIN,
    Size,
    gram_bytes,
    job_bytes,
    matrix_bytes,
    spectrum_bytes,
)
from lindrop.ranking.metrics import CRITERION, DEFAULT

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "benchmarks" / "results" / "memory.csv"
SETS = ((4_000, 3_000, 400_000), (12_000, 7_000, 1_200_000))  # users, items, interactions
FIRST = (1_000, 400, 40_000)  # a set on which every job runs once before: compiling takes memory
RANK, RANKS = 100, [50, 200]
THREADS = "1"  # as many as a fit of a small set has; more threads need few megabytes more
GIVEN = {  # options of a single point and few iterations; λ is large enough for float32
    "lambda": [300],
    "p": [0.5],
    "l1": [5],
    "l2": [100],
    "factors": [32],
    "alpha": [1],
    "sweeps": [1],
    "beta": [0.2],
    "neighbours": [100],
    "epochs": 1,
    "iterations": 3,
}
TUNED = ("ease", "mult_vae")  # the others are tuned by the same code and with the same estimate
LAST = "leave_last"  # the split of a job whose name has the word
VARIANTS = {  # more options of one model, or another split
    "edlae als": {"solver": "als", "iterations": 1},
    "slim largest": {"largest": 100},
    f"popularity {LAST}": {},
    f"ease {LAST}": {},
    f"edlae {LAST}": {},
    f"sparse_edlae {LAST}": {},
}


class Named(dict[str, Any]):
    """Mapping whose values are attributes too, as in the object that scripts get of Snakemake."""

    __getattr__ = dict.__getitem__


def make_split(folder: Path, users: int, items: int, interactions: int) -> None:
    """Write the published split of a generated set, and that by the last interactions of users."""
    from lindrop.data.split import LeaveLast, Protocol, split
    from lindrop.data.synthetic.generator import synthetic_interactions
    from lindrop.data.synthetic.recipe import recipe_of
    from lindrop.store.split import write_split

    recipe = recipe_of("ml-20m", users=users, items=items, interactions=interactions)
    protocols = {".": Protocol(users // 10, None, 5), LAST: LeaveLast(None, 5)}
    for name, protocol in protocols.items():
        parts = split(synthetic_interactions(recipe, 1), protocol)
        write_split(folder / name / "split.h5", parts, {"format": "synthetic"})


def options_of(job: str) -> dict[str, Any]:
    """Options of a model with a grid of one point."""
    entry = CATALOGUE[job.split()[0]]
    options = {name: GIVEN.get(name, option.default) for name, option in entry.options.items()}
    return options | VARIANTS.get(job, {})


def estimate(folder: Path, rule: str, job: str, ranks: Sequence[int]) -> float:
    """Bytes that the rule requests for the process of its script."""
    from lindrop.store.split import read_size

    size = read_size(folder / "split.h5")
    if rule == "gram":
        return job_bytes(size, MARGIN * gram_bytes(size))
    if rule == "spectrum":
        needed = matrix_bytes(size.items) + spectrum_bytes(size.items, max(ranks))
        return job_bytes(size, MARGIN * needed)
    entry = CATALOGUE[job.split()[0]]
    return job_bytes(*needed_of(entry, size, ranks, options_of(job)), entry.torch)


def needed_of(
    entry: Any, size: Size, ranks: Sequence[int], options: Mapping[str, Any]
) -> tuple[Size, float]:
    """Size of a fit's data, with the stored spectrum, and the bytes that it needs beside them."""
    if entry.spectrum:
        size = replace(size, eigenpairs=max(ranks))
    if entry.one_rank:
        ranks = [RANK]
    return size, entry.needed_bytes(size, ranks, **options)


def run_script(folder: Path, rule: str, job: str) -> None:
    """Run a rule's script in this process and print the peak memory."""
    model = job.removesuffix(LAST).split()[0] if job.removesuffix(LAST) else ""
    split, gram, spectrum = (str(folder / f"{x}.h5") for x in ("split", "gram", "spectrum"))
    files = {"gram": [gram], "spectrum": [spectrum]}.get(rule, [str(folder / "trials.csv")])
    output: Any = Named(enumerate(files))
    output |= {"metrics": str(folder / "metrics.h5"), "model": str(folder / "model.h5")}
    inputs: Any = Inputs(split=split)
    entry = CATALOGUE[model] if model else None
    if rule == "spectrum" or (entry and not entry.torch):
        inputs["gram"] = gram if entry is None or entry.gram else []
    if rule in {"tune", "fit"}:
        inputs["spectrum"] = spectrum if entry and entry.spectrum else []
    if rule.startswith("fit"):
        inputs["trials"] = []
    params = Named(seed=1, rank=RANK, ranks=RANKS, points=[0, 1], lineage="", shard=0, shards=1)
    params |= {"metrics": DEFAULT, "criterion": CRITERION, "part": "train"}
    options = options_of(job) if model else {}
    if rule.startswith("tune"):  # two points, of which the second must not need more
        options["lambda"] = [300, 1000]
    params |= {"options": options, "tuning": str(folder)}
    snakemake = SimpleNamespace(
        log=[str(folder / "log.txt")],
        wildcards=Named(dataset="generated", model=model),
        params=params,
        input=inputs,
        output=output,
    )
    script = str(ROOT / "workflow" / "scripts" / f"{rule}.py")
    runpy.run_path(script, init_globals={"snakemake": snakemake})
    print(json.dumps(peak_bytes()))


class Inputs(Named):
    """Input files of a job, by name; iterating yields the files."""

    def __iter__(self) -> Iterator[str]:
        return iter(self.values())


def measured(folder: Path, rule: str, job: str = "") -> dict[str, Any]:
    """Estimate and peak of one job, whose script runs in a new process."""
    command = [sys.executable, __file__, "--run", str(folder), rule, job]
    path = os.pathsep.join([str(ROOT / "workflow"), str(ROOT / "benchmarks")])
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), THREADS)
    environment = {**os.environ, "PYTHONPATH": path, **threads}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    peak = float(json.loads(done.stdout.strip().splitlines()[-1]))
    with mock.patch("os.cpu_count", return_value=int(THREADS)):  # as the process that was measured
        asked = estimate(folder, rule, job, sorted({RANK, *RANKS}))
    row = {"rule": rule, "model": job, "estimate_mb": asked / 1e6, "peak_mb": peak / 1e6}
    return row | {"ratio": asked / peak}


COUNTED = [(rule, job) for job in ("", LAST) for rule in ("gram", "spectrum")]


def of_split(job: str) -> str:
    """Folder of the split of a job."""
    return LAST if LAST in job.split() else "."


def jobs(wanted: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Rules and models to measure: those that are wanted, or all."""
    for name in (*CATALOGUE, *VARIANTS):
        deep = "_deep" if CATALOGUE[name.split()[0]].torch else ""
        if not wanted or name in wanted:
            yield f"fit{deep}", name
            if name in TUNED:
                yield f"tune{deep}", name


def table(found: pd.DataFrame) -> pd.DataFrame:
    """Table of docs/benchmarks.md: estimate, peak and ratio of each job at both sizes."""
    cells = found.assign(
        job=found["rule"].str.cat(found["model"].fillna(""), sep=" ").str.strip(),
        text=[
            f"{row.estimate_mb:,.0f} / {row.peak_mb:,.0f} = {row.ratio:.2f}"
            for row in found.itertuples()
        ],
    )
    wide = cells.pivot(index="job", columns="items", values="text").reindex(cells["job"].unique())
    wide.columns = [f"{items:,} items" for items in wide.columns]
    return wide.reset_index()


def main(wanted: Sequence[str]) -> None:
    rows = []
    for users, items, interactions in (FIRST, *SETS):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make = [sys.executable, __file__, "--split", name]
            subprocess.run([*make, *map(str, (users, items, interactions))], check=True)
            for rule, job in [*COUNTED, *jobs(wanted)]:
                row = {"items": items} | measured(folder / of_split(job), rule, job)
                print(row, flush=True)
                rows.append(row)
    rows = [row for row in rows if row["items"] != FIRST[1]]
    found = pd.DataFrame(rows).round({"estimate_mb": 0, "peak_mb": 0, "ratio": 3})
    if OUTPUT.exists() and wanted:
        old = pd.read_csv(OUTPUT, keep_default_na=False)
        found = pd.concat([old, found]).drop_duplicates(["items", "rule", "model"], keep="last")
    found.to_csv(OUTPUT, index=False)
    print(table(found).to_markdown(index=False, disable_numparse=True))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--split"]:
        make_split(Path(sys.argv[2]), *map(int, sys.argv[3:]))
    elif sys.argv[1:2] == ["--run"]:
        run_script(Path(sys.argv[2]), *sys.argv[3:])
    else:
        main(sys.argv[1:])
