"""How the cost of models on a pattern grows, and what a cap on heavy users costs and gives.

    python benchmarks/pattern_growth.py                       # all series, minutes of one core
    python benchmarks/pattern_growth.py items "user cap"      # two of them
    python benchmarks/pattern_growth.py cap:ml-1m split.h5    # the cap, on real data
    python benchmarks/pattern_growth.py cap:heavy-users FOLDER    # and where some users are heavy

Sets are those of lindrop.data.synthetic.huge, with as many users as items. Every point changes one
number of `BASE`; each fit runs in this process after a small one that compiles its loops. Times are
processor times: on two quiet cores, the clock shows half of them.

`cap:SET` fits a split's training users with several values of `user_cap` and ranks for its
validation users, by whom a default must be chosen; heavy-users is a set of generated_splits.py.
Replaces the rows of a series in benchmarks/results/pattern_growth.csv, which scale_page.py shows.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import scipy.sparse as sp
from generated_splits import SETS, split_file

from lindrop.models.base import Training
from lindrop.models.catalogue import fit
from lindrop.models.pattern.rows import Columns
from lindrop.models.pattern.solver import Solver

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "benchmarks" / "results" / "pattern_growth.csv"
BASE = {"items": 50_000, "per user": 40, "neighbours": 50, "user cap": 100}
SERIES = {
    "items": [12_500, 25_000, 50_000, 100_000, 200_000],
    "per user": [10, 20, 40, 80, 160],
    "neighbours": [25, 50, 100, 200, 400],
    "user cap": [25, 50, 100, 200, 400, 800],
}
CAPS = [25, 50, 100, 200, 400, 1000, 3000]
GIVEN = {"p": 0.8, "ridge": 60.0}
SAMPLE = 10_000  # columns that are solved and timed; all columns take longer in proportion
BLOCK = 64


def drawn(items: int, per_user: int) -> sp.csr_array:
    """X of a generated set with as many users as items."""
    from lindrop.data.synthetic.huge import write_folder

    with tempfile.TemporaryDirectory() as folder:
        paths = write_folder(Path(folder) / "set", items, items, items * per_user)
        table = pq.ParquetDataset(paths).read()
    pairs = table["user"].to_numpy(), table["item"].to_numpy()
    return sp.csr_array((np.ones(table.num_rows, np.float32), pairs), shape=(items, items))


def point(series: str, value: int) -> dict[str, Any]:
    """Processor seconds of the parts of a fit, at one point of a series."""
    asked = BASE | {series: value}
    data = Training.of(drawn(asked["items"], asked["per user"]), keep=False)
    heavy = np.diff(data.x.indptr)
    cap = asked["user cap"]
    start = time.process_time()
    solver = Solver(data, asked["neighbours"], **GIVEN, user_cap=cap)
    prepared = time.process_time() - start
    neighbours, columns, done = timed(solver, data.items)
    scale = data.items / done
    return {
        "series": series,
        **asked,
        "interactions": data.x.nnz,
        "increments": int(np.sum(heavy * np.minimum(heavy, cap))),
        "preparation": round(prepared, 2),
        "choice": round(neighbours * scale, 2),
        "columns": round(columns * scale, 2),
        "seconds": round(prepared + (neighbours + columns) * scale, 2),
    }


def timed(solver: Solver, items: int) -> tuple[float, float, int]:
    """Processor seconds of choosing neighbours and of solving columns, of some blocks of items."""
    from lindrop.models.pattern import solver as module

    spent = dict.fromkeys(("choose", "solve_columns"), 0.0)

    def watched(name: str) -> Any:
        work = getattr(module, name)

        def run(*arguments: Any) -> Any:
            start = time.thread_time()
            found = work(*arguments)
            spent[name] += time.thread_time() - start
            return found

        return run

    originals = {name: getattr(module, name) for name in spent}
    blocks = np.random.default_rng(0).permutation(items // BLOCK)[: max(1, SAMPLE // BLOCK)]
    found = Columns.empty(solver.most, solver.data.dtype)
    every = np.arange(items)
    near = solver.in_order(every)
    try:
        for name in spent:
            setattr(module, name, watched(name))
        for block in blocks:
            solver.write_columns(every, near[block * BLOCK : (block + 1) * BLOCK], found)
    finally:
        for name, original in originals.items():
            setattr(module, name, original)
    return spent["choose"], spent["solve_columns"], BLOCK * len(blocks)


def caps(name: str, file: str) -> list[dict[str, Any]]:
    """Accuracy for the validation users and processor seconds, by the cap on heavy users."""
    from lindrop.ranking.evaluation import evaluate, summary
    from lindrop.store.split import read_split_matrix

    data = Training.of(read_split_matrix(file, "train"), keep=False)
    users = [read_split_matrix(file, f"validation/{part}") for part in ("fold_in", "held_out")]
    rows = []
    options = {"neighbours": 100, "p": 0.5, "ridge": 60.0}
    fit("sparse_edlae", data, **options)  # so that compilation is not timed
    for cap in CAPS:
        start = time.process_time()
        model = fit("sparse_edlae", data, user_cap=cap, **options).model
        seconds = time.process_time() - start
        found = summary(evaluate(model, *users, ["ndcg@100"]).per_user).loc["ndcg@100"]
        rows.append(
            {
                "series": f"cap:{name}",
                "items": data.items,
                "neighbours": 100,
                "user cap": cap,
                "interactions": data.x.nnz,
                "seconds": round(seconds, 2),
                "ndcg@100": round(float(found["mean"]), 5),
                "stderr": round(float(found["stderr"]), 5),
            }
        )
        print(rows[-1], flush=True)
    return rows


def keep(series: str, rows: list[dict[str, Any]]) -> None:
    """Write the rows of a series in the place of its earlier ones."""
    found = pd.DataFrame(rows)
    if OUTPUT.exists():
        earlier = pd.read_csv(OUTPUT)
        found = pd.concat([earlier[earlier["series"] != series], found], ignore_index=True)
    found.to_csv(OUTPUT, index=False)


def main(asked: list[str]) -> None:
    series = [name for name in asked if name in SERIES] or ([] if asked else list(SERIES))
    if series:
        fit("sparse_edlae", Training.of(drawn(500, 10)), neighbours=20, **GIVEN)
    for name in series:
        rows = []
        for value in SERIES[name]:
            rows.append(point(name, value))
            print(rows[-1], flush=True)
        keep(name, rows)
    for number, name in enumerate(asked):
        if name.startswith("cap:"):
            of, place = name.removeprefix("cap:"), asked[number + 1]
            keep(name, caps(of, split_file(of, place) if of in SETS else place))


if __name__ == "__main__":
    main(sys.argv[1:])
