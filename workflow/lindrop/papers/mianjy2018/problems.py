"""Problems of Mianjy 2018 that are small enough to be solved from many random starts."""

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import CHARITABLE, CORRECTED, Check, equal, relative_distance
from lindrop.dropout.multistart import Minimum
from lindrop.dropout.optimum import effective_rank, threshold, top_singular

STARTS = 12
WIDTHS = 2, 4, 7  # r below, near and above the rank of M
LAMBDAS = 0.3, 2.0, 10.0
SETTINGS = list(product(WIDTHS, LAMBDAS))
ROWS, COLUMNS = 6, 5
VALUE, PRODUCT = (
    1e-9,
    1e-5,
)  # tolerances of a descent: of f, and of what changes f to second order


class Case(NamedTuple):
    """A problem (with tied weights if M is square) and the ends of descents from random starts."""

    m: Matrix
    r: int
    lam: float
    ends: list[Minimum]

    @property
    def best(self) -> Minimum:
        """The best of all ends."""
        return self.ends[0]

    @property
    def reached(self) -> list[Minimum]:
        """Ends at the global value."""
        return [end for end in self.ends if end.value <= self.best.value * (1 + VALUE)]


def spread(norms: Vector) -> float:
    """Largest less smallest norm, relative to the mean; 0 for equalised weights."""
    return float(np.ptp(norms) / norms.mean())


def optimum_checks(claim: str, cases: list[Case], least: Callable[[Case], float]) -> list[Check]:
    """Checks of UV' and of f at the best ends of descents, against a theorem's closed form.

    The theorem writes S_α(M), which lowers all singular values of M (E7); with r columns, and as
    Remark 5.1 computes it, the first r remain. `least` is the closed form of the least f.
    """
    values = [abs(case.best.value / least(case) - 1) for case in cases]
    whole, first = zip(*(_product_errors(case) for case in cases), strict=True)
    ends = f"best of {STARTS} descents in {len(cases)} problems"
    of = f"{ends}: relative distance of UV' to S_α of"
    value = f"{ends}: relative distance of f to its least"
    return [
        equal(claim, f"{of} M's first r singular values", max(first), 0, PRODUCT, CHARITABLE),
        equal(claim, value, max(values), 0, VALUE, CHARITABLE),
        equal("e7", f"{claim}: {of} M with all singular values", max(whole), 0, PRODUCT),
        equal("e7", f"{claim}: {of} the first r of them", max(first), 0, PRODUCT, CORRECTED),
    ]


def _product_errors(case: Case) -> tuple[float, float]:
    """Distances of UV' to S_α(M) of all singular values, and of the first r, relative to UV'."""
    found = case.best.u @ case.best.v.T
    left, values, right = top_singular(case.m, min(case.m.shape))
    alpha = threshold(values, case.r, case.lam, effective_rank(values, case.r, case.lam))
    shrunk = np.maximum(values - alpha, 0)
    whole, first = (
        relative_distance(left[:, :rank] * shrunk[:rank] @ right[:, :rank].T, found)
        for rank in (len(values), case.r)
    )
    return whole, first
