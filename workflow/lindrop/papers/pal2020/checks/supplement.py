"""Pal 2020, supplement: the equations on which the proofs of Section 2 rest."""

from collections.abc import Iterator

import numpy as np
from scipy.optimize import nnls

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import CHARITABLE, Check, at_most, equal, relative_distance
from lindrop.dropout import structured
from lindrop.dropout.dropblock import squared_block_norms
from lindrop.dropout.k_support import falling
from lindrop.dropout.multistart import minima
from lindrop.dropout.samplers import dropblock
from lindrop.papers.pal2020.references import (
    COLUMNS,
    ROWS,
    STARTS,
    VALUE,
    Case,
    Problem,
    case,
    conjugate_norm,
    conjugate_point,
    factor_minima,
    flat_from,
    least_bound,
    near_one,
)
from lindrop.papers.pal2020.small_net import ROUNDING, Net, small_net

PROBLEMS = 400
BLOCK, BLOCKS = 2, 3  # r and k
REPLICAS = 10, 100, 1000  # values of d̂ in Eq. 21, in blocks
CASES = (2, 0.3), (3, 0.1)  # pairs of r and β
BETAS = 0.25, 1.0  # values of (1 − θ̄)/θ̄ in Eq. 50


def checks(seed: int) -> list[Check]:
    """Checks of Eq. 21 to 25, 29, 36, 37, 44 and 50."""
    weights, data, descent = np.random.default_rng(seed).spawn(3)
    problems = [Problem.random(data) for _ in range(PROBLEMS)]
    return [
        *_replicas(small_net(weights, BLOCK * BLOCKS)),
        *_theta([case(r, beta, data, descent) for r, beta in CASES]),
        *_conjugate(data, descent),
        *_double_dual(problems),
        *_thresholding(problems),
        *_dropout_minimum(data, descent),
    ]


def _replicas(net: Net) -> Iterator[Check]:
    """Checks of Eq. 21 to 24: copies of each block in proportion to α_i and a rest.

    Eq. 23 and 24 scale the copies by ‖α‖_1/d̂; our copy of Eq. 21 and 22 lacks the hat.
    """
    x, u, v = net.x, net.u, net.v
    alpha = np.sqrt(squared_block_norms(u, v, x, BLOCK))
    product, uneven = u @ net.hidden, BLOCKS * float(alpha @ alpha)
    changes, bounded = [], []
    for replicas in REPLICAS:
        many_u, many_v = _replicated(u, v, alpha, replicas, alpha.sum() / replicas)
        changes.append(relative_distance(many_u @ (many_v.T @ x), product))
        omega = (replicas + BLOCKS) * float(squared_block_norms(many_u, many_v, x, BLOCK).sum())
        bounded.append(omega / ((1 + BLOCKS / replicas) * alpha.sum()) ** 2)
    what = "change of UV'X by the copies, each times ‖α‖_1 / d̂, relative"
    yield equal("equation_23", what, max(changes), form=CHARITABLE)
    what = "Equation 24: its left side / its right side, the largest"
    yield at_most("equation_24", what, max(bounded), 1, ROUNDING)
    what = f"{REPLICAS[-1]} copies of unequal blocks: (d̂ + d)Ω / dΩ before"
    yield at_most("equation_24", what, omega / uneven, 1)


def _replicated(
    u: Matrix, v: Matrix, alpha: Vector, replicas: int, scale: float
) -> tuple[Matrix, Matrix]:
    """Û and V̂ of Eq. 21 and 22, with `scale` in place of ‖α‖_1/d̂."""
    exact = alpha / alpha.sum() * replicas
    whole = np.floor(exact).astype(int)
    source = np.repeat(np.arange(len(alpha)), whole + 1)
    weight = np.ones(len(source))
    weight[np.cumsum(whole + 1) - 1] = exact - whole
    columns = (BLOCK * source[:, None] + np.arange(BLOCK)).ravel()
    factor = np.repeat(np.sqrt(scale * weight / alpha[source]), BLOCK)
    return u[:, columns] * factor, v[:, columns] * factor


def _theta(cases: list[Case]) -> Iterator[Check]:
    """Check of Eq. 25, with the factor β before Θ that Eq. 9 has."""
    ratios = [least_bound(case.y, case.r, case.beta) / case.ends[0].value for case in cases]
    what = "min ‖Y − A‖² + βΘ(A) / least f of descents"
    yield near_one("equation_25", what, ratios, VALUE, CHARITABLE)


def _conjugate(data: np.random.Generator, rng: np.random.Generator) -> Iterator[Check]:
    """Check of Eq. 29 by descents on k Σ ‖U_iV_i'‖² − ⟨Q, UV'⟩.

    Up to ¼‖Q‖², this is the objective of Lemma 3.1 with Y = Q/2, X = I and C̄ = k BlkDiag − 11'.
    """
    q, x = data.normal(size=(ROWS, COLUMNS)), np.eye(COLUMNS)
    top = np.sum(np.linalg.svd(q, compute_uv=False)[:BLOCK] ** 2) / 4
    ratios = []
    for blocks in range(1, BLOCKS + 1):
        together = dropblock(blocks * BLOCK, 0.5, BLOCK).characteristic
        matrix = blocks * together - 1

        def value(u: Matrix, v: Matrix, matrix: Matrix = matrix) -> float:
            return structured.objective(q / 2, u, v.T @ x, matrix)

        def slope(u: Matrix, v: Matrix, matrix: Matrix = matrix) -> tuple[Matrix, Matrix]:
            return structured.gradient(q / 2, u, v, x, matrix)

        best = factor_minima(value, slope, (ROWS, COLUMNS, blocks * BLOCK), rng)[0]
        ratios.append((np.vdot(q, q) / 4 - best.value) / top)
    what = f"sup of descents, 1 to {BLOCKS} blocks / ¼ Σ of the {BLOCK} largest σ_i(Q)²"
    yield near_one("equation_29", what, ratios, VALUE)


def _double_dual(problems: list[Problem]) -> Iterator[Check]:
    """Checks of Eq. 36 and 37 at the ρ from which on the maximiser of Eq. 31 is constant."""
    distances, last, second = [], [], []
    for m, r, _ in problems:
        a, x, value = falling(m, r), conjugate_point(m, r), conjugate_norm(m, r)
        rho = flat_from(m, r)
        head, tail, flat = a[: rho - 1], a[rho - 1 :].sum(), r - rho + 1
        closed = np.append(2 * head, np.full(len(a) - rho + 1, 2 * tail / flat))
        distances.append(relative_distance(closed, x))
        last.append((head @ head + tail**2 / flat) / value)
        before = head @ head + x[-1] * tail
        second.append((before - flat / 4 * x[-1] ** 2) / value)
    what = f"{len(problems)} random A: distance of Equation 36 to the maximiser of Equation 31"
    yield equal("equation_36", what, max(distances))
    what = f"{len(problems)} random A: Equation 37,"
    named = f"{what} its last line / value of Equation 31"
    yield near_one("equation_37", named, last, form=CHARITABLE)
    what = f"{what} its second line, with x_ρ² / value"
    yield near_one("equation_37", what, second, form=CHARITABLE)


def _thresholding(problems: list[Problem]) -> Iterator[Check]:
    """Checks of Eq. 44 at every λ, and of its (·)₊ against non-negative least squares.

    λ counts the entries of the solution that are not zero, so (·)₊ changes none of them there.
    """
    slopes, distances, clipped = [], [], []
    for m, r, beta in problems:
        for rho in range(1, min(r, len(m)) + 1):
            least, kept = _least_non_negative(m, r, beta, rho), None
            for lam in range(rho, len(m) + 1):
                a = m[rho - 1 : lam]
                x = a - _shift(a, r, beta, rho, lam)
                slope = 2 * (x - a) + 2 * beta * x.sum() / (r - rho + 1)
                slopes.append(np.linalg.norm(slope) / np.linalg.norm(m))
                if lam - rho + 1 == np.count_nonzero(least):
                    kept = x
            assert kept is not None  # the largest of a non-negative solution is positive
            clipped.append(float(np.maximum(-kept, 0).max()))
            found = np.pad(np.maximum(kept, 0), (0, len(least) - len(kept)))
            distances.append(relative_distance(found, least))
    claim = "equation_44"
    what = f"slope of Equation 42 at Equation 44 before (·)₊, {len(slopes)} times A, ρ, λ, relative"
    yield equal(claim, what, max(slopes), 0, ROUNDING)
    what = "Equation 44 at the λ of the solution: "
    yield equal(claim, f"{what}distance to the least x ≥ 0, relative", max(distances), 0, ROUNDING)
    yield equal(claim, f"{what}largest entry that (·)₊ sets to zero", max(clipped), 0, 0)


def _least_non_negative(m: Vector, r: int, beta: float, rho: int) -> Vector:
    """x_ρ … x_d ≥ 0 that minimise Eq. 42, by non-negative least squares."""
    rest = m[rho - 1 :]
    row = np.sqrt(beta / (r - rho + 1)) * np.ones(len(rest))
    found, _ = nnls(np.vstack((np.eye(len(rest)), row)), np.append(rest, 0.0))
    return np.asarray(found)


def _shift(a: Vector, r: int, beta: float, rho: int, lam: int) -> float:
    """The number that Eq. 44 subtracts from a_ρ … a_λ."""
    return float(beta * a.sum() / (r + beta * lam - (beta + 1) * rho + (beta + 1)))


def _dropout_minimum(data: np.random.Generator, descent: np.random.Generator) -> Iterator[Check]:
    """Check of Eq. 50, with the factors that E16 and E17 restore, with 4 and with 8 nodes."""
    y = data.normal(size=(ROWS, COLUMNS))
    ratios = []
    for nodes in (ROWS, 2 * ROWS):
        for beta in BETAS:
            least = minima(y, nodes, nodes * beta, STARTS, descent)[0].value
            ratios.append(least_bound(y, 1, beta) / least)
    what = f"min ‖Y − A‖² + β‖A‖_*² / least left side with dβ, d = {ROWS} and {2 * ROWS}"
    yield near_one("equation_50", what, ratios, VALUE, CHARITABLE)
