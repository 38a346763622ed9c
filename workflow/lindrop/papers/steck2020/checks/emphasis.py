"""Steck 2020, Sections 4 and 4.1.1: how much of the diagonal of B the weights a, b leave (E1).

In Eq. 6, the squared error contains the diagonal of B times b/c and the penalty contains it times
√(ab)/c, with c = ap + bq.
"""

from itertools import product

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import CORRECTED, Check, at_least, at_most, equal, relative_distance
from lindrop.models.full_rank import emphasised_matrix
from lindrop.papers.steck2020.checks.full_rank import regressions
from lindrop.papers.steck2020.problems import (
    EXACT,
    ITEMS,
    Masked,
    enumerable,
    equation_6,
    noise,
    off,
)

P = 0.33
FULL = 1e-9  # the smallest b, at a = 1
LIMIT = 1e-6  # tolerance at that b, where linear systems are badly conditioned

GRID = np.linspace(0.01, 0.99, 99)  # values of p, and of b at a = 1
FALLING = np.array([1, *GRID[::-1], 1e-6])  # values of b at a = 1
LEFT = 1e-3  # largest factor that counts as vanished, at the smallest b


def checks(seed: int) -> list[Check]:
    """Checks of both factors for all p and b, and of the limit b → 0 in Eq. 6."""
    x = enumerable(np.random.default_rng(seed))
    return [
        _undetermined(x),
        *_fractions(),
        _equation_7(x),
        *_vanishing_diagonal(x),
        *_shares(),
        *_any_degree(),
    ]


def _undetermined(x: Matrix) -> Check:
    """Check of how many directions leave Eq. 6, a quadratic form of B, unchanged at b = 0."""
    units = np.eye(ITEMS**2).reshape(-1, ITEMS, ITEMS)
    alone = np.array([equation_6(x, unit, P, 1, 0) for unit in units])
    pairs = [equation_6(x, one + other, P, 1, 0) for one, other in product(units, units)]
    hessian = np.reshape(pairs, (ITEMS**2, -1)) - alone - alone[:, None] + np.sum(x**2)
    values = np.linalg.eigvalsh(hessian)
    what = "zero eigenvalues of the Hessian of Eq. 6 at b = 0, per feature"
    free = np.count_nonzero(np.abs(values) < EXACT * values[-1])
    return equal("section_4_1_1_undetermined", what, free / ITEMS, 1, 0)


def _fractions() -> list[Check]:
    def shares(b: float) -> tuple[float, float]:
        """Factors of the diagonal in the squared error and in the penalty of Eq. 6, for a = 1."""
        mean = P + b * (1 - P)
        return b / mean, np.sqrt(b) / mean

    claim, what = "section_4_1_1_fractions", "b from 1e-9 to 1e-11: factor of what is left in the"
    (squared, penalty), (less_squared, less_penalty) = shares(FULL), shares(FULL / 100)
    return [
        equal(claim, f"{what} squared error", less_squared / squared, 1 / 100, LIMIT),
        equal(claim, f"{what} penalty", less_penalty / penalty, 1 / 10, LIMIT),
    ]


def _equation_7(x: Matrix) -> Check:
    sampled = off(Masked(x, P).minimiser(1, FULL))
    what = "every mask, b = 1e-9: distance of the off-diagonal best to the regressions on others"
    return equal("equation_7", what, relative_distance(sampled, regressions(x, P)), 0, LIMIT)


def _vanishing_diagonal(x: Matrix) -> list[Check]:
    """Checks of E1: the diagonal of the minimiser does not vanish as b → 0.

    With one feature and one user, it is q at every b > 0.
    """
    enumerated = np.diag(Masked(x, P).minimiser(1, FULL))
    closed = np.diag(emphasised_matrix(x.T @ x, P, 0.0, 1.0, FULL))
    single = float(Masked(np.ones((1, 1)), P).minimiser(1, FULL)[0, 0])
    limit = limit_of_diagonal(x)
    what = f"p = {P}, b = 1e-9: "
    return [
        equal("e1", f"{what}smallest diagonal entry, every mask", enumerated.min(), 0, 1e-3),
        equal("e1", f"{what}the only entry for X = 1, every mask", single, 0, 1e-3),
        equal(
            "e1",
            f"{what}diagonal over p (1/(Λ_i C_ii) − 1), every mask, the farthest from 1",
            _far(enumerated / limit),
            1,
            LIMIT,
            CORRECTED,
        ),
        equal(
            "e1",
            f"{what}the same of the closed form at any b",
            _far(closed / limit),
            1,
            LIMIT,
            CORRECTED,
        ),
        equal("e1", f"{what}the only entry for X = 1", single, 1 - P, LIMIT, CORRECTED),
    ]


def limit_of_diagonal(x: Matrix) -> Vector:
    """Limit of the minimiser's diagonal as b → 0: p (1/(Λ_i C_ii) − 1)."""
    strength = noise(x, P)
    c = np.linalg.inv(x.T @ x + np.diag(strength))
    return np.asarray(P * (1 / (strength * np.diag(c)) - 1))


def _far(ratios: Vector) -> float:
    """The ratio that is farthest from 1."""
    return float(ratios[np.argmax(np.abs(ratios - 1))])


def _shares() -> list[Check]:
    """Checks that both factors of the diagonal are at most 1.

    The factor in the penalty is at most 1 only if p ≥ √b/(√a + √b), which the paper overlooks.
    """
    p, b = np.meshgrid(GRID, GRID)
    mean, least = p + b * (1 - p), np.sqrt(b) / (1 + np.sqrt(b))
    squared, penalty = b / mean, np.sqrt(b) / mean
    much, little = penalty[p >= least].max(), penalty[p < least].min()
    claim, share = "section_4_fractions", "share of the diagonal left in"
    more = f"smallest {share} the penalty over that in the squared error"
    smallest = (penalty / squared).min()
    return [
        at_most(claim, f"largest {share} the squared error", squared.max(), 1),
        at_most(claim, f"largest {share} the penalty", penalty.max(), 1),
        at_most(
            claim,
            f"largest {share} the penalty where p ≥ √b/(√a + √b)",
            much,
            1,
            EXACT,
            CORRECTED,
        ),
        at_least(claim, f"smallest {share} the penalty at a smaller p", little, 1, 0, CORRECTED),
        at_least("section_4_more", more, smallest, 1),
    ]


def _any_degree() -> list[Check]:
    p = GRID[:, None]
    shares = FALLING / (p + FALLING * (1 - p))
    rise, last = np.diff(shares, axis=1).max(), shares[:, -1].max()
    claim, share = "section_4_any_degree", "share of the diagonal left in the squared error"
    return [
        equal(claim, f"smallest {share} at b = a", shares[:, 0].min(), 1, EXACT),
        at_most(claim, f"largest rise of the {share} as b falls to 0", rise, 0),
        equal(claim, f"largest {share} at b = 1e-6 a", last, 0, LEFT),
    ]
