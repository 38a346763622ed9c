"""Ranking metrics. To add one, add an entry to METRICS.

A metric is a function of `gains` (users × ranks: the held-out entry of the item at that rank, 0 if
none) and of `wanted` (number of held-out items of each user). For a user with nothing held out it
is 0 / 0 = NaN (docs/protocol.md).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

DEPTH = 100  # number of ranks that metrics look at: raise it for a longer list
DISCOUNT: npt.NDArray[np.float64] = 1 / np.log2(np.arange(2, DEPTH + 2))

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Metric:
    """A ranking metric: its title in tables and figures, and its function (module docstring)."""

    title: str
    of_users: Callable[[Floats, Counts], Floats]


def ndcg(gains: Floats, wanted: Counts, depth: int) -> Floats:
    """Normalised discounted cumulative gain of each user; an item held out twice counts twice."""
    discount = DISCOUNT[:depth]
    ideal: Floats = np.concatenate([[0.0], np.cumsum(discount)])[np.minimum(wanted, depth)]
    gain: Floats = (gains[:, :depth] * discount).sum(axis=1)
    return gain / ideal


def recall(gains: Floats, wanted: Counts, depth: int) -> Floats:
    """Held-out items among the first `depth`, divided by min(held-out items, depth), per user."""
    hits: Counts = np.count_nonzero(gains[:, :depth], axis=1)
    return hits / np.minimum(wanted, depth)


METRICS = {
    "ndcg@100": Metric("nDCG@100", partial(ndcg, depth=100)),
    "recall@20": Metric("Recall@20", partial(recall, depth=20)),
    "recall@50": Metric("Recall@50", partial(recall, depth=50)),
}
CRITERION = "ndcg@100"  # the metric by which tuning chooses hyper-parameters


def of_users(gains: Floats, wanted: Counts) -> Floats:
    """Users × METRICS: all metrics of each user."""
    with np.errstate(invalid="ignore"):
        return np.column_stack([metric.of_users(gains, wanted) for metric in METRICS.values()])
