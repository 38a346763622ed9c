"""Mianjy 2018, Section 2: global optima with tied weights (Theorems 2.3, 2.4 and Remark 2.5)."""

from collections.abc import Iterator

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import EXTENSION, Check, equal, relative_distance
from lindrop.dropout.multistart import descents, tied_minima
from lindrop.dropout.objective import squared_norms, tied_gradient, tied_objective
from lindrop.dropout.optimum import shrunk, tied_optimal_value, top_eigen
from lindrop.papers.mianjy2018.problems import (
    COLUMNS,
    PRODUCT,
    SETTINGS,
    STARTS,
    VALUE,
    Case,
    optimum_checks,
    spread,
)

INDEFINITE = np.diag([2.0, -1.5, 0.5])


def checks(seed: int) -> list[Check]:
    """Checks of the ends of descents from random starts, for several r and λ.

    The proofs take M to be symmetric and positive semidefinite, so that its singular values are its
    eigenvalues. What holds for every M is checked on one that is not symmetric, too.
    """
    data, descent = np.random.default_rng(seed).spawn(2)
    factor = data.normal(size=(COLUMNS, COLUMNS)) / np.sqrt(2)
    definite = _cases(factor @ factor.T, descent)
    slanted = _cases(data.normal(size=(COLUMNS, COLUMNS)) + 2 * np.eye(COLUMNS), descent)
    return [
        *_theorem_2_3([*definite, *slanted]),
        *optimum_checks("theorem_2_4", definite, _least),
        *_every_m([*slanted, *_cases(INDEFINITE, descent)]),
        *_remark_2_5(definite, descent),
    ]


def _cases(m: Matrix, rng: np.random.Generator) -> list[Case]:
    return [Case(m, r, lam, tied_minima(m, r, lam, STARTS, rng)) for r, lam in SETTINGS]


def _least(case: Case) -> float:
    return tied_optimal_value(case.m, case.r, case.lam)


def _theorem_2_3(cases: list[Case]) -> list[Check]:
    uneven, excess = [], []
    for case in cases:
        for end in case.reached:
            norms = squared_norms(end.u)
            uneven.append(spread(norms))
            excess.append(abs(norms @ norms / (norms.sum() ** 2 / case.r) - 1))
    what = "global optima from random starts"
    return [
        equal("theorem_2_3", f"{what}: spread of squared column norms", max(uneven), 0, PRODUCT),
        equal("theorem_2_3", f"{what}: error of R = (λ/r)‖U‖⁴, relative", max(excess), 0, VALUE),
    ]


def _every_m(cases: list[Case]) -> Iterator[Check]:
    """Checks of what holds for every M: its part is played by (M + M')/2.

    The positive eigenvalues of (M + M')/2 take the place of the singular values of M.
    """
    values = [abs(case.best.value / _least(case) - 1) for case in cases]
    products = []
    for case in cases:
        vectors, eigenvalues, _ = top_eigen(case.m, case.r)
        claimed = vectors * shrunk(eigenvalues, case.r, case.lam) @ vectors.T
        products.append(relative_distance(case.best.u @ case.best.u.T, claimed))
    what = f"{len(cases)} problems, M not symmetric or with negative eigenvalues: relative distance"
    yield equal("theorem_2_4", f"{what} of UU'", max(products), 0, PRODUCT, EXTENSION)
    yield equal("theorem_2_4", f"{what} of f to its least", max(values), 0, VALUE, EXTENSION)


def _remark_2_5(cases: list[Case], rng: np.random.Generator) -> list[Check]:
    """Check that Problems 4 and 5 have the same least value.

    The regulariser of Problem 5 is (λ/r)‖U‖⁴, which never exceeds that of Problem 4.
    """
    distances = []
    for m, r, lam, ends in cases:

        def value_and_slope(
            flat: Vector, m: Matrix = m, r: int = r, lam: float = lam
        ) -> tuple[float, Vector]:
            u = flat.reshape(-1, r)
            size = np.sum(u**2)
            slope = tied_gradient(m, u, 0.0) + 4 * lam / r * size * u
            return tied_objective(m, u, 0.0) + lam / r * size**2, slope.ravel()

        least = descents(value_and_slope, len(m) * r, 3, rng)[0][0]
        distances.append(abs(least / ends[0].value - 1))
    what = "distance of the least values of Problems 4 and 5, relative"
    return [equal("remark_2_5", what, max(distances), 0, VALUE)]
