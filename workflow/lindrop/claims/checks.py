"""Checks: comparisons of a computed number with the number that a paper's claim requires.

A claim has one or more checks. The `form` of a check says which statement it tests (the claim as
printed, or another one of `Form`), and its `data` on which data it was computed. Whether a check
holds is computed, also when a file of checks is read.
"""

import math
from dataclasses import dataclass
from typing import Literal, SupportsFloat

import numpy as np

from lindrop.base.arrays import Matrix

Form = Literal[
    "as printed",  # the claim itself
    "charitably read",  # the claim in the reading most favourable to the paper
    "corrected",  # what holds instead: a statement of the same kind in its right form
    "counterexample",  # what contradicts the claim: a case in which it fails for a known reason
    "extension",  # more than the claim says
    "limit",  # where the claim ends: a case outside its conditions, which decides nothing
]
Data = Literal[
    "none",  # no dataset: mathematics, or random data made as the paper says
    "published",  # the dataset that the paper used
    "other",  # another real dataset
    "synthetic",  # a generated dataset in place of a real one
]
Relation = Literal["equal to", "at most", "at least"]
CLEAR = 2  # standard errors from its bound at which a mean over test users decides
ENOUGH = 10**9  # test users, more than any dataset has
STANDARD_ERRORS = 5  # tolerance of a mean of random draws beside its expectation
PRINTED: Form = "as printed"
CHARITABLE: Form = "charitably read"
CORRECTED: Form = "corrected"
COUNTEREXAMPLE: Form = "counterexample"
EXTENSION: Form = "extension"
LIMIT: Form = "limit"
FORMS: tuple[Form, ...] = (PRINTED, CHARITABLE, CORRECTED, COUNTEREXAMPLE, EXTENSION, LIMIT)


@dataclass(frozen=True)
class Check:
    """Check that `computed` is (equal to, at most, at least) `expected`, within `tolerance`.

    The tolerance is absolute. A check with `doubt` decides nothing, whether it holds or not.
    """

    claim: str  # id of the claim within its paper, such as theorem_2_4
    what: str  # what was computed, in words
    computed: float
    relation: Relation
    expected: float
    tolerance: float
    form: Form = PRINTED
    data: Data = "none"
    stderr: float = 0.0  # of `computed`, if it is to be more than `CLEAR` of these from its bound
    users: int = 0  # test users, over whom `computed` is a mean
    at_rest: bool = True  # whether every fit behind `computed` has converged

    @property
    def holds(self) -> bool:
        """Whether the relation holds within the tolerance; false if `computed` is NaN."""
        excess = self.computed - self.expected
        if self.relation == "at most":
            return bool(excess <= self.tolerance)
        if self.relation == "at least":
            return bool(-excess <= self.tolerance)
        return bool(abs(excess) <= self.tolerance)

    @property
    def known(self) -> bool:
        """Whether `computed` is a finite number."""
        return math.isfinite(self.computed)

    @property
    def doubt(self) -> str:
        """Why the check cannot decide, such as `about 2,300 test users would tell`; else empty."""
        if not self.known:
            return ""
        if not self.at_rest:
            return "a fit is not at rest"
        needed = self.needed_users
        if needed <= self.users:
            return ""
        return (
            f"about {needed:,} test users would tell"
            if needed < ENOUGH
            else "no number of users would tell"
        )

    @property
    def needed_users(self) -> int:
        """Test users with whom the distance from the bound would be `CLEAR` standard errors.

        0 for a check without a standard error, to which the number of users does not matter.
        """
        if not self.stderr:
            return 0
        sign = {"at most": 1, "at least": -1, "equal to": 0}[self.relation]
        apart = abs(self.computed - self.expected - sign * self.tolerance)
        ratio = CLEAR * self.stderr / apart if apart else math.inf
        return ENOUGH if ratio**2 * self.users >= ENOUGH else math.ceil(ratio**2 * self.users)

    @property
    def verdict(self) -> str:
        """`holds`, `fails` or, for a check with a doubt, `undecided`."""
        return "undecided" if self.doubt else "holds" if self.holds else "fails"


def equal(
    claim: str,
    what: str,
    computed: SupportsFloat,
    expected: SupportsFloat = 0.0,
    tolerance: float = 1e-9,
    form: Form = PRINTED,
    data: Data = "none",
) -> Check:
    """Check that `computed` equals `expected` within an absolute tolerance."""
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
    """Check that `computed` exceeds `expected` by no more than the tolerance."""
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
    """Check that `computed` falls below `expected` by no more than the tolerance."""
    return Check(claim, what, float(computed), "at least", float(expected), tolerance, form, data)


def relative_distance(found: Matrix, wanted: Matrix) -> float:
    """‖found − wanted‖ / ‖wanted‖ in the Frobenius norm."""
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))
