"""Time and memory of recommendations to many users: python benchmarks/recommend_speed.py

A model with 20,000 items recommends 20 of them to each user, from the scores of all items, and the
result is written as Parquet. Two numbers of users show that the time grows in proportion, so that a
million users can be told from them. The figures depend on neither the values of the model nor on
who has which item, only on how many items a user has: 50 on average, drawn by popularity.

Each size runs in a process of its own, whose peak memory is reported.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import scipy.sparse as sp

from lindrop.base.parallel import thread_count
from lindrop.base.stopwatch import peak_bytes
from lindrop.linalg.triangle import entries
from lindrop.models.base import Fit, ScaledSymmetric
from lindrop.serving.histories import Histories
from lindrop.serving.recommend import recommended
from lindrop.store.model import SavedModel
from lindrop.store.recommendations import write_recommendations

OUTPUT = Path(__file__).parent / "results" / "recommend_speed.csv"
MILLION = 1_000_000


def histories(users, items, each, rng):
    """What users have: `each` items on average, drawn by a popularity like 1/rank."""
    counts = np.maximum(rng.poisson(each, users), 1)
    share = 1 / np.arange(1, items + 1)
    column = np.searchsorted(np.cumsum(share / share.sum()), rng.random(counts.sum()))
    indptr = np.concatenate([[0], np.cumsum(counts)])
    x = sp.csr_array(
        (np.ones(len(column), np.float32), np.minimum(column, items - 1), indptr),
        shape=(users, items),
    )
    x.sum_duplicates()
    x.data[:] = 1
    return x


def measured(users, items, k, each):
    """Seconds and megabytes of the recommendations to this many users."""
    rng = np.random.default_rng(1)
    triangle = rng.standard_normal(entries(items), np.float32)
    matrix = ScaledSymmetric(np.ones(items, np.float32), np.zeros(items, np.float32), triangle)
    names = np.arange(items).astype(str).astype(object)
    model = SavedModel("ease", Fit(matrix), names, {}, "", np.full(items, 0.1))
    found = Histories(
        np.arange(users).astype(str).astype(object), histories(users, items, each, rng)
    )
    warm = Histories(found.users[:64], found.x[:64])
    with TemporaryDirectory() as folder:
        write_recommendations(Path(folder) / "a.parquet", recommended(model, warm, k), 64)
        start, cpu = time.perf_counter(), time.process_time()
        write_recommendations(Path(folder) / "b.parquet", recommended(model, found, k), users)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        size = (Path(folder) / "b.parquet").stat().st_size
    return {
        "users": users,
        "items": items,
        "items per user": round(found.x.nnz / users, 1),
        "k": k,
        "threads": thread_count(),
        "seconds": round(seconds, 1),
        "CPU seconds": round(cpu, 1),
        "users per second": round(users / seconds),
        "minutes for a million": round(seconds / users * MILLION / 60, 1),
        "model, GB": round(triangle.nbytes / 1e9, 2),
        "peak, GB": round(peak_bytes() / 1e9, 2),
        "file, MB": round(size / 1e6, 1),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--users", type=int, nargs="+", default=[50_000, 100_000])
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--k", type=int, default=20)
    parser.add_argument("--each", type=float, default=50)
    parser.add_argument("--one", action="store_true", help="print one size as JSON")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(given.users[0], given.items, given.k, given.each)))
        return
    rows = []
    for users in given.users:
        command = [
            sys.executable,
            __file__,
            "--one",
            "--users",
            str(users),
            "--items",
            str(given.items),
            "--k",
            str(given.k),
            "--each",
            str(given.each),
        ]
        rows.append(json.loads(subprocess.check_output(command, text=True)))
        print(rows[-1], flush=True)
    pd.DataFrame(rows).to_csv(OUTPUT, index=False)


if __name__ == "__main__":
    main()
