"""The metrics by which rankings are judged: an entry of METRICS is all that one needs.

A metric is a function of `gains` (users × ranks: the held-out entry of the item at that rank, 0 if
it has none) and of `wanted` (how many items each user has held out). It is NaN, as 0 / 0, for a
user with nothing held out (docs/protocol.md).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

DEPTH = 100  # of the longest list that a metric looks at: raise it for a longer one
DISCOUNT: npt.NDArray[np.float64] = 1 / np.log2(np.arange(2, DEPTH + 2))

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Metric:
    """A metric, with its title in tables and figures."""

    title: str
    of_users: Callable[[Floats, Counts], Floats]


def ndcg(gains: Floats, wanted: Counts, depth: int) -> Floats:
    """Normalised discounted cumulative gain: an item that was held out twice gains twice."""
    discount = DISCOUNT[:depth]
    ideal: Floats = np.concatenate([[0.0], np.cumsum(discount)])[np.minimum(wanted, depth)]
    gain: Floats = (gains[:, :depth] * discount).sum(axis=1)
    return gain / ideal


def recall(gains: Floats, wanted: Counts, depth: int) -> Floats:
    """Share of the held-out items among the first `depth`, of as many as could be there."""
    hits: Counts = np.count_nonzero(gains[:, :depth], axis=1)
    return hits / np.minimum(wanted, depth)


METRICS = {
    "ndcg@100": Metric("nDCG@100", partial(ndcg, depth=100)),
    "recall@20": Metric("Recall@20", partial(recall, depth=20)),
    "recall@50": Metric("Recall@50", partial(recall, depth=50)),
}
CRITERION = "ndcg@100"  # by which tuning chooses


def of_users(gains: Floats, wanted: Counts) -> Floats:
    """METRICS (columns) of users (rows)."""
    with np.errstate(invalid="ignore"):
        return np.column_stack([metric.of_users(gains, wanted) for metric in METRICS.values()])
