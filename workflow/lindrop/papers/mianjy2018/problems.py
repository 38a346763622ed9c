"""Problems of Mianjy 2018 that are small enough to be solved from many random starts."""

from itertools import product
from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import CORRECTED, PRINTED, Check, Form, equal
from lindrop.dropout.multistart import Minimum

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


def optimum_checks(
    claim: str, values: list[float], products: list[float], printed: list[float]
) -> list[Check]:
    """Checks of a theorem's optimum with printed and corrected ρ, from errors of all problems."""
    forms: tuple[tuple[str, list[float], float, Form], ...] = (
        ("f at the printed ρ above the best of all starts, relative", printed, VALUE, PRINTED),
        (
            "corrected ρ: distance of the least f to the best of all starts",
            values,
            VALUE,
            CORRECTED,
        ),
        ("corrected ρ: relative distance of the products", products, PRODUCT, CORRECTED),
    )
    return [equal(claim, what, max(found), 0, within, form) for what, found, within, form in forms]
