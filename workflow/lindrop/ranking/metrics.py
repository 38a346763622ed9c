"""Ranking metrics by name, such as `ndcg@100`: a kind (KINDS) and a number k of ranks.

Most kinds are functions of `gains` (users × ranks: the held-out entry of the item at that rank, 0
if none), of `wanted` (number of held-out items of each user) and of k. A user with nothing held out
has 0 / 0 = NaN and is not counted (docs/protocol.md). The kinds `novelty`, `coverage` and `gini`
look at the lists of recommended items alone.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lindrop.base.errors import UserError

DEFAULT = ("ndcg@100", "recall@20", "recall@50")  # the published metrics
CRITERION = "ndcg@100"  # the metric by which tuning chooses, unless the configuration names another
NAME = r"([a-z_]+)@([1-9][0-9]{0,4})"

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Items = npt.NDArray[np.int32]


def discount(ranks: int) -> Floats:
    """Weight 1 / log2(rank + 2) of each rank, counted from 0."""
    weights: Floats = 1 / np.log2(np.arange(2, ranks + 2))
    return weights


def ndcg(gains: Floats, wanted: Counts, k: int) -> Floats:
    """Normalised discounted cumulative gain of each user; an item held out twice counts twice."""
    weights = discount(k)
    ideal: Floats = np.concatenate([[0.0], np.cumsum(weights)])[np.minimum(wanted, k)]
    seen = gains[:, :k]
    gain: Floats = (seen * weights[: seen.shape[1]]).sum(axis=1)
    return gain / ideal


def hits(gains: Floats, k: int) -> Counts:
    """Number of held-out items among the first k of each user."""
    found: Counts = np.count_nonzero(gains[:, :k], axis=1)
    return found


def recall(gains: Floats, wanted: Counts, k: int) -> Floats:
    """Held-out items among the first k, divided by min(held-out items, k): Liang et al. 2018."""
    return hits(gains, k) / np.minimum(wanted, k)


def plain_recall(gains: Floats, wanted: Counts, k: int) -> Floats:
    """Held-out items among the first k, divided by all held-out items."""
    return hits(gains, k) / wanted


def precision(gains: Floats, wanted: Counts, k: int) -> Floats:
    """Held-out items among the first k, divided by k."""
    return _of_counted(hits(gains, k) / k, wanted)


def hit_rate(gains: Floats, wanted: Counts, k: int) -> Floats:
    """1 if a held-out item is among the first k, else 0."""
    return _of_counted((hits(gains, k) > 0).astype(np.float64), wanted)


def average_precision(gains: Floats, wanted: Counts, k: int) -> Floats:
    """Sum of the precision at the rank of each hit, divided by all held-out items."""
    hit = gains[:, :k] != 0
    precisions = np.cumsum(hit, axis=1) / np.arange(1, hit.shape[1] + 1)
    total: Floats = (precisions * hit).sum(axis=1)
    return total / wanted


def reciprocal_rank(gains: Floats, wanted: Counts, k: int) -> Floats:
    """1 / rank (from 1) of the first held-out item among the first k, 0 if there is none."""
    hit = gains[:, :k] != 0
    first: Floats = hit.any(axis=1) / (np.argmax(hit, axis=1) + 1)
    return _of_counted(first, wanted)


def _of_counted(values: Floats, wanted: Counts) -> Floats:
    """The values, NaN for users with nothing held out."""
    kept: Floats = np.where(wanted > 0, values, np.nan)
    return kept


def novelty(items: Items, shares: Floats, k: int) -> Floats:
    """Mean of -log2 of the share of training users who have the item, over each user's list.

    NaN for an empty list, where all items are masked.
    """
    first = items[:, :k]
    listed = first >= 0
    surprise = np.where(listed, -np.log2(shares)[first], 0.0)
    number = np.count_nonzero(listed, axis=1)
    with np.errstate(invalid="ignore"):  # 0 / 0 of a user whose list is empty
        mean: Floats = surprise.sum(axis=1) / number
    return mean


def coverage(times: Counts) -> float:
    """Share of the items that are recommended to some user; `times`: how often each item is."""
    return float(np.count_nonzero(times) / len(times))


def gini(times: Counts) -> float:
    """Gini coefficient of the number of times that each item is recommended.

    0 if every item is recommended equally often, near 1 if all lists hold the same few items.
    """
    ordered, n = np.sort(times).astype(np.float64), len(times)
    if not ordered.any():
        return float("nan")
    weights = 2 * np.arange(1, n + 1) - n - 1
    return float(weights @ ordered / (n * ordered.sum()))


@dataclass(frozen=True)
class Kind:
    """A kind of metric: its title, and one of three functions that compute it.

    `of_users(gains, wanted, k)` is about accuracy, `of_lists(items, shares, k)` about each user's
    list, and `overall(times)` about all lists of a model together.
    """

    title: str
    of_users: Callable[[Floats, Counts, int], Floats] | None = None
    of_lists: Callable[[Items, Floats, int], Floats] | None = None
    overall: Callable[[Counts], float] | None = None


KINDS = {
    "ndcg": Kind("nDCG", ndcg),
    "recall": Kind("Recall", recall),
    "plain_recall": Kind("plain Recall", plain_recall),
    "precision": Kind("Precision", precision),
    "hit_rate": Kind("HitRate", hit_rate),
    "map": Kind("MAP", average_precision),
    "mrr": Kind("MRR", reciprocal_rank),
    "novelty": Kind("Novelty", of_lists=novelty),
    "coverage": Kind("Coverage", overall=coverage),
    "gini": Kind("Gini", overall=gini),
}


@dataclass(frozen=True)
class Metric:
    """A metric by its kind and its number k of ranks."""

    kind: str
    k: int

    @property
    def of(self) -> Kind:
        """What is known of its kind."""
        return KINDS[self.kind]

    @property
    def title(self) -> str:
        """Name for readers, such as nDCG@100."""
        return f"{self.of.title}@{self.k}"

    @property
    def of_accuracy(self) -> bool:
        """Whether it looks at the held-out items, so that larger is better."""
        return self.of.of_users is not None


def metric(name: str) -> Metric:
    """The metric of a name such as `ndcg@100`; UserError if there is none."""
    found = re.fullmatch(NAME, str(name))
    if not found or found[1] not in KINDS:
        known = ", ".join(f"{kind}@k" for kind in KINDS)
        raise UserError(f"no metric {str(name)[:60]!r}; known: {known}, with a whole number k > 0")
    return Metric(found[1], int(found[2]))


def title(name: str) -> str:
    """Title of the metric of a name."""
    return metric(name).title
