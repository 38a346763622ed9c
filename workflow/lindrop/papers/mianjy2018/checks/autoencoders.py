"""Mianjy 2018, Section 2: global optima with tied weights (Theorems 2.3, 2.4 and Remark 2.5)."""

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import CORRECTED, Check, equal, relative_distance
from lindrop.dropout.multistart import descents, tied_minima
from lindrop.dropout.objective import squared_norms, tied_gradient, tied_objective
from lindrop.dropout.optimum import optimal_value, shrunk, tied_optimal_value, top_eigen
from lindrop.papers.mianjy2018.as_printed import effective_rank_printed, value_at_rank
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
    """Checks of the ends of descents from random starts, for several r and λ."""
    data, descent = np.random.default_rng(seed).spawn(2)
    # M is not symmetric, as E[yx'] need not be, and few of its eigenvalues are negative
    m = data.normal(size=(COLUMNS, COLUMNS)) + 2 * np.eye(COLUMNS)
    cases = [Case(m, r, lam, tied_minima(m, r, lam, STARTS, descent)) for r, lam in SETTINGS]
    return [
        *_theorem_2_3(cases),
        *_theorem_2_4(cases, descent),
        *_remark_2_5(cases, descent),
    ]


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


def _theorem_2_4(cases: list[Case], rng: np.random.Generator) -> list[Check]:
    """Checks of Theorem 2.4: its λ_i(M) must be positive eigenvalues, not singular values."""
    values, products, printed = [], [], []
    for m, r, lam, ends in cases:
        best = ends[0]
        vectors, eigenvalues, _ = top_eigen(m, r)
        claimed = vectors * shrunk(eigenvalues, r, lam) @ vectors.T
        values.append(abs(best.value / tied_optimal_value(m, r, lam) - 1))
        products.append(relative_distance(best.u @ best.u.T, claimed))
        rho = effective_rank_printed(eigenvalues, r)
        printed.append(value_at_rank(m, eigenvalues, r, lam, rho) / best.value - 1)
    r, lam = len(INDEFINITE), 0.5
    least = tied_minima(INDEFINITE, r, lam, STARTS, rng)[0].value
    what = "M = dMat(2, −1.5, 0.5): corrected f / least f of descents, by"
    return [
        *optimum_checks("theorem_2_4", values, products, printed),
        equal(
            "theorem_2_4",
            f"{what} singular values",
            optimal_value(INDEFINITE, r, lam) / least,
            1,
            VALUE,
        ),
        equal(
            "theorem_2_4",
            f"{what} positive eigenvalues",
            tied_optimal_value(INDEFINITE, r, lam) / least,
            1,
            VALUE,
            CORRECTED,
        ),
    ]


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
