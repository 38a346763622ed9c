"""Pal 2020, Section 2.3: lower bounds of f, and properties of the k-support norm.

f is DropBlock's objective of the weights (Eq. 8), F and F̄ its lower bounds as functions of the
prediction A (Eq. 10, 12), Λ the regulariser of A.
"""

from collections.abc import Iterator

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import CORRECTED, Check, at_least, at_most, equal
from lindrop.dropout.dropblock import balanced_factors, objective, squared_block_norms
from lindrop.dropout.k_support import (
    dual_norm,
    falling,
    prox,
    rho_of,
    spectral_regulariser,
    squared_norm,
    squared_norm_printed,
)
from lindrop.papers.pal2020.references import (
    COLUMNS,
    INPUTS,
    ROWS,
    Problem,
    conjugate_norm,
    conjugate_point,
    full_inputs,
    near_one,
)
from lindrop.papers.pal2020.small_net import ROUNDING

PROBLEMS = 400
DRAWN = 100
WIDEST = 8  # largest number of blocks of random weights
NOISE = 1e-6
STRENGTHS = np.geomspace(1e-3, 1e6, 40)  # values of β
OUTSIDE = 1.01  # least norm of a point that is certainly outside the unit ball


def checks(seed: int) -> list[Check]:
    """Checks of F ≤ F̄ ≤ f (Eq. 10 and 12), of the k-support norm, and of the rank of A*."""
    data, factors = np.random.default_rng(seed).spawn(2)
    problems = [Problem.random(data) for _ in range(PROBLEMS)]
    return [
        *_bounds(factors),
        *_full_rank(data),
        *_k_support(problems),
        *_elastic_net(problems),
        *_between_norms(problems),
        *_low_rank(problems),
    ]


def _bounds(rng: np.random.Generator) -> Iterator[Check]:
    """Checks of F ≤ F̄ ≤ f at random weights of several widths, and at factors that attain Λ."""
    r, beta = 2, 0.5
    y, x = rng.normal(size=(ROWS, COLUMNS)), full_inputs(INPUTS, COLUMNS, rng)
    of_f, of_envelope, attained = [], [], []
    for blocks in rng.integers(1, WIDEST + 1, size=DRAWN):
        u, v = (rng.normal(size=(rows, blocks * r)) for rows in (ROWS, INPUTS))
        a = u @ v.T @ x
        error = float(np.sum((y - a) ** 2))
        bound = error + spectral_regulariser(a, r, beta)
        envelope = error + beta * conjugate_norm(np.linalg.svd(a, compute_uv=False), r)
        of_f.append(objective(y, x, u, v, r, beta) / bound)
        of_envelope.append(envelope / bound)
        attained.append(objective(y, x, *balanced_factors(a, x, r), r, beta) / bound)
    what = f"{DRAWN} random pairs (U, V)"
    yield at_least("equation_10", f"f / F̄(UV'X) of {what}, the least", min(of_f), 1, ROUNDING)
    yield near_one("equation_10", f"f / F̄ of factors that attain Λ, products of {what}", attained)
    largest = max(of_envelope)
    yield at_most("equation_12", f"F / F̄, products of {what}, the largest", largest, 1, ROUNDING)
    least = min(np.array(of_f) / of_envelope)
    yield at_least("equation_12", f"f / F of {what}, the least", least, 1, ROUNDING)


def _full_rank(rng: np.random.Generator) -> Iterator[Check]:
    """Checks that noise gives X full rank.

    Its columns stay dependent if there are more samples than inputs (E14).
    """
    claim = "section_2_3_full_rank"
    for rows in (INPUTS, COLUMNS - 2):
        x = rng.normal(size=(rows, 2)) @ rng.normal(size=(2, COLUMNS))
        rank = np.linalg.matrix_rank(x + NOISE * rng.normal(size=x.shape))
        what = f"rank of X of {rows} rows, {COLUMNS} columns and rank 2 with noise of {NOISE:g}"
        yield equal(claim, what, rank, COLUMNS, 0)
        most = min(rows, COLUMNS)
        yield equal(claim, f"{what}, less the smaller side", rank - most, 0, 0, CORRECTED)


def _k_support(problems: list[Problem]) -> Iterator[Check]:
    """Checks of Eq. 11 against the gauge of the convex hull of {‖A‖_F ≤ 1, rank A ≤ r}.

    Parts of A bound the gauge from above and the dual norm bounds it from below.
    """
    claim = "section_2_3_k_support"
    printed, above, below = [], [], []
    for m, r, _ in problems:
        identity = np.eye(len(m))
        parts = balanced_factors(np.diag(m), identity, r)
        gauge = float(np.sqrt(squared_block_norms(*parts, identity, r)).sum())
        z = conjugate_point(m, r)
        norm = float(np.sqrt(squared_norm(m, r)))
        printed.append(float(np.sqrt(squared_norm_printed(m, r))) / gauge)
        above.append(norm / gauge)
        below.append(norm * float(dual_norm(z, r)) / float(falling(m, r) @ z))
    what = f"{len(problems)} random A: root of Eq. 11 by the"
    sums = "Σ ‖B_i‖ of parts B_i of A of rank r at most"
    dual = "⟨A, Z⟩ / 2-norm of the r largest singular values of Z"
    yield near_one(claim, f"{what} printed ρ / {sums}", printed)
    yield near_one(claim, f"{what} corrected ρ / {sums}", above, form=CORRECTED)
    yield near_one(claim, f"{what} corrected ρ / ({dual})", below, form=CORRECTED)


def _elastic_net(problems: list[Problem]) -> Iterator[Check]:
    """Checks that ‖w‖_2 and ‖w‖_1/√k bound the k-support norm of w from below, not tightly."""
    claim, ratios = "section_2_3_elastic_net", []
    for w, k, _ in problems:
        bound = max(np.linalg.norm(w), w.sum() / np.sqrt(k))
        ratios.append(np.sqrt(conjugate_norm(w, k)) / bound)
    what = f"k-support norm / the larger of ‖w‖_2, ‖w‖_1/√k; {len(ratios)} random w, the"
    yield at_least(claim, f"{what} least", min(ratios), 1, ROUNDING)
    yield at_least(claim, f"{what} largest", max(ratios), OUTSIDE)


def _between_norms(problems: list[Problem]) -> Iterator[Check]:
    """Checks that ‖A‖² goes from the squared nuclear to the squared Frobenius norm as r grows."""
    claim = "section_2_3_interpolation"
    nuclear, frobenius, rises, falls, single = [], [], [], [], []
    for m, _, _ in problems:
        sizes = range(1, len(m) + 2)
        norms = np.array([conjugate_norm(m, r) for r in sizes])
        rho = np.array([int(rho_of(m, r)) for r in sizes])
        flat = norms * sizes / m.sum() ** 2
        nuclear.append(norms[0] / m.sum() ** 2)
        single.extend(flat[rho == 1])
        frobenius.extend(norms[-2:] / (m @ m))
        rises.append(np.diff(norms).max() / norms[0])
        falls.append(np.diff(rho).min())
    yield near_one(claim, "‖A‖² at r = 1 / squared nuclear norm", nuclear)
    yield near_one(claim, "‖A‖² where ρ* = 1 / (squared nuclear norm / r)", single)
    yield near_one(claim, "‖A‖² at r ≥ rank A / squared Frobenius norm", frobenius)
    yield at_most(claim, "largest rise of ‖A‖² with r, relative", max(rises), 0, ROUNDING)
    yield at_least(claim, "least change of ρ* from r to r + 1", min(falls), 0)


def _low_rank(problems: list[Problem]) -> Iterator[Check]:
    """Checks of the rank of A*, which falls with β down to the number of nodes of a block."""
    claim = "abstract_low_rank"
    ranks = np.array([[_rank(prox(m, r, beta)) for beta in STRENGTHS] for m, r, _ in problems])
    most = np.array([min(r, len(m)) for m, r, _ in problems])
    what = f"rank of A* at β = {STRENGTHS[-1]:g}, {len(problems)} random Y:"
    yield at_most(claim, "largest rise of the rank of A* with β", np.diff(ranks).max(), 0)
    difference = np.abs(ranks[:, -1] - most).max()
    yield equal(claim, f"{what} largest difference from r", difference, 0, 0)


def _rank(a: Matrix) -> int:
    """Number of singular values that are not zero."""
    return int(np.count_nonzero(a))
