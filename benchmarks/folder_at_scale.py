"""Time and memory from a folder of parquet files to a saved and tested model, at any size.

    python benchmarks/folder_at_scale.py 1m [folder] [model name=value ...]
    python benchmarks/folder_at_scale.py 10m /disk/with/30GB sparse_edlae neighbours=100 p=0.8

The sets are those of lindrop.data.synthetic.huge. Every step runs in a process of its own:

generate   writes the folder of parquet files
read       reads it and writes interactions.h5
split      reads that and writes split.h5; 10,000 users are held out for validation, as many to test
load       reads X of the training users
fit        reads X, fits a model of lindrop's catalogue and saves it
shard      with shards=N: reads X, fits one N-th of its columns, from the middle, and saves them
evaluate   reads the model and ranks the items for the test users
recommend  reads the model and answers the histories of single users

Without a model, a matrix with 100 random weights per item is tested in its place, so that
`evaluate` tells nothing but the cost. Results of the first three steps are taken from `folder`
(default: a temporary one) if they are there.

`seconds` are those of the clock, `processor seconds` those of all threads, which other work on the
machine changes less; `busy` is the mean number of processes that wanted a core (load average) at
the end. Rows of the same set and step in benchmarks/results/folder_at_scale.csv are replaced.
"""

import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lindrop.base.stopwatch import peak_bytes

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "benchmarks" / "results" / "folder_at_scale.csv"
TRIAL = "tiny"  # the set that only tries out this script
SETS = {  # users, items, interactions, held-out users
    TRIAL: (20_000, 20_000, 800_000, 1_000),
    "1m": (1_000_000, 1_000_000, 43_000_000, 10_000),
    "3m": (3_000_000, 3_000_000, 120_000_000, 10_000),
    "10m": (10_000_000, 10_000_000, 400_000_000, 10_000),
}
START = time.perf_counter()  # of the process of a step
HISTORIES = 201  # that are answered one by one
WEIGHTS = 100  # of each item of the random matrix
SEED = 1


def generate(name: str, folder: Path, model: Any) -> str:
    from lindrop.data.synthetic.huge import write_folder

    paths = write_folder(folder / "set", *SETS[name][:3], SEED)
    return f"{len(paths)} files, {sum(path.stat().st_size for path in paths) / 1e6:,.0f} MB"


def read(name: str, folder: Path, model: Any) -> str:
    from lindrop.data.formats import read_interactions
    from lindrop.store.interactions import write_interactions

    data = read_interactions(folder / "set", "parquet")
    write_interactions(folder / "interactions.h5", data, {"format": "parquet"})
    return f"{data.raw.users:,} users, {data.raw.items:,} items, {data.raw.rows:,} rows"


def divide(name: str, folder: Path, model: Any) -> str:
    from lindrop.data.split import Protocol, split
    from lindrop.store.interactions import read_interactions
    from lindrop.store.split import write_split

    data, source = read_interactions(folder / "interactions.h5")
    parts = split(data, Protocol(SETS[name][3]))
    del data
    write_split(folder / "split.h5", parts, source)
    return f"{parts.counts.items:,} items, {len(parts.train):,} training rows"


def load(name: str, folder: Path, model: Any) -> str:
    from lindrop.store.split import read_split_matrix

    x = read_split_matrix(folder / "split.h5", "train", light=True)
    return f"{x.nnz:,} entries"


def fit(name: str, folder: Path, model: Any) -> str:
    from lindrop.models.base import Training
    from lindrop.models.catalogue import fit
    from lindrop.store.model import write_model
    from lindrop.store.split import read_items, read_split_matrix, read_split_sha256

    split = folder / "split.h5"
    data = Training.of(read_split_matrix(split, "train", light=True), keep=False)
    found = fit(model["name"], data, **model["parameters"])
    digest = read_split_sha256(split)
    path = folder / "model.h5"
    solved = time.perf_counter() - START
    items = read_items(split)
    write_model(path, model["name"], found, items, model["parameters"], digest, data.shares)
    given = ", ".join(f"{key} {value:g}" for key, value in model["parameters"].items())
    size = path.stat().st_size / 1e6
    return f"{model['name']} with {given}, {size:,.0f} MB, {solved:.0f} s before writing"


def shard(name: str, folder: Path, model: Any) -> str:
    """What one of several jobs does that share the columns of a model."""
    from lindrop.base.stopwatch import Stopwatch
    from lindrop.models.base import Training
    from lindrop.models.catalogue import CATALOGUE
    from lindrop.store.columns import write_columns
    from lindrop.store.split import read_split_matrix, read_split_sha256

    data = Training.of(read_split_matrix(folder / "split.h5", "train", light=True), keep=False)
    given, watch = model["parameters"], Stopwatch()
    columns = range(data.items // 2, data.items // 2 + -(-data.items // model["shards"]))
    block = CATALOGUE[model["name"]].fit_columns(data, columns, **given)
    digest, path = read_split_sha256(folder / "split.h5"), folder / "shard.h5"
    write_columns(path, model["name"], block, columns, given, digest, watch.cost())
    size = path.stat().st_size / 1e6
    return f"{len(columns):,} columns, one of {model['shards']} shards, {size:,.0f} MB"


def evaluate(name: str, folder: Path, model: Any) -> str:
    from lindrop.models.base import SparseItems
    from lindrop.ranking.evaluation import evaluate, summary
    from lindrop.store.model import read_model
    from lindrop.store.split import read_split_matrix

    users = [read_split_matrix(folder / "split.h5", f"test/{x}") for x in ("fold_in", "held_out")]
    if model:
        tested, what = read_model(folder / "model.h5").fit.model, model["name"]
    else:
        items, random = users[0].shape[1], np.random.default_rng(SEED)
        columns = random.integers(0, items, items * WEIGHTS, np.int32)
        weights = random.random(items * WEIGHTS, np.float32)
        tested = SparseItems(np.arange(0, len(columns) + 1, WEIGHTS), columns, weights)
        what = "random weights"
    start = time.perf_counter()
    found = summary(evaluate(tested, *users).per_user)["mean"]
    seconds = time.perf_counter() - start
    metrics = ", ".join(f"{metric} {value:.4f}" for metric, value in found.items() if model)
    return f"{what}, {seconds:.1f} s without reading; {metrics}".removesuffix("; ")


def recommend(name: str, folder: Path, model: Any) -> str:
    """Read the model and answer single histories, as a service does."""
    from lindrop.store.model import read_model
    from lindrop.store.split import read_split_matrix

    known = read_split_matrix(folder / "split.h5", "test/fold_in")[: 2 * HISTORIES]
    start = time.perf_counter()
    saved = read_model(folder / "model.h5")
    read = time.perf_counter() - start
    seconds = []
    for user in np.flatnonzero(np.diff(known.indptr))[:HISTORIES]:
        items = known.indices[known.indptr[user] : known.indptr[user + 1]]
        history = [str(saved.items[item]) for item in items]
        start = time.perf_counter()
        if len(saved.recommend(history, 20)) != 20:
            raise SystemExit(f"user {user} is recommended fewer than 20 items")
        seconds.append(time.perf_counter() - start)
    usual, worst = (1000 * f(seconds[1:]) for f in (np.median, max))
    return (
        f"read in {read:.1f} s; the first history took {seconds[0]:.1f} s, then the median of "
        f"{len(seconds) - 1} took {usual:.1f} ms, the slowest {worst:.1f} ms"
    )


STEPS = {"generate": generate, "read": read, "split": divide, "load": load, "fit": fit}
STEPS |= {"shard": shard, "evaluate": evaluate, "recommend": recommend}
MADE = {"generate": "set", "read": "interactions.h5", "split": "split.h5"}


def step(what: str, name: str, folder: Path, model: Any) -> None:
    """Run one step in this process; its last line of output is the row of results."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    start = time.perf_counter()
    result = STEPS[what](name, folder, model)
    interactions = SETS[name][2]
    row = {
        "set": name,
        "step": what,
        "seconds": round(time.perf_counter() - start, 1),
        "processor seconds": round(time.process_time(), 1),
        "peak GB": round(peak_bytes() / 1e9, 2),
        "bytes per interaction": round(peak_bytes() / interactions, 1),
        "result": result,
        "cores": os.cpu_count(),
        "busy": round(os.getloadavg()[0], 1),
    }
    print(json.dumps(row))


def measured(what: str, name: str, folder: Path, model: Any) -> dict[str, Any]:
    """Row of results for one step, run in a new process."""
    command = [sys.executable, __file__, "--step", what, name, str(folder), json.dumps(model)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    print(done.stdout.strip().splitlines()[-1], flush=True)
    row: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return row


def main(name: str, folder: Path, model: Any) -> None:
    left_out = {"fit", "shard", "recommend"} if not model else {"shard"}
    if model and model["shards"]:
        left_out = {"fit", "evaluate", "recommend"}
    steps = [each for each in STEPS if each not in left_out]
    for each in steps:
        if each in MADE and (folder / MADE[each]).exists():
            print(f"{folder / MADE[each]} is there")
        else:
            row = measured(each, name, folder, model)
            if name != TRIAL:
                keep(row)


def keep(row: dict[str, Any]) -> None:
    """Write a row of results in the place of an earlier one of the same set and step."""
    rows = pd.read_csv(OUTPUT) if OUTPUT.exists() else pd.DataFrame()
    if len(rows):
        rows = rows[(rows["set"] != row["set"]) | (rows["step"] != row["step"])]
    rows = pd.concat([rows, pd.DataFrame([row])], ignore_index=True)
    order = rows.assign(
        set=rows["set"].map(list(SETS).index), step=rows["step"].map(list(STEPS).index)
    ).sort_values(["set", "step"])
    OUTPUT.parent.mkdir(exist_ok=True)
    rows.loc[order.index].to_csv(OUTPUT, index=False)


def shown(rows: pd.DataFrame) -> pd.DataFrame:
    """The measurements as docs/benchmarks.md shows them."""
    return rows.drop(columns=["cores"]).rename(columns={"bytes per interaction": "bytes each"})


if __name__ == "__main__":
    if sys.argv[1:2] == ["--step"]:
        step(sys.argv[2], sys.argv[3], Path(sys.argv[4]), json.loads(sys.argv[5]))
    else:
        asked, place, *rest = [*sys.argv[1:], *[""] * (3 - len(sys.argv))]
        pairs = dict(value.split("=", 1) for value in rest[1:])
        values = {key: json.loads(value) for key, value in pairs.items()}
        shards = values.pop("shards", 0)
        chosen = {"name": rest[0], "parameters": values, "shards": shards} if rest else None
        if place:
            Path(place).mkdir(parents=True, exist_ok=True)
            main(asked, Path(place), chosen)
        else:
            with tempfile.TemporaryDirectory() as temporary:
                main(asked, Path(temporary), chosen)
