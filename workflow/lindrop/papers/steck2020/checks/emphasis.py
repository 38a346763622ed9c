"""Steck 2020, Sections 4 and 4.1.1: how much of the diagonal of B the weights a, b leave (E1).

In Eq. 6, the squared error contains the diagonal of B times b/c and the penalty contains it times
√(ab)/c, with c = ap + bq. Both fractions are measured here from the loss over every mask.
"""

from itertools import product

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import (
    CORRECTED,
    LIMIT,
    Check,
    at_least,
    at_most,
    equal,
    relative_distance,
)
from lindrop.models.full_rank import emphasised_matrix
from lindrop.papers.steck2020.checks.full_rank import regressions
from lindrop.papers.steck2020.problems import (
    EXACT,
    ITEMS,
    Masked,
    enumerable,
    equation_6,
    induced_penalty,
    left_of_diagonal,
    noise,
    off,
    ratio,
)

P = 0.33
FULL = 1e-9  # the smallest b, at a = 1
RIDGE = 1.0  # λ of Table 1's Λ̃ = Λ + λI
NEAR = 1e-6  # tolerance at that b, where linear systems are badly conditioned

DROPOUTS = 0.1, 0.3, 0.5, 0.8
WEIGHTS = (1.0, 0.8), (1.0, 0.5), (2.0, 0.05)  # (a, b) of Eq. 1, a > b
FALLING = 1.0, 0.8, 0.5, 0.2, 0.05, 1e-3, 1e-6  # values of b at a = 1
SMALL = 1e-4, 1e-6  # values of b at which proportions are compared
NEARLY = 1e-3  # relative error of a proportion at these b, and largest fraction that has vanished
SEEN = 0.1  # least change of a fraction with p that counts


def checks(seed: int) -> list[Check]:
    """Checks of both fractions for several p and b, and of the limit b → 0 in Eq. 6."""
    x = enumerable(np.random.default_rng(seed))
    return [
        _undetermined(x),
        *_proportions(x),
        _equation_7(x),
        *_vanishing_diagonal(x),
        *_fractions(x),
        *_any_degree(x),
        *_decoupled(x),
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


def _proportions(x: Matrix) -> list[Check]:
    claim, what = "section_4_1_1_fractions", "every mask, b from 1e-4 to 1e-6: what is left in the"
    (squared, penalty), (less_squared, less_penalty) = (left_of_diagonal(x, P, 1, b) for b in SMALL)
    return [
        equal(
            claim,
            f"{what} squared error, times 100, over what was",
            _far(100 * less_squared / squared),
            1,
            NEARLY,
        ),
        equal(
            claim,
            f"{what} penalty, times 10, over what was",
            _far(10 * less_penalty / penalty),
            1,
            NEARLY,
        ),
    ]


def _equation_7(x: Matrix) -> Check:
    sampled = off(Masked(x, P).minimiser(1, FULL))
    what = "every mask, b = 1e-9: distance of the off-diagonal best to the regressions on others"
    return equal("equation_7", what, relative_distance(sampled, regressions(x, P)), 0, NEAR)


def _vanishing_diagonal(x: Matrix) -> list[Check]:
    """Checks of E1: the diagonal of the minimiser does not vanish as b → 0.

    With one feature and one user, it is q at every b > 0.
    """
    enumerated = np.diag(Masked(x, P).minimiser(1, FULL))
    closed = np.diag(emphasised_matrix(x.T @ x, P, 0.0, 1.0, FULL))
    single = float(Masked(np.ones((1, 1)), P).minimiser(1, FULL)[0, 0])
    limit = limit_of_diagonal(x)
    held = np.abs(np.diag(Masked(x, P).minimiser(1, FULL, ridge=1.0))).max()
    what = f"p = {P}, b = 1e-9 for b → 0: "
    return [
        equal("e1", f"{what}smallest diagonal entry, every mask", enumerated.min(), 0, 1e-3),
        equal(
            "e1",
            f"{what}diagonal over q × share left unexplained, every mask, the farthest from 1",
            _far(enumerated / ((1 - P) * unexplained(x))),
            1,
            NEAR,
            CORRECTED,
        ),
        equal(
            "e1",
            f"{what}the closed form at any b, over p (1/(Λ_ii C_ii) − 1), the farthest from 1",
            _far(closed / limit),
            1,
            NEAR,
            CORRECTED,
        ),
        equal("e1", f"{what}the only entry for X = 1", single, 1 - P, NEAR, CORRECTED),
        equal(
            "e1",
            f"{what}largest diagonal entry with ‖B‖² beside the loss",
            held,
            0,
            NEAR,
            CORRECTED,
        ),
        equal(
            "e1",
            f"{what}diagonal of Eq. 6 with Λ + λI for Λ, λ = {RIDGE:g}, "
            "over p (1/((Λ_ii + λ) C_ii) − 1), the farthest from 1",
            _far(_diagonal_of_equation_6(x, RIDGE) / limit_of_diagonal(x, RIDGE)),
            1,
            NEAR,
            CORRECTED,
        ),
    ]


def _diagonal_of_equation_6(x: Matrix, ridge: float) -> Vector:
    """Diagonal of the minimiser of Eq. 6 near b = 0 with Λ + λI for Λ, by normal equations."""
    gram, strength, mean = x.T @ x, noise(x, P) + ridge, P + FULL * (1 - P)
    found = []
    for i in range(ITEMS):
        own = np.arange(ITEMS) == i
        squared, penalty = np.where(own, FULL / mean, 1), np.where(own, np.sqrt(FULL) / mean, 1)
        matrix = squared[:, None] * gram * squared + np.diag(penalty**2 * strength)
        found.append(np.linalg.solve(matrix, squared * gram[:, i])[i])
    return np.array(found)


def unexplained(x: Matrix) -> Vector:
    """Share of each feature that Eq. 8 leaves unexplained by the others under dropout."""
    gram = x.T @ x
    return np.asarray(1 - np.sum(gram * regressions(x, P), axis=0) / np.diag(gram))


def limit_of_diagonal(x: Matrix, ridge: float = 0.0) -> Vector:
    """Limit of the minimiser's diagonal as b → 0: p (1/(Λ_i C_ii) − 1), with Λ + λI for Λ."""
    strength = noise(x, P) + ridge
    c = np.linalg.inv(x.T @ x + np.diag(strength))
    return np.asarray(P * (1 / (strength * np.diag(c)) - 1))


def _far(ratios: Vector) -> float:
    """The ratio that is farthest from 1."""
    return float(ratios.flat[np.argmax(np.abs(ratios - 1))])


def _fractions(x: Matrix) -> list[Check]:
    """Checks of b/(ap + bq) and √(ab)/(ap + bq), which in the penalty can be more than 1.

    It is more than 1 if p < √b/(√a + √b).
    """
    errors, penalties, over = [], [], []
    much: list[Vector] = []
    little: list[Vector] = []
    for p, (a, b) in product(DROPOUTS, WEIGHTS):
        squared, penalty = left_of_diagonal(x, p, a, b)
        scale = a * p + b * (1 - p)
        errors.append(np.abs(squared - b / scale).max())
        penalties.append(np.abs(penalty - np.sqrt(a * b) / scale).max())
        over.append((penalty / squared).min())
        (much if p < np.sqrt(b) / (np.sqrt(a) + np.sqrt(b)) else little).append(penalty)
    claim, left = "section_4_fractions", "every mask: fraction of the diagonal left in the"
    more = "every mask, a > b: smallest fraction left in the penalty over that in the squared error"
    below = f"{left} penalty, p below √b/(√a + √b), the smallest"
    above = f"{left} penalty, p above √b/(√a + √b), the largest"
    return [
        equal(claim, f"{left} squared error, less b/(ap + bq)", max(errors), 0, EXACT),
        equal(claim, f"{left} penalty, less √(ab)/(ap + bq)", max(penalties), 0, EXACT),
        at_least(claim, below, np.min(much), 1, 0, LIMIT),
        at_most(claim, above, np.max(little), 1),
        at_least("section_4_more", more, min(over), 1),
    ]


def _any_degree(x: Matrix) -> list[Check]:
    shares = np.array(
        [[left_of_diagonal(x, p, 1, b)[0] for b in FALLING] for p in DROPOUTS]
    )  # p × b × features
    rise, last = np.diff(shares, axis=1).max(), shares[:, -1].max()
    claim, share = "section_4_any_degree", "fraction of the diagonal left in the squared error"
    return [
        equal(
            claim, f"every mask: {share} at b = a, farthest from 1", _far(shares[:, 0]), 1, EXACT
        ),
        at_most(claim, f"every mask: largest rise of the {share} as b falls to 0", rise, 0),
        equal(claim, f"every mask: largest {share} at b = 1e-6 a", last, 0, NEARLY),
    ]


def _decoupled(x: Matrix) -> list[Check]:
    """Checks of what p and what a and b control: penalty off the diagonal, and diagonal.

    Between the two ends b = a and b = 0, what is left of the diagonal depends on p, too.
    """
    strengths = [
        relative_distance(induced_penalty(x, p, a, b), ratio(p) * np.sum(x**2, axis=0))
        for p, (a, b) in product(DROPOUTS, (*WEIGHTS, (1.0, 1.0), (1.0, 0.0)))
    ]
    ends = {b: np.array([left_of_diagonal(x, p, 1, b)[0] for p in DROPOUTS]) for b in (1, 0, 0.5)}
    claim, of = "section_4_decoupled", "every mask, several p:"
    left = f"{of} fraction of the diagonal left in the squared error"
    return [
        equal(
            claim,
            f"{of} relative distance to (p/q) diag(X'X) of the penalty off the diagonal, any a, b",
            max(strengths),
            0,
            EXACT,
        ),
        equal(claim, f"{left} at b = a, farthest from 1", _far(ends[1]), 1, EXACT),
        equal(claim, f"{left} at b = 0, the largest", np.abs(ends[0]).max(), 0, EXACT),
        at_least(claim, f"{left} at b = a/2, range over p", np.ptp(ends[0.5]), SEEN, 0, LIMIT),
    ]
