"""Time of evaluating one metric and ten, in turns, for 30,000 users and 41,000 items.

    python benchmarks/metrics_speed.py [users]

writes benchmarks/results/metrics_speed.csv. The model is of rank 32, so that scores cost little and
most of the time is that of ranking.
"""

import resource
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

from lindrop.models.base import LowRank, Training
from lindrop.ranking.evaluation import evaluate

FILE = Path(__file__).parent / "results" / "metrics_speed.csv"
ITEMS, RANK, TURNS = 41_000, 32, 2
ONE = ["ndcg@100"]
TEN = [*ONE, "recall@20", "plain_recall@50", "precision@20", "hit_rate@20", "map@100", "mrr@50"]
TEN += ["novelty@20", "coverage@20", "gini@20"]


def seconds(users: int) -> pd.DataFrame:
    """Seconds of both, the faster of two turns each, and the peak memory of the process."""
    rng = np.random.default_rng(1)
    encoder, decoder = rng.standard_normal((2, ITEMS, RANK), dtype=np.float32)
    model = LowRank(encoder, decoder)
    popular = rng.zipf(1.3, 60 * users) % ITEMS
    user, part = rng.integers(0, users, len(popular)), rng.random(len(popular)) < 0.2
    fold_in, held_out = (
        sp.csr_array(sp.coo_array((np.ones(rows.sum(), np.float32), (user[rows], popular[rows])),
                                  shape=(users, ITEMS)))
        for rows in (~part, part)
    )  # fmt: skip
    shares = Training.of(fold_in, keep=False).shares
    evaluate(model, fold_in[:64], held_out[:64], TEN, shares)  # compile
    rows = []
    for turn in range(TURNS):
        for metrics in (ONE, TEN):
            start = time.perf_counter()
            evaluate(model, fold_in, held_out, metrics, shares)
            wall = time.perf_counter() - start
            rows.append({"metrics": len(metrics), "turn": turn, "seconds": wall})
            print(rows[-1], flush=True)
    fastest = pd.DataFrame(rows).groupby("metrics")[["seconds"]].min().round(2)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return fastest.assign(users=users, items=ITEMS, peak_megabytes=round(megabytes)).reset_index()


if __name__ == "__main__":
    found = seconds(int(sys.argv[1]) if sys.argv[1:] else 30_000)
    found.to_csv(FILE, index=False, lineterminator="\n")
    print(found)
