"""Mianjy 2018, Section 3: global optima of networks whose two layers are free."""

from collections.abc import Iterator

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import CORRECTED, Check, at_least, equal, relative_distance
from lindrop.dropout.as_printed import effective_rank_printed, value_at_rank
from lindrop.dropout.equalise import equalised, equalised_factors
from lindrop.dropout.multistart import minima
from lindrop.dropout.objective import importance, squared_norms
from lindrop.dropout.optimum import optimal_value, shrunk, top_singular
from lindrop.papers.mianjy2018.bias import bias_checks
from lindrop.papers.mianjy2018.problems import (
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

PAIRS = 20


def checks(seed: int) -> list[Check]:
    """Every check of this file."""
    data, descent, rotations = np.random.default_rng(seed).spawn(3)
    m = data.normal(size=(ROWS, COLUMNS))
    cases = [Case(m, r, lam, minima(m, r, lam, STARTS, descent)) for r, lam in SETTINGS]
    return [
        *_theorem_3_3(rotations),
        *_theorem_3_4(cases, rotations),
        *_theorem_3_6(cases),
        *bias_checks(cases, rotations),
    ]


def _theorem_3_3(rng: np.random.Generator) -> Iterator[Check]:
    """The proof's compact SVD has rank(UV') columns: they must be padded with zeros to r (E8)."""
    changes, norms, compact = [], [], []
    for r in WIDTHS:
        u, v = rng.normal(size=(ROWS, r)), rng.normal(size=(COLUMNS, r))
        other = equalised(u, v)
        changes.append(relative_distance(other[0] @ other[1].T, u @ v.T))
        norms.append(_share_error(u @ v.T, r, *other))
        left, values, right = np.linalg.svd(u @ v.T)
        rank = min(r, ROWS, COLUMNS)
        bare = equalised_factors(left[:, :rank], values[:rank], right[:rank].T, rank)
        compact.append(_share_error(u @ v.T, r, *bare))
    what = f"r = {WIDTHS}, products of rank up to {COLUMNS}: largest relative"
    yield equal("theorem_3_3", f"{what} change of UV' by equalising", max(changes), 0, 1e-12)
    what = f"{what} distance of ‖u_i‖², ‖v_i‖² to ‖UV'‖_*/r"
    yield equal("theorem_3_3", what, max(norms), 0, 1e-12)
    yield equal("theorem_3_3_proof", f"{what}, compact SVD", max(compact), 0, 1e-12)
    yield equal("theorem_3_3_proof", f"{what}, r columns", max(norms), 0, 1e-12, CORRECTED)


def _share_error(product: Matrix, r: int, u: Matrix, v: Matrix) -> float:
    """Largest relative distance of a squared column norm to ‖UV'‖_*/r."""
    norms = np.concatenate((squared_norms(u), squared_norms(v)))
    return float(np.abs(norms / (np.linalg.norm(product, "nuc") / r) - 1).max())


def _theorem_3_4(cases: list[Case], rng: np.random.Generator) -> Iterator[Check]:
    """The claim, and the step of its proof that fails: equalised networks need not be balanced.

    The nuclear norm's triangle inequality, Σ‖u_i‖‖v_i‖ ≥ ‖UV'‖_*, mends it: R ≥ (λ/r)‖UV'‖_*²,
    which the network of Theorem 3.3 attains.
    """
    ends = [(case.r, end) for case in cases for end in case.reached]
    scores = [importance(end.u, end.v) for _, end in ends]
    nuclear = [nuclear_norm(end.u, end.v) for _, end in ends]
    excess = [
        abs(each @ each / (norm**2 / r) - 1)
        for (r, _), each, norm in zip(ends, scores, nuclear, strict=True)
    ]
    what = f"{len(ends)} global optima from random starts:"
    uneven = max(map(spread, scores))
    yield equal("theorem_3_4", f"{what} spread of importance scores", uneven, 0, PRODUCT)
    yield equal("theorem_3_4", f"{what} error of R = (λ/r)‖UV'‖_*²", max(excess), 0, VALUE)
    ratios = [importance(*pair).sum() / nuclear_norm(*pair) for pair in jointly_equalised(rng)]
    what = f"{len(ratios)} random jointly equalised networks: Σ‖u_i‖‖v_i‖ / ‖UV'‖_*"
    yield equal("theorem_3_4_proof", f"{what}, largest", max(ratios), 1, 1e-12)
    yield at_least("theorem_3_4_proof", f"{what}, smallest", min(ratios), 1, form=CORRECTED)
    at_optima = [each.sum() / norm - 1 for each, norm in zip(scores, nuclear, strict=True)]
    what = f"the same at {len(ends)} global optima: largest distance to 1"
    yield equal("theorem_3_4_proof", what, np.abs(at_optima).max(), 0, VALUE, CORRECTED)


def nuclear_norm(u: Matrix, v: Matrix) -> float:
    """‖UV'‖_*."""
    return float(np.linalg.norm(u @ v.T, "nuc"))


def jointly_equalised(rng: np.random.Generator) -> Iterator[tuple[Matrix, Matrix]]:
    """Random networks whose products of norms are 1: the definition asks for no more."""
    for r in WIDTHS:
        for _ in range(PAIRS):
            u, v = (rng.normal(size=(rows, r)) for rows in (ROWS, COLUMNS))
            yield u / importance(u, v), v


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
