"""One comparison of a computed number with what a paper's claim asks of it.

A claim has one check or several. Its `form` tells whether the claim is taken as printed or as
corrected, its `data` on what it was computed; whether it holds is computed, never stated.
"""

import math
from dataclasses import dataclass
from typing import Literal, SupportsFloat

import numpy as np

from lindrop.base.arrays import Matrix

Form = Literal["as printed", "corrected"]
Data = Literal[
    "none",  # mathematics, or the paper's own random recipe
    "published",  # the set that the paper used
    "other",  # a real set in its place
    "synthetic",  # a generated set in its place
]
Relation = Literal["equal to", "at most", "at least"]
PRINTED: Form = "as printed"
CORRECTED: Form = "corrected"


@dataclass(frozen=True)
class Check:
    """`computed` is `relation` `expected`, within an absolute `tolerance`."""

    claim: str  # its id within its paper, as in theorem_2_4
    what: str  # what was computed, in words
    computed: float
    relation: Relation
    expected: float
    tolerance: float
    form: Form = PRINTED
    data: Data = "none"

    @property
    def holds(self) -> bool:
        """False for what is not a number."""
        excess = self.computed - self.expected
        if self.relation == "at most":
            return bool(excess <= self.tolerance)
        if self.relation == "at least":
            return bool(-excess <= self.tolerance)
        return bool(abs(excess) <= self.tolerance)

    @property
    def known(self) -> bool:
        """Whether a number was computed at all."""
        return math.isfinite(self.computed)

    @property
    def verdict(self) -> str:
        return "holds" if self.holds else "fails"


def equal(
    claim: str,
    what: str,
    computed: SupportsFloat,
    expected: SupportsFloat = 0.0,
    tolerance: float = 1e-9,
    form: Form = PRINTED,
    data: Data = "none",
) -> Check:
    return Check(claim, what, float(computed), "equal to", float(expected), tolerance, form, data)


def at_most(
    claim: str,
    what: str,
    computed: SupportsFloat,
    expected: SupportsFloat,
    tolerance: float = 0.0,
    form: Form = PRINTED,
    data: Data = "none",
) -> Check:
    return Check(claim, what, float(computed), "at most", float(expected), tolerance, form, data)


def at_least(
    claim: str,
    what: str,
    computed: SupportsFloat,
    expected: SupportsFloat,
    tolerance: float = 0.0,
    form: Form = PRINTED,
    data: Data = "none",
) -> Check:
    return Check(claim, what, float(computed), "at least", float(expected), tolerance, form, data)


def relative_distance(found: Matrix, wanted: Matrix) -> float:
    """‖found − wanted‖ relative to ‖wanted‖ (Frobenius)."""
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))
