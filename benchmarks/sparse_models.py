"""Sparse EDLAE and sparse EASE: accuracy, time and memory by number of neighbours.

    python benchmarks/sparse_models.py gowalla FOLDER [neighbours ...] [spread=0.5]
    python benchmarks/sparse_models.py generated

FOLDER holds train.txt.gz and test.txt.gz of the split of LightGCN. `generated` draws a set of
20,000 items and also fits the dense EDLAE, which needs 5 GB of memory. Every fit runs in a process
of its own, after a small fit that compiles the loops or loads them.

`seconds` is elapsed time; `processor seconds` adds the time of all threads, which other work on the
machine changes less; `busy` is the load average, the mean number of processes that wanted a core.
New rows replace those of the same set and model in benchmarks/results/sparse_models.csv, which
docs/scale.md shows.
"""

import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from lindrop.base.stopwatch import peak_bytes

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "benchmarks" / "results" / "sparse_models.csv"
GOWALLA = {"p": 0.8, "ridge": 60.0}
GENERATED = {"p": 0.35, "ridge": 100.0}
KEYS = ["set", "model", "spread", "neighbours"]
Parts = tuple[sp.csr_array, sp.csr_array, sp.csr_array]  # training, known and held-out items


def lists(path: Path) -> sp.csr_array:
    """X of a file whose lines are a user and the items of that user, both numbered from 0."""
    with gzip.open(path, "rt") as file:
        users = {int(user): list(map(int, own)) for user, *own in map(str.split, file)}
    rows = np.repeat(list(users), list(map(len, users.values())))
    pairs = rows, np.concatenate(list(users.values())).astype(int)
    return sp.csr_array((np.ones(len(rows), np.float32), pairs), shape=(29_858, 40_981))


def gowalla(folder: str) -> Parts:
    """Training users are tested: their training items are known."""
    train = lists(Path(folder) / "train.txt.gz")
    return train, train, lists(Path(folder) / "test.txt.gz")


def generated(_: str) -> Parts:
    """Split of a generated set of the shape of MovieLens 20M, with a third of its interactions."""
    from lindrop.data.split import Protocol, split
    from lindrop.data.synthetic.generator import synthetic_interactions
    from lindrop.data.synthetic.recipe import recipe_of

    recipe = recipe_of("ml-20m", users=60_000, items=20_000, interactions=4_000_000)
    parts = split(synthetic_interactions(recipe, 1), Protocol(5_000, None, 5))
    return parts.matrix("train"), parts.matrix("test/fold_in"), parts.matrix("test/held_out")


SETS = {"gowalla": gowalla, "generated": generated}


def measured(name: str, place: str, model: str, options: dict[str, Any]) -> dict[str, Any]:
    """Fit one model in this process and test it."""
    from lindrop.models.base import Training
    from lindrop.models.catalogue import fit
    from lindrop.ranking.evaluation import evaluate, summary

    train, known, held_out = SETS[name](place)
    fit(model, Training.of(train[:500, :100], keep=False), **options)
    data = Training.of(train, keep=False)
    before, start, used = peak_bytes(), time.perf_counter(), time.process_time()
    found = fit(model, data, **options).model
    seconds, cpu, peak = time.perf_counter() - start, time.process_time() - used, peak_bytes()
    metrics = ["plain_recall@20", "ndcg@20", "ndcg@100"]
    per_user = evaluate(found, known, held_out, metrics).per_user
    means = summary(per_user)["mean"]
    return {
        "set": name,
        "model": model,
        "spread": options.get("spread", 0.0),
        "neighbours": options.get("neighbours", train.shape[1] - 1),
        "seconds": round(seconds, 2),
        "processor seconds": round(cpu, 2),
        "peak GB": round(peak / 1e9, 2),
        "GB before": round(before / 1e9, 2),
        **{metric: round(float(means[metric]), 6) for metric in metrics},
        "cores": os.cpu_count(),
        "busy": round(os.getloadavg()[0], 1),
    }


def keep(row: dict[str, Any]) -> None:
    """Write a row of results in the place of an earlier one of the same set and model."""
    rows = pd.DataFrame([row])
    if OUTPUT.exists():
        earlier = pd.read_csv(OUTPUT)
        same = (earlier[KEYS] == rows[KEYS].iloc[0]).all(axis=1)
        rows = pd.concat([earlier[~same], rows], ignore_index=True)
    rows.sort_values(KEYS).to_csv(OUTPUT, index=False)


def main(name: str, place: str, asked: list[str]) -> None:
    """Measure the sparse models with these numbers of neighbours, and the dense one beside them."""
    given = GOWALLA if name == "gowalla" else GENERATED
    numbers = [int(k) for k in asked if k.isdigit()] or [50, 100, 200]
    more = [each.split("=", 1) for each in asked if "=" in each]
    given = given | {option: json.loads(value) for option, value in more}
    runs = [("sparse_edlae", {"neighbours": k, **given}) for k in numbers]
    if name == "generated":
        runs.append(("full_edlae", GENERATED))
    for model, options in runs:
        job = json.dumps([name, place, model, options])
        command = [sys.executable, __file__, "--one", job]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        print(done.stdout.splitlines()[-1], flush=True)
        keep(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measured(*json.loads(sys.argv[2]))))
    elif sys.argv[1:2] and sys.argv[1] in SETS:
        main(sys.argv[1], (sys.argv[2:] or [""])[0], sys.argv[3:])
    else:
        raise SystemExit(__doc__)
