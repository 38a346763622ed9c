"""How sure a mean over users is: standard error, interval and corrected p-value."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import erfc, nan, sqrt

import numpy as np
import numpy.typing as npt
import pandas as pd

DRAWS = 2_000  # bootstrap samples of the users
LEVEL = 0.95  # of the intervals
BLOCK = 1 << 21  # counts of users that are drawn at once

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Mean:
    """A mean over users with its standard error, bootstrap interval and p-value.

    The p-value is that of a normal distribution for a mean that is 0; without any spread it is 1
    for a mean of 0, else 0.
    """

    value: float
    stderr: float
    low: float
    high: float
    p_value: float
    users: int


def means(sums: npt.ArrayLike, sizes: npt.ArrayLike) -> list[Mean]:
    """The mean of each column of `sums`, users × columns.

    A user may count several times: `sums` are over the user's values, whose numbers are `sizes`.
    The bootstrap draws users with all their values, the same ones for every column.
    """
    totals, counts = np.asarray(sums, float), np.asarray(sizes, float)
    users, number = len(counts), counts.sum()
    values = totals.sum(axis=0) / number
    errors = np.sqrt(np.sum((totals - values * counts[:, None]) ** 2, axis=0)) / number
    drawn = np.concatenate([draw @ totals / (draw @ counts)[:, None] for draw in _draws(users)])
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return [
        Mean(float(value), float(error), float(a), float(b), _p_value(value, error), users)
        for value, error, a, b in zip(values, errors, low, high, strict=True)
    ]


def paired_to(best: pd.Series, others: pd.DataFrame) -> list[Mean]:
    """The mean difference to `best` of each column of `others`, over the users who have values."""
    counted = best.notna().to_numpy()
    differences = others.to_numpy(float)[counted] - best.to_numpy(float)[counted, None]
    if len(differences) < 2:
        (values,) = differences if len(differences) else [[nan] * others.shape[1]]
        return [Mean(value, nan, nan, nan, 1.0, len(differences)) for value in values]
    return means(differences, np.ones(len(differences)))


def holm(p_values: Sequence[float]) -> Numbers:
    """p-values corrected for their number by the method of Holm (1979)."""
    order = np.argsort(p_values)
    scaled = np.asarray(p_values)[order] * np.arange(len(order), 0, -1)
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(np.maximum.accumulate(scaled), 1)
    return corrected


def _draws(users: int) -> Iterator[Numbers]:
    """How often each user is drawn, draws × users, in blocks of bounded size."""
    random, share = np.random.default_rng(0), np.full(users, 1 / users)
    rows = max(1, BLOCK // users)
    for start in range(0, DRAWS, rows):
        yield random.multinomial(users, share, min(rows, DRAWS - start)).astype(float)


def _p_value(mean: float, stderr: float) -> float:
    if stderr:
        return erfc(abs(mean) / stderr / sqrt(2))
    return 0.0 if mean else 1.0
