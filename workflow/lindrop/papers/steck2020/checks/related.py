"""Steck 2020, Section 5: how many constraints diag(UV') = 0 and other penalties have."""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import EXTENSION, Check, equal
from lindrop.papers.steck2020.checks.low_rank import zero_diagonal
from lindrop.papers.steck2020.problems import EXACT, fitted, product_of
from lindrop.papers.steck2020.spread import parseval, penalties

FEATURES, RANK = (8, 16), 4
STEP = 0.1  # change of an embedding; two that change together show whether a penalty couples them
COUPLED = 1e-9  # least change that is no rounding error, relative
ZERO = 1e-9  # largest entry of UV' that counts as zero, relative to the largest of all


def checks(seed: int) -> list[Check]:
    """Checks of how the numbers of constraints grow with the number of features."""
    rng = np.random.default_rng(seed)
    claim = "section_5_constraints"
    counts: dict[str, list[int]] = {}
    own = []
    for features in FEATURES:
        x = fitted(rng, items=features)
        u = rng.normal(size=(features, RANK))
        own.append(_constrained(product_of(zero_diagonal(x, RANK))))
        for name, penalty in penalties(x.T @ x).items():
            counts.setdefault(name, []).append(
                _pairs(lambda w, of=penalty: of(w)[0], u)  # type: ignore[misc]
            )
    pairs = [features * (features - 1) / 2 for features in FEATURES]
    at = f"{FEATURES[0]} and {FEATURES[1]} features:"
    return [
        equal(
            claim,
            f"{at} entries of UV' that are zero after training by Eq. 11, per feature",
            _far(own, FEATURES),
            1,
            0,
        ),
        *(
            equal(
                claim, f"{at} pairs that {name} couples, over all pairs", _far(found, pairs), 1, 0
            )
            for name, found in counts.items()
        ),
        equal(
            claim,
            "Parseval penalty of rows less that of columns, random W, less rows − columns",
            _rows_less_columns(rng.normal(size=(FEATURES[1], RANK))),
            0,
            EXACT,
            EXTENSION,
        ),
    ]


def _far(counts: Sequence[float], wanted: Sequence[float]) -> float:
    """The ratio of a count to the wanted one that is farthest from 1."""
    ratios = [count / number for count, number in zip(counts, wanted, strict=True)]
    return max(ratios, key=lambda ratio: abs(ratio - 1))


def _constrained(b: Matrix) -> int:
    """Number of entries that training has made zero."""
    return int(np.count_nonzero(np.abs(b) < ZERO * np.abs(b).max()))


def _pairs(value: Callable[[Matrix], float], w: Matrix) -> int:
    """Number of pairs of rows whose changes do not just add up in a penalty."""
    base = value(w)

    def moved(*rows: int) -> float:
        other = w.copy()
        other[list(rows)] += STEP
        return value(other) - base

    alone = [moved(i) for i in range(len(w))]
    return sum(
        abs(moved(i, j) - alone[i] - alone[j]) > COUPLED * abs(base)
        for i, j in combinations(range(len(w)), 2)
    )


def _rows_less_columns(w: Matrix) -> float:
    rows, columns = w.shape
    of_rows = np.sum((w @ w.T - np.eye(rows)) ** 2)
    return float(of_rows - columns * parseval(w)[0] - (rows - columns))
