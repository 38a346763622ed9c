"""Mianjy 2018, Section 3: global optima of networks whose two layers are free."""

import numpy as np
from scipy.linalg import expm
from scipy.optimize import least_squares, minimize

from lindrop.arrays import Matrix, Vector
from lindrop.checks import CORRECTED, Check, at_least, at_most, equal, relative_distance
from lindrop.dropout.as_printed import effective_rank_printed, value_at_rank
from lindrop.dropout.equalise import equalised
from lindrop.dropout.multistart import minima
from lindrop.dropout.objective import importance, path_regulariser, squared_norms
from lindrop.dropout.optimum import optimal_value, shrunk, top_singular
from lindrop.mianjy2018.problems import (
    COLUMNS,
    PRODUCT,
    ROWS,
    SETTINGS,
    STARTS,
    VALUE,
    WIDTHS,
    Case,
    optimum_checks,
    spread,
)

PROBLEMS = 400  # on which the printed ρ is tried
PAIRS, SEARCHES = 60, 20


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
        *_section_3(rotations),
        *_e7(data),
    ]


def _theorem_3_3(rng: np.random.Generator) -> list[Check]:
    changes, uneven = [], []
    for r in WIDTHS:
        u, v = rng.normal(size=(ROWS, r)), rng.normal(size=(COLUMNS, r))
        other_u, other_v = equalised(u, v)
        changes.append(relative_distance(other_u @ other_v.T, u @ v.T))
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
        products.append(relative_distance(ends[0].u @ ends[0].v.T, claimed))
        rho = effective_rank_printed(singular, r)
        printed.append(value_at_rank(m, singular, r, lam, rho) / ends[0].value - 1)
    return optimum_checks("theorem_3_6", values, products, printed)


def _bias_checks(cases: list[Case], rng: np.random.Generator) -> list[Check]:
    """The path regulariser is least among factorisations, and dropout favours a low rank."""
    least = [
        least_path_regulariser(case.best.u, case.best.v, rng)
        / path_regulariser(case.best.u, case.best.v)
        for case in cases
        if case.r < max(WIDTHS)
    ]
    products = [case.best.u @ case.best.v.T for case in cases if case.r == max(WIDTHS)]
    ranks = [int(np.linalg.matrix_rank(product, rtol=10 * PRODUCT)) for product in products]
    what = "least ψ₂ of descents over the factorisations of the optimal UV' / ψ₂ at the optimum"
    return [
        equal("contribution_1", what, min(least), 1, PRODUCT),
        at_most("remark_3_5", "largest rise of the optimum's rank with λ", max(np.diff(ranks)), 0),
        at_most("remark_3_5", "rank of the optimum at the largest λ, M's being 5", ranks[-1], 4),
    ]


def least_path_regulariser(u: Matrix, v: Matrix, rng: np.random.Generator) -> float:
    """Least ψ₂ of (UA, VA⁻ᵀ) that BFGS finds over invertible A."""
    r = u.shape[1]

    def psi(flat: Vector) -> float:
        mix = flat.reshape(r, r)
        return path_regulariser(u @ mix, v @ np.linalg.inv(mix).T)

    starts = (np.eye(r) + 0.3 * rng.normal(size=(r, r)) for _ in range(3))
    return min(float(minimize(psi, start.ravel(), options={"gtol": 1e-8}).fun) for start in starts)


def _section_3(rng: np.random.Generator) -> list[Check]:
    """ "It is not true in general that any pair is jointly equalizable." It is.

    The definition asks for an orthonormal frame on which ‖Ue‖‖Ve‖ is constant; every continuous
    function on a sphere has one (Kakutani; Yamabe and Yujobô 1950). Here rotations are searched.
    """
    missed = 0
    for r in (2, 3, 4, 5):
        for _ in range(PAIRS // 4):
            u, v = (rng.normal(size=(rows, r)) for rows in rng.integers(1, r + 1, 2))
            missed += joint_spread(u, v, rng) > VALUE
    what = f"of {PAIRS} random pairs, those that no rotation found equalises jointly"
    return [
        at_least("section_3", what, missed, 1),
        equal("section_3", what, missed, 0, form=CORRECTED),
    ]


def joint_spread(u: Matrix, v: Matrix, rng: np.random.Generator) -> float:
    """Least spread of ‖u_i‖²‖v_i‖² over rotations, of a few searches."""
    r = u.shape[1]
    upper = np.triu_indices(r, 1)

    def uneven(angles: Vector, start: Matrix) -> Vector:
        skew = np.zeros((r, r))
        skew[upper] = angles
        q = start @ expm(skew - skew.T)
        products = squared_norms(u @ q) * squared_norms(v @ q)
        return np.asarray(products / products.mean() - 1)

    best = np.inf
    for _ in range(SEARCHES):
        start = np.linalg.qr(rng.normal(size=(r, r)))[0]
        end = least_squares(uneven, np.zeros(len(upper[0])), args=(start,), xtol=1e-15, ftol=1e-15)
        best = min(best, float(np.abs(end.fun).max()))
        if best < VALUE:
            break
    return best


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
    ]
