"""Pal 2020, Section 2.3: lower bounds of f, and properties of the k-support norm.

f is DropBlock's objective of the weights (Eq. 8), F and F̄ its lower bounds as functions of the
prediction A (Eq. 10, 12), Λ the regulariser of A.
"""

from collections.abc import Iterator

import numpy as np

from lindrop.base.arrays import Vector
from lindrop.claims.checks import EXTENSION, Check, at_least, at_most, equal
from lindrop.dropout.dropblock import balanced_factors, objective, squared_block_norms
from lindrop.dropout.k_support import (
    dual_norm,
    falling,
)
from lindrop.papers.pal2020.references import (
    COLUMNS,
    INPUTS,
    PRODUCT,
    ROWS,
    VALUE,
    Problem,
    conjugate_minimiser,
    conjugate_norm,
    conjugate_point,
    dropblock_minima,
    flat_from,
    full_inputs,
    least_bound,
    near_one,
)
from lindrop.papers.pal2020.small_net import ROUNDING

PROBLEMS = 400
DRAWN = 100
WIDEST = 8  # largest number of blocks of random weights
NOISE = 1e-6
STRENGTHS = np.geomspace(1e-3, 1e6, 40)  # values of β
DESCENDED = 0.01, 0.3, 1.0, 10.0  # values of β at which descents are run
NEGLIGIBLE = 1e-13  # singular values of A* that are zero but for rounding
OUTSIDE = 1.01  # least norm of a point that is certainly outside the unit ball


def checks(seed: int) -> list[Check]:
    """Checks of F ≤ F̄ ≤ f (Eq. 10 and 12), of the k-support norm, and of the rank of A*."""
    data, factors, descent = np.random.default_rng(seed).spawn(3)
    problems = [Problem.random(data) for _ in range(PROBLEMS)]
    return [
        *_bounds(factors),
        *_full_rank(data, descent),
        *_k_support(problems),
        *_elastic_net(problems),
        *_between_norms(problems),
        *_low_rank(problems),
        *_low_rank_of_descents(data, descent),
    ]


def _bounds(rng: np.random.Generator) -> Iterator[Check]:
    """Checks of F ≤ F̄ ≤ f at random weights of several widths, and at factors that attain Λ.

    F has the envelope of Λ by the conjugates, which no factors undercut. F̄ has Λ by factors that
    reach this bound, and so attain the infimum in Eq. 9.
    """
    r, beta = 2, 0.5
    y, x = rng.normal(size=(ROWS, COLUMNS)), full_inputs(INPUTS, COLUMNS, rng)
    of_f, of_envelope, of_both = [], [], []
    for blocks in rng.integers(1, WIDEST + 1, size=DRAWN):
        u, v = (rng.normal(size=(rows, blocks * r)) for rows in (ROWS, INPUTS))
        a = u @ v.T @ x
        error = float(np.sum((y - a) ** 2))
        found = objective(y, x, u, v, r, beta)
        envelope = error + beta * conjugate_norm(np.linalg.svd(a, compute_uv=False), r)
        attained = objective(y, x, *balanced_factors(a, x, r), r, beta)
        of_f.append(found / attained)
        of_envelope.append(attained / envelope)
        of_both.append(found / envelope)
    what = f"{DRAWN} random pairs (U, V)"
    yield at_least("equation_10", f"f / F̄(UV'X) of {what}, the least", min(of_f), 1, ROUNDING)
    reached = "factors that attain Λ, products of"
    yield near_one("equation_10", f"f of {reached} {what} / the bound by duality", of_envelope)
    least = min(of_envelope)
    yield at_least("equation_12", f"F̄ / F, products of {what}, the least", least, 1, ROUNDING)
    yield at_least("equation_12", f"f / F of {what}, the least", min(of_both), 1, ROUNDING)


def _full_rank(rng: np.random.Generator, descent: np.random.Generator) -> Iterator[Check]:
    """Checks that noise gives X full rank, and that Theorem 2.7 holds for any X (E14).

    With more samples than inputs the columns of X stay dependent. Then Theorem 2.7 holds for Y
    itself where its rows are in the row space of X, as those of the paper's Y = MX are.
    """
    claim = "section_2_3_full_rank"
    for rows in (INPUTS, COLUMNS - 2):
        x = rng.normal(size=(rows, 2)) @ rng.normal(size=(2, COLUMNS))
        rank = np.linalg.matrix_rank(x + NOISE * rng.normal(size=x.shape))
        what = f"rank of X of {rows} rows, {COLUMNS} columns and rank 2 with noise of {NOISE:g}"
        yield equal(claim, f"{what}, less the smaller side", rank - min(rows, COLUMNS), 0, 0)
    r, beta, blocks = 2, 0.3, 4
    x = full_inputs(COLUMNS - 2, COLUMNS, rng)
    y = rng.normal(size=(ROWS, len(x))) @ x
    ratio = least_bound(y, r, beta) / dropblock_minima(y, x, r, beta, blocks, descent)[0].value
    what = f"Y = MX, X of {len(x)} rows and {COLUMNS} columns: Theorem 2.7 for Y / least f"
    yield near_one(claim, what, [ratio], VALUE, EXTENSION)


def _k_support(problems: list[Problem]) -> Iterator[Check]:
    """Checks of Λ** against the gauge of the convex hull of {‖A‖_F ≤ 1, rank A ≤ r}.

    Parts of A bound the gauge from above and the dual norm bounds it from below.
    """
    claim = "section_2_3_k_support"
    above, below = [], []
    for m, r, _ in problems:
        identity = np.eye(len(m))
        parts = balanced_factors(np.diag(m), identity, r)
        gauge = float(np.sqrt(squared_block_norms(*parts, identity, r)).sum())
        z = conjugate_point(m, r)
        norm = float(np.sqrt(conjugate_norm(m, r)))
        above.append(norm / gauge)
        below.append(norm * float(dual_norm(z, r)) / float(falling(m, r) @ z))
    what = f"{len(problems)} random A: root of Λ**/β by the conjugates /"
    sums = "Σ ‖B_i‖ of parts B_i of A of rank r at most"
    dual = "⟨A, Z⟩ / 2-norm of the r largest singular values of Z"
    yield near_one(claim, f"{what} {sums}", above)
    yield near_one(claim, f"{what} ({dual})", below)


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
    nuclear, frobenius, steps, least, last, single = [], [], [], [], [], []
    for m, _, _ in problems:
        sizes = range(1, len(m) + 2)
        norms = np.array([conjugate_norm(m, r) for r in sizes])
        rho = np.array([flat_from(m, r) for r in sizes])
        flat = norms * sizes / m.sum() ** 2
        nuclear.append(norms[0] / m.sum() ** 2)
        single.extend(flat[rho == 1])
        frobenius.extend(norms[-2:] / (m @ m))
        steps.extend(norms[1 : len(m)] / norms[: len(m) - 1])
        least.append(np.diff(rho).min())
        last.append(rho[len(m) - 1] - len(m))
    yield near_one(claim, "‖A‖² at r = 1 / squared nuclear norm", nuclear)
    yield near_one(claim, "‖A‖² where ρ* = 1 / (squared nuclear norm / r)", single)
    yield near_one(claim, "‖A‖² at r ≥ rank A / squared Frobenius norm", frobenius)
    what = "fall of ‖A‖² from r to r + 1, relative, r < rank A, the least"
    yield at_least(claim, what, 1 - max(steps), ROUNDING)
    yield equal(
        claim, "ρ* at r = rank A less rank A, ρ* being 1 at r = 1", np.abs(last).max(), 0, 0
    )
    yield at_least(claim, "least change of ρ* from r to r + 1", min(least), 0)


def _low_rank(problems: list[Problem]) -> Iterator[Check]:
    """Checks of the rank of A*, which falls with β down to the number of nodes of a block."""
    claim = "abstract_low_rank"
    ranks = np.array(
        [
            [_rank(conjugate_minimiser(Problem(m, r, beta)), NEGLIGIBLE) for beta in STRENGTHS]
            for m, r, _ in problems
        ]
    )
    most = np.array([min(r, len(m)) for m, r, _ in problems])
    what = f"rank of A* by the conjugates, {len(problems)} random Y:"
    yield at_most(claim, f"{what} largest rise with β", np.diff(ranks).max(), 0)
    difference = np.abs(ranks[:, -1] - most).max()
    yield equal(
        claim, f"{what} largest difference from r at β = {STRENGTHS[-1]:g}", difference, 0, 0
    )


def _low_rank_of_descents(
    data: np.random.Generator, descent: np.random.Generator
) -> Iterator[Check]:
    """Checks of the rank of UV'X where descents on DropBlock's objective end."""
    claim, r, blocks = "abstract_low_rank", 2, 4
    y, x = data.normal(size=(ROWS, COLUMNS)), full_inputs(INPUTS, COLUMNS, data)
    ranks = []
    for beta in DESCENDED:
        best = dropblock_minima(y, x, r, beta, blocks, descent)[0]
        values = np.linalg.svd(best.u @ (best.v.T @ x), compute_uv=False)
        ranks.append(_rank(values, PRODUCT * values[0]))
    what = f"rank of UV'X where descents end, Y of rank {ROWS}, blocks of {r}:"
    strengths = ", ".join(f"{beta:g}" for beta in DESCENDED)
    yield equal(claim, f"{what} at β = {DESCENDED[0]:g}", ranks[0], ROWS, 0)
    yield at_most(claim, f"{what} largest rise over β = {strengths}", np.diff(ranks).max(), 0)
    yield equal(claim, f"{what} at β = {DESCENDED[-1]:g}", ranks[-1], r, 0)


def _rank(values: Vector, negligible: float) -> int:
    """Number of singular values that are not negligible."""
    return int(np.count_nonzero(values > negligible))
