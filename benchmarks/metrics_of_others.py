"""Metrics of random rankings with ties by ranx and RecTools, whose values our tests expect of us.

    python -m venv .venv-metrics
    .venv-metrics/bin/pip install -r benchmarks/metrics_of_others.txt
    .venv-metrics/bin/python benchmarks/metrics_of_others.py

writes benchmarks/results/metrics_of_others.csv. RecTools needs an older NumPy than lindrop, so this
script imports neither.
"""

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

FILE = Path(__file__).parent / "results" / "metrics_of_others.csv"
SEEDS = range(4)
KS = (1, 3, 10, 20)  # a user has 20 items to be ranked or more
ITEMS = 40


def rankings(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores with many ties, fold-in and held-out items; every fifth user has nothing held out."""
    random = np.random.default_rng(seed)
    scores = random.integers(-4, 5, (120, ITEMS)).astype(np.float32)
    seen = random.random((120, ITEMS))
    fold_in, held_out = seen < 0.2, seen > random.choice([0.95, 0.8, 0.4], (120, 1))
    held_out[::5] = False
    return scores, fold_in, held_out


def ranked(scores: np.ndarray, fold_in: np.ndarray) -> list[int]:
    """Items by falling score, the lower number first among equals, without the fold-in."""
    left = [item for item in range(len(scores)) if not fold_in[item]]
    return sorted(left, key=lambda item: (-scores[item], item))


def lists(seed: int) -> Iterator[tuple[int, list[int], list[int]]]:
    """User, ranking and held-out items of every user who has some."""
    for user, (scores, fold_in, held_out) in enumerate(zip(*rankings(seed), strict=True)):
        if held_out.any():
            yield user, ranked(scores, fold_in), np.flatnonzero(held_out).tolist()


def by_ranx(seed: int) -> dict[str, float]:
    """Values of ranx, whose recall is our `plain_recall`; falling scores tell it the ranks."""
    import ranx

    found = list(lists(seed))
    qrels = ranx.Qrels({str(u): {str(i): 1 for i in wanted} for u, _, wanted in found})
    run = ranx.Run({str(u): {str(i): -float(r) for r, i in enumerate(o)} for u, o, _ in found})
    theirs = {"ndcg": "ndcg", "plain_recall": "recall", "precision": "precision"}
    theirs |= {"hit_rate": "hit_rate", "map": "map", "mrr": "mrr"}
    names = {f"{kind}@{k}": f"{name}@{k}" for kind, name in theirs.items() for k in KS}
    values = ranx.evaluate(qrels, run, [*names.values()], make_comparable=True)
    return {ours: float(values[name]) for ours, name in names.items()}


def by_rectools(seed: int) -> dict[str, float]:
    """Values of RecTools, whose mean inverse user frequency is our `novelty`.

    Its nDCG has another ideal, that of k held-out items, so it is not compared.
    """
    from rectools import metrics

    found = list(lists(seed))
    rows = [(u, i, rank) for u, order, _ in found for rank, i in enumerate(order, 1)]
    reco = pd.DataFrame(rows, columns=["user_id", "item_id", "rank"])
    pairs = [(u, i) for u, _, wanted in found for i in wanted]
    wanted = pd.DataFrame(pairs, columns=["user_id", "item_id"])
    users, items = np.nonzero(rankings(seed)[1])
    earlier = pd.DataFrame({"user_id": users, "item_id": items})
    kinds: dict[str, Any] = {
        "plain_recall": metrics.Recall,
        "precision": metrics.Precision,
        "hit_rate": metrics.HitRate,
        "map": metrics.MAP,
        "mrr": metrics.MRR,
        "novelty": metrics.MeanInvUserFreq,
    }
    asked = {f"{kind}@{k}": of(k=k) for kind, of in kinds.items() for k in KS}
    asked |= {f"coverage@{k}": metrics.CatalogCoverage(k=k, normalize=True) for k in KS}
    values = metrics.calc_metrics(asked, reco, wanted, earlier, catalog=np.arange(ITEMS))
    return {name: float(value) for name, value in values.items()}


if __name__ == "__main__":
    results = [
        {"library": library, "version": version(library), "seed": seed, "metric": name}
        | {"value": value}
        for library, by in (("ranx", by_ranx), ("rectools", by_rectools))
        for seed in SEEDS
        for name, value in by(seed).items()
    ]
    pd.DataFrame(results).to_csv(FILE, index=False, lineterminator="\n")
