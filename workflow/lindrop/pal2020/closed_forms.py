"""Pal 2020, Section 2 and Proposition 3.3: closed forms against what knows nothing of them.

That is L-BFGS on the factors, sums over all masks, and the conjugates of Equations 29 and 31, where
the order of the unknowns is all that constrains them: pooling neighbours solves these exactly.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression, minimize

from lindrop.arrays import Matrix, Vector
from lindrop.checks import CORRECTED, PRINTED, Check, Form, at_least, at_most, equal
from lindrop.dropout.dropblock import (
    Optimum,
    adaptive_keep,
    balanced_factors,
    beta_at,
    gradient,
    objective,
    omega,
    optimum,
    squared_block_norms,
)
from lindrop.dropout.k_support import (
    enumerated_prox,
    falling,
    fewest_blocks,
    prox,
    squared_norm,
    squared_norm_printed,
)
from lindrop.dropout.multistart import EXACT, Minimum, minima
from lindrop.dropout.objective import lam_of
from lindrop.mianjy2018.lemmas import every_mask

ROWS, COLUMNS, INPUTS = 4, 5, 6  # of Y (a, N) and of X (b)
DROPBLOCKS = (2, 0.3), (2, 1.0), (3, 0.1), (3, 1.0)  # r, β
KEPT = 0.3, 0.5, 0.8  # θ, or θ̄
WIDTHS = 4, 8  # d, at least min{a, N}
STARTS = 4
DOUBLINGS = 10
PROBLEMS = 400
DESCENT = EXACT | {"maxiter": 3000}
VALUE, PRODUCT = 1e-9, 1e-5  # what a descent leaves of f, and of what f depends on by its square


def closed_form_checks(seed: int) -> list[Check]:
    """Every check of this file."""
    data, descent = np.random.default_rng(seed).spawn(2)
    cases = [_case(r, beta, data, descent) for r, beta in DROPBLOCKS]
    problems = [Problem.random(data) for _ in range(PROBLEMS)]
    return [
        *_capacity(data),
        *_theorem_2_3(problems),
        *_minimisers(cases),
        *_theorem_2_7(cases, problems),
        *_e12(problems),
        *_e13(problems),
        *_e14(data, descent),
        *_e15(data, descent),
        *_fixed_keep(data, descent),
        *_between_norms(problems),
    ]


class Problem(NamedTuple):
    """Singular values m of Y, and the r and β of DropBlock."""

    m: Vector
    r: int
    beta: float

    @classmethod
    def random(cls, rng: np.random.Generator) -> "Problem":
        m = falling(rng.exponential(size=rng.integers(4, 11)) ** rng.choice((0.5, 1, 2)))
        return cls(m, int(rng.integers(2, 6)), float(rng.choice((0.1, 0.3, 1, 3))))

    def value(self, a: Vector) -> float:
        """F of a product with singular values a (Equation 12)."""
        return float(np.sum((self.m - a) ** 2) + self.beta * conjugate_norm(a, self.r))


class Case(NamedTuple):
    """A problem with X of full column rank, its closed form, and the ends of descents."""

    y: Matrix
    x: Matrix
    r: int
    beta: float
    claimed: Optimum
    ends: list[Minimum]


def conjugate_norm(a: Vector, r: int) -> float:
    """Equation 31: max Σ a_i x_i − ¼ Σ_{i≤r} x_i² over falling x; from x_r on all are equal."""
    a = falling(a, r)
    pooled = np.append(a[: r - 1], a[r - 1 :].sum())
    x = isotonic_regression(2 * pooled, increasing=False).x
    return float(pooled @ x - x @ x / 4)


def conjugate_minimiser(problem: Problem) -> Vector:
    """argmin F, by the conjugates of its two terms (that of Λ** is Equation 29).

    It is m − z/2 with the falling z that maximises Σ m_i z_i − ¼ Σ z_i² − (1/4β) Σ_{i≤r} z_i².
    """
    m, r, beta = problem
    weights = np.where(np.arange(len(m)) < r, 1 + 1 / beta, 1)
    z = isotonic_regression(2 * m / weights, weights=weights, increasing=False).x
    return np.asarray(m - z / 2)


def dropblock_minima(
    y: Matrix, x: Matrix, r: int, beta: float, blocks: int, rng: np.random.Generator
) -> list[Minimum]:
    """Ends of L-BFGS on f(U, V, d) (Equation 8) from random starts, the best first."""

    def parts(flat: Vector) -> tuple[Matrix, Matrix]:
        weights = flat.reshape(len(y) + len(x), blocks * r)
        return weights[: len(y)], weights[len(y) :]

    def value_and_slope(flat: Vector) -> tuple[float, Vector]:
        u, v = parts(flat)
        slope = np.concatenate(gradient(y, x, u, v, r, beta))
        return objective(y, x, u, v, r, beta), slope.ravel()

    starts = rng.normal(scale=0.5, size=(STARTS, (len(y) + len(x)) * blocks * r))
    ends = [
        minimize(value_and_slope, start, jac=True, method="L-BFGS-B", options=DESCENT)
        for start in starts
    ]
    return sorted((Minimum(float(end.fun), *parts(end.x)) for end in ends), key=lambda end: end[0])


def masked_objective(y: Matrix, x: Matrix, u: Matrix, v: Matrix, r: int, keep: float) -> float:
    """E‖Y − (1/θ) U(diag(w) ⊗ I_r)V'X‖² (Equation 3), every mask of the blocks in turn."""
    masks, probability = every_mask(u.shape[1] // r, keep)
    kept = np.repeat(masks, r, axis=1)
    answers = np.einsum("ij,wj,jn->win", u, kept, v.T @ x) / keep
    return float(probability @ np.sum((y - answers) ** 2, axis=(1, 2)))


def _case(r: int, beta: float, data: np.random.Generator, descent: np.random.Generator) -> Case:
    y, x = data.normal(size=(ROWS, COLUMNS)), _inputs(INPUTS, COLUMNS, data)
    claimed = optimum(y, r, beta, x)
    blocks = fewest_blocks(claimed.values, r)
    return Case(y, x, r, beta, claimed, dropblock_minima(y, x, r, beta, blocks, descent))


def _inputs(rows: int, columns: int, rng: np.random.Generator) -> Matrix:
    """X with singular values between 1 and 2, so that descents are short."""
    left, _, right = np.linalg.svd(rng.normal(size=(rows, columns)), full_matrices=False)
    return np.asarray(left * rng.uniform(1, 2, min(rows, columns)) @ right)


def _capacity(rng: np.random.Generator) -> list[Check]:
    """Lemma 2.2, by copies of all blocks that share the product among them; Equations 7 and 8."""
    r, d, copies = 2, 8, 2**DOUBLINGS
    y, x = rng.normal(size=(ROWS, COLUMNS)), _inputs(INPUTS, COLUMNS, rng)
    u, v = rng.normal(size=(ROWS, d)), rng.normal(size=(INPUTS, d))
    many_u, many_v = (np.tile(side, copies) / np.sqrt(copies) for side in (u, v))
    shares, strengths, adaptive, masked = [], [], [], []
    for keep in KEPT:
        printed = keep * r / (keep * r + (1 - keep) * d)
        wider = adaptive_keep(keep, r, d * copies)
        shares.append(omega(many_u, many_v, x, r, keep) / omega(u, v, x, r, keep))
        strengths.append(lam_of(printed) / (d / r * lam_of(keep)))
        adaptive.append(omega(many_u, many_v, x, r, wider) / omega(u, v, x, r, printed))
        mean = masked_objective(y, x, u, v, r, printed)
        masked.append(mean / objective(y, x, u, v, r, lam_of(keep)))
    change = _distance(many_u @ (many_v.T @ x), u @ (v.T @ x))
    what = f"after {DOUBLINGS} doublings of d"
    return [
        equal("lemma_2_2", f"change of UV'X {what}, relative", change),
        at_most("lemma_2_2", f"Ω at fixed θ {what} / before", max(shares), 1e-3),
        _ratio("equation_7", "(1 − θ(d))/θ(d) / ((d/r)(1 − θ̄)/θ̄)", strengths),
        _ratio("equation_7", f"Ω at θ(d) {what} / before", adaptive),
        _ratio("equation_8", "mean over all masks at θ(d) / f", masked),
    ]


def _theorem_2_3(problems: list[Problem]) -> list[Check]:
    """Factors reach the envelope: so Λ itself is convex."""
    true = np.array([conjugate_norm(m, r) for m, r, _ in problems])
    printed = np.array([squared_norm_printed(m, r) for m, r, _ in problems])
    corrected = np.array([squared_norm(m, r) for m, r, _ in problems])
    reached = np.array([_least_blocks(m, r) for m, r, _ in problems])
    claim, what = "theorem_2_3", f"{PROBLEMS} random A: Λ** by the conjugate"
    return [
        _ratio(claim, f"{what} / by the printed ρ", true / printed),
        _ratio(claim, f"{what} / by the corrected ρ", true / corrected, form=CORRECTED),
        _ratio(claim, f"{what} / Λ of factors of A", true / reached, form=CORRECTED),
    ]


def _least_blocks(a: Vector, r: int) -> float:
    """(d/r) Σ ‖U_iV_i'X‖² of the balanced factors of a matrix with the singular values a."""
    x = np.eye(len(a))
    norms = squared_block_norms(*balanced_factors(np.diag(a), x, r), x, r)
    return float(len(norms) * norms.sum())


def _minimisers(cases: list[Case]) -> list[Check]:
    """Theorems 2.5 and 2.6, Corollary 2.8, where d is large enough for f to reach F."""
    uneven, values, products, attained = [], [], [], []
    for y, x, r, beta, claimed, ends in cases:
        best = ends[0]
        left, m, right = np.linalg.svd(y, full_matrices=False)
        problem = Problem(m, r, beta)
        least = conjugate_minimiser(problem)
        norms = np.sqrt(squared_block_norms(best.u, best.v, x, r))
        uneven.append(np.ptp(norms) / norms.mean())
        values.append(best.value / problem.value(least))
        products.append(_distance(best.u @ best.v.T @ x, left * least @ right))
        u, v = balanced_factors(claimed.product, x, r)
        attained.append(objective(y, x, u, v, r, beta) / claimed.value)
    lowest = min(end.value / case.claimed.value for case in cases for end in case.ends)
    what = "best of random starts"
    return [
        equal("theorem_2_5", f"{what}: spread of ‖U_iV_i'X‖, relative", max(uneven), 0, PRODUCT),
        _ratio("theorem_2_6", f"{what}: f / least F by the conjugates", values, VALUE),
        equal("theorem_2_6", f"{what}: distance of UV'X to A*", max(products), 0, PRODUCT),
        at_least("corollary_2_8", "lowest end of any descent on f / F(A*)", lowest, 1, VALUE),
        _ratio("corollary_2_8", "f of constructed factors of A* / F(A*)", attained),
    ]


def _theorem_2_7(cases: list[Case], problems: list[Problem]) -> list[Check]:
    printed, corrected, distances = [], [], []
    for problem in problems:
        a, least = prox(*problem), conjugate_minimiser(problem)
        m, r, beta = problem
        other = enumerated_prox(m, r, beta, r - 1, squared_norm_printed)
        printed.append(problem.value(other) / problem.value(least))
        corrected.append(problem.value(a) / problem.value(least))
        distances.append(_distance(a, least))
    descents = [case.ends[0].value / case.claimed.value for case in cases]
    claim, what = "theorem_2_7", f"{PROBLEMS} random Y: F of the"
    return [
        _ratio(claim, f"{what} printed A / least F by the conjugates", printed),
        _ratio(claim, f"{what} corrected A / least F", corrected, form=CORRECTED),
        equal(claim, "corrected A: relative distance", max(distances), form=CORRECTED),
        _ratio(claim, "least f of descents / F of the corrected A", descents, VALUE, CORRECTED),
    ]


def _e12(problems: list[Problem]) -> list[Check]:
    a, r = np.ones(3), 2
    true = conjugate_norm(a, r)
    what = "a = (1, 1, 1), r = 2: Equation 11, without its factor,"
    ratios = [float(squared_norm_printed(m, r)) / conjugate_norm(m, r) for m, r, _ in problems]
    return [
        equal("e12", f"{what} by the printed ρ", squared_norm_printed(a, r), true),
        equal("e12", f"{what} by the corrected ρ", squared_norm(a, r), true, form=CORRECTED),
        _ratio("e12", f"{PROBLEMS} random A: Λ** by the printed ρ / true", ratios),
    ]


def _e13(problems: list[Problem]) -> list[Check]:
    """How often the printed set of ρ misses the optimum though the norm is right."""
    excess, distances = [], []
    for problem in problems:
        m, r, beta = problem
        a = prox(m, r, beta)
        excess.append(problem.value(enumerated_prox(m, r, beta, r - 1)) / problem.value(a))
        distances.append(_distance(a, enumerated_prox(m, r, beta, r)))
    missed = np.count_nonzero(np.array(excess) > 1 + 1e-9)
    what = "the form with τ: largest distance to the best of all ρ ≤ r and λ"
    return [
        equal("e13", f"of {PROBLEMS} optima, those that ρ ≤ r − 1 misses", missed),
        _ratio("e13", "F of the best with ρ ≤ r − 1 / least F", excess),
        equal("e13", what, max(distances), form=CORRECTED),
    ]


def _e14(data: np.random.Generator, descent: np.random.Generator) -> list[Check]:
    """More samples than inputs: X cannot have full column rank."""
    r, beta, rows = 2, 0.3, 3
    y, x = data.normal(size=(ROWS, COLUMNS)), _inputs(rows, COLUMNS, data)
    claimed = optimum(y, r, beta, x)
    u, v = balanced_factors(claimed.product, x, r)
    attained = objective(y, x, u, v, r, beta) / claimed.value
    least = dropblock_minima(y, x, r, beta, u.shape[1] // r, descent)[0].value
    what = f"X of {rows} rows and {COLUMNS} columns: Theorem 2.7"
    printed = optimum(y, r, beta).value / least
    return [
        _ratio("e14", f"{what} for Y / least f", [printed], VALUE),
        _ratio("e14", f"{what} for Y P_X / least f", [claimed.value / least], VALUE, CORRECTED),
        _ratio("e14", "f of constructed factors / F(A*)", [attained], form=CORRECTED),
    ]


def _e15(data: np.random.Generator, descent: np.random.Generator) -> list[Check]:
    """At a given d: dropout reaches F(A*) from d = rank A* on, blocks may need more nodes."""
    y, r, beta = np.eye(3), 2, 0.5
    least = optimum(y, r, beta).value
    two, three = (dropblock_minima(y, y, r, beta, k, descent)[0].value - least for k in (2, 3))
    what = f"Y = I₃, r = {r}, β = {beta}: "
    blocks = [_attained(y, r, beta, more) for more in range(8)]
    random = data.normal(size=(ROWS, COLUMNS))
    dropout = [_attained(random, 1, beta, more) for more in range(8)]
    return [
        equal("e15", f"{what}least f with 2 blocks − F(A*)", two, 0, VALUE),
        equal("e15", f"{what}least f with 3 blocks − F(A*)", three, 0, VALUE, CORRECTED),
        _ratio("e15", f"{what}f of 4 or more constructed blocks / F(A*)", blocks, form=CORRECTED),
        _ratio("e15", "dropout: f of d ≥ rank A* nodes / F(A*)", dropout, form=CORRECTED),
    ]


def _attained(y: Matrix, r: int, beta: float, more: int) -> float:
    """f / F(A*) of balanced factors with so many blocks more than their construction needs."""
    claimed, x = optimum(y, r, beta), np.eye(y.shape[1])
    blocks = fewest_blocks(claimed.values, r) + more
    u, v = balanced_factors(claimed.product, x, r, blocks)
    return objective(y, x, u, v, r, beta) / claimed.value


def _fixed_keep(data: np.random.Generator, descent: np.random.Generator) -> list[Check]:
    """Proposition 3.3 and E17 at θ and d that are given, also for DropBlock instead of dropout."""
    y, x, r = data.normal(size=(ROWS, COLUMNS)), np.eye(COLUMNS), 2
    printed, corrected, twins, growth = [], [], [], []
    for keep in KEPT:
        few, many = (minima(y, d, lam_of(keep), STARTS, descent)[0].value for d in WIDTHS)
        growth.append(many / few)
        for d, least in zip(WIDTHS, (few, many), strict=True):
            printed.append(optimum(y, 1, lam_of(keep)).value / least)
            corrected.append(optimum(y, 1, beta_at(keep, 1, d)).value / least)
        beta = beta_at(keep, r, WIDTHS[1])
        least = dropblock_minima(y, x, r, beta, WIDTHS[1] // r, descent)[0].value
        twins.append(optimum(y, r, beta).value / least)
    claim, of_least = "proposition_3_3", "/ least f of dropout"
    twin = "the same for DropBlock: with (r/d)(1 − θ)/θ ‖A‖², the k-support norm / least f"
    return [
        _ratio(claim, f"its right side {of_least}", printed, VALUE),
        _ratio(claim, f"with (1 − θ)/(θd) in it {of_least}", corrected, VALUE, CORRECTED),
        _ratio(claim, twin, twins, VALUE, CORRECTED),
        _ratio("e17", f"least f of {WIDTHS[1]} nodes / of {WIDTHS[0]}, θ the same", growth, VALUE),
        _ratio("e17", f"with (1 − θ)/(θd) {of_least}, both d", corrected, VALUE, CORRECTED),
    ]


def _between_norms(problems: list[Problem]) -> list[Check]:
    """From the squared nuclear norm to the squared Frobenius norm as r grows (Section 2.3)."""
    nuclear, frobenius, rises = [], [], []
    for m, _, _ in problems:
        norms = np.array([squared_norm(m, r) for r in range(1, len(m) + 2)])
        nuclear.append(norms[0] / m.sum() ** 2)
        frobenius.append(norms[-2:] / (m @ m))
        rises.append(np.diff(norms).max() / norms[0])
    claim = "proposition_3_3"
    return [
        _ratio(claim, "‖A‖² at r = 1 / squared nuclear norm", nuclear),
        _ratio(claim, "‖A‖² at r ≥ rank A / squared Frobenius norm", np.concatenate(frobenius)),
        at_most(claim, "largest rise of ‖A‖² with r, relative", max(rises), 0, 1e-12),
    ]


def _ratio(
    claim: str,
    what: str,
    ratios: Sequence[float] | Vector,
    tolerance: float = 1e-9,
    form: Form = PRINTED,
) -> Check:
    """All of them should be 1: the one farthest from it."""
    found = np.asarray(ratios)
    return equal(claim, what, found[np.argmax(np.abs(found - 1))], 1, tolerance, form)


def _distance(a: Matrix, b: Matrix) -> float:
    """‖A − B‖ relative to ‖B‖."""
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))
