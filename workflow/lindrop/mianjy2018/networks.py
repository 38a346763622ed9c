"""Mianjy 2018, Section 3: global optima of networks whose two layers are free."""

import numpy as np

from lindrop.checks import CORRECTED, Check, at_least, at_most, equal
from lindrop.dropout.as_printed import effective_rank_printed, value_at_rank
from lindrop.dropout.equalise import equalised
from lindrop.dropout.multistart import minima
from lindrop.dropout.objective import importance, path_regulariser, squared_norms
from lindrop.dropout.optimum import optimal_value, shrunk, top_singular
from lindrop.mianjy2018.descents import (
    COLUMNS,
    PRODUCT,
    ROWS,
    SETTINGS,
    STARTS,
    VALUE,
    WIDTHS,
    Case,
    distance,
    optimum_checks,
    spread,
)

PROBLEMS = 400  # on which the printed ρ is tried


def network_checks(seed: int) -> list[Check]:
    """Every check of this file."""
    data, descent, rotations = np.random.default_rng(seed).spawn(3)
    m = data.normal(size=(ROWS, COLUMNS))
    cases = [Case(m, r, lam, minima(m, r, lam, STARTS, descent)) for r, lam in SETTINGS]
    return [
        *_theorem_3_3(rotations),
        *_theorem_3_4(cases, rotations),
        *_theorem_3_6(cases),
        *_bias_checks(cases, rotations),
        *_e7(data),
    ]


def _theorem_3_3(rng: np.random.Generator) -> list[Check]:
    changes, uneven = [], []
    for r in WIDTHS:
        u, v = rng.normal(size=(ROWS, r)), rng.normal(size=(COLUMNS, r))
        other_u, other_v = equalised(u, v)
        changes.append(distance(other_u @ other_v.T, u @ v.T))
        share = np.linalg.norm(u @ v.T, "nuc") / r
        norms = np.concatenate((squared_norms(other_u), squared_norms(other_v)))
        uneven.append(np.abs(norms / share - 1).max())
    return [
        equal("theorem_3_3", "change of UV' by equalising, relative", max(changes), 0, 1e-12),
        equal("theorem_3_3", "distance of ‖u_i‖², ‖v_i‖² to ‖UV'‖_*/r", max(uneven), 0, 1e-12),
    ]


def _theorem_3_4(cases: list[Case], rng: np.random.Generator) -> list[Check]:
    """The claim, and the step of its proof that fails: equalised networks need not be balanced."""
    uneven, excess = [], []
    for case in cases:
        for end in case.reached:
            scores = importance(end.u, end.v)
            nuclear = np.linalg.norm(end.u @ end.v.T, "nuc")
            uneven.append(spread(scores))
            excess.append(abs(scores @ scores / (nuclear**2 / case.r) - 1))
    u, v = (rng.normal(size=(rows, 4)) for rows in (ROWS, COLUMNS))
    jointly = u / importance(u, v)  # the products of norms are 1, which is all the definition asks
    sum_of_scores = importance(jointly, v).sum()
    step = sum_of_scores / np.linalg.norm(jointly @ v.T, "nuc")
    what = "global optima from random starts"
    return [
        equal("theorem_3_4", f"{what}: spread of importance scores", max(uneven), 0, PRODUCT),
        equal("theorem_3_4", f"{what}: error of R = (λ/r)‖UV'‖_*²", max(excess), 0, VALUE),
        equal(
            "theorem_3_4_proof",
            "a random jointly equalised network: Σ‖u_i‖‖v_i‖ / ‖UV'‖_*",
            step,
            1,
            1e-12,
        ),
    ]


def _theorem_3_6(cases: list[Case]) -> list[Check]:
    values, products, printed = [], [], []
    for m, r, lam, ends in cases:
        left, singular, right = top_singular(m, r)
        claimed = left * shrunk(singular, r, lam) @ right.T
        values.append(abs(ends[0].value / optimal_value(m, r, lam) - 1))
        products.append(distance(ends[0].u @ ends[0].v.T, claimed))
        rho = effective_rank_printed(singular, r)
        printed.append(value_at_rank(m, singular, r, lam, rho) / ends[0].value - 1)
    return optimum_checks("theorem_3_6", values, products, printed)


def _bias_checks(cases: list[Case], rng: np.random.Generator) -> list[Check]:
    """The path regulariser is least among factorisations, and dropout favours a low rank."""
    least = []
    for case in cases:
        psi = path_regulariser(case.best.u, case.best.v)
        for _ in range(20):
            mix = rng.normal(size=(case.r, case.r))
            other = path_regulariser(case.best.u @ mix, case.best.v @ np.linalg.inv(mix).T)
            least.append(other / psi)
    products = [case.best.u @ case.best.v.T for case in cases if case.r == max(WIDTHS)]
    ranks = [int(np.linalg.matrix_rank(product, rtol=10 * PRODUCT)) for product in products]
    return [
        at_least(
            "contribution_1",
            "least ψ₂ of random factorisations of the optimal UV' / ψ₂ at the optimum",
            min(least),
            1,
            PRODUCT,
        ),
        at_most("remark_3_5", "largest rise of the optimum's rank with λ", max(np.diff(ranks)), 0),
        at_most("remark_3_5", "rank of the optimum at the largest λ, M's being 5", ranks[-1], 4),
    ]


def _e7(rng: np.random.Generator) -> list[Check]:
    """How often, and by how much, the printed ρ misses."""
    excess = []
    for _ in range(PROBLEMS):
        m = rng.normal(size=(ROWS, COLUMNS)) * rng.choice((0.3, 1, 5))
        r, lam = int(rng.integers(1, max(WIDTHS) + 1)), float(rng.choice((0.1, 1, 10)))
        values = top_singular(m, r).values
        rho = effective_rank_printed(values, r)
        excess.append(value_at_rank(m, values, r, lam, rho) / optimal_value(m, r, lam) - 1)
    missed = np.count_nonzero(np.array(excess) > VALUE)
    return [
        equal("e7", f"of {PROBLEMS} random problems, those that the printed ρ misses", missed),
        equal("e7", "largest excess of f at the printed ρ, relative", max(excess), 0, VALUE),
        at_least(
            "e7",
            "smallest excess, relative: none is below the corrected",
            min(excess),
            0,
            VALUE,
            CORRECTED,
        ),
    ]
