"""Pal 2020, Section 2: Theorems 2.3 to 2.7 (E12 to E15), and E17, against independent solutions.

The solutions in `references` use none of the closed forms.
"""

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import (
    CHARITABLE,
    CORRECTED,
    EXTENSION,
    PRINTED,
    Check,
    Form,
    at_least,
    at_most,
    equal,
    relative_distance,
)
from lindrop.dropout.balanced_blocks import fewest_blocks
from lindrop.dropout.dropblock import (
    adaptive_keep,
    balanced_factors,
    beta_at,
    objective,
    omega,
    optimum,
    squared_block_norms,
)
from lindrop.dropout.k_support import (
    enumerated_prox,
    falling,
    prox,
    squared_norm,
    squared_norm_printed,
)
from lindrop.dropout.multistart import minima
from lindrop.dropout.objective import lam_of
from lindrop.papers.pal2020.references import (
    COLUMNS,
    INPUTS,
    KEPT,
    PRODUCT,
    ROWS,
    STARTS,
    VALUE,
    Case,
    Problem,
    case,
    conjugate_minimiser,
    conjugate_norm,
    dropblock_minima,
    full_inputs,
    least_bound,
    masked_objective,
    near_one,
)
from lindrop.papers.pal2020.small_net import ROUNDING

DROPBLOCKS = (2, 0.3), (2, 1.0), (3, 0.1), (3, 1.0)  # pairs of r and β
DOUBLINGS = 10
PROBLEMS = 400

WIDTHS = 4, 8  # values of d, at least min{a, N}


def checks(seed: int) -> list[Check]:
    """Checks of Eq. 7 and 8, Theorems 2.3 to 2.7, Corollary 2.8 and Proposition 3.3."""
    data, descent = np.random.default_rng(seed).spawn(2)
    cases = [case(r, beta, data, descent) for r, beta in DROPBLOCKS]
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
        *_convexity(data),
    ]


def _capacity(rng: np.random.Generator) -> list[Check]:
    """Checks of Eq. 7, by copies of all blocks that share the product, and of Eq. 8."""
    r, d, copies = 2, 8, 2**DOUBLINGS
    y, x = rng.normal(size=(ROWS, COLUMNS)), full_inputs(INPUTS, COLUMNS, rng)
    u, v = rng.normal(size=(ROWS, d)), rng.normal(size=(INPUTS, d))
    many_u, many_v = (np.tile(side, copies) / np.sqrt(copies) for side in (u, v))
    strengths, adaptive, masked = [], [], []
    for keep in KEPT:
        printed = keep * r / (keep * r + (1 - keep) * d)
        wider = adaptive_keep(keep, r, d * copies)
        strengths.append(lam_of(printed) / (d / r * lam_of(keep)))
        adaptive.append(omega(many_u, many_v, x, r, wider) / omega(u, v, x, r, printed))
        mean = masked_objective(y, x, u, v, r, printed)
        masked.append(mean / objective(y, x, u, v, r, lam_of(keep)))
    what = f"after {DOUBLINGS} doublings of d"
    return [
        near_one("equation_7", "(1 − θ(d))/θ(d) / ((d/r)(1 − θ̄)/θ̄)", strengths),
        near_one("equation_7", f"Ω at θ(d) {what} / before", adaptive),
        near_one("equation_8", "mean over all masks at θ(d) / f", masked),
    ]


def _theorem_2_3(problems: list[Problem]) -> list[Check]:
    """Checks of the envelope Λ** (Theorem 2.3), which factors of A reach, so Λ is convex.

    The ρ that compete are those that Claim 2 of the proof admits: at any other the x of Eq. 36 does
    not fall, so it is no solution of Eq. 31, whose value Eq. 37 is.
    """
    true = np.array([conjugate_norm(m, r) for m, r, _ in problems])
    admitted = np.array([_largest_admitted(m, r) for m, r, _ in problems])
    used = np.array([squared_norm(m, r) for m, r, _ in problems])
    reached = np.array([_reached(np.diag(m), r) for m, r, _ in problems])
    claim, what = "theorem_2_3", f"{PROBLEMS} random A: Λ** by the conjugate"
    ratios = {
        "largest Equation 11 of all ρ that Claim 2 admits": admitted,
        "Equation 11 at the last of them, as used in figures": used,
        "Λ of factors of A": reached,
    }
    return [
        near_one(claim, f"{what} / {name}", true / found, form=CHARITABLE)
        for name, found in ratios.items()
    ]


def _largest_admitted(m: Vector, r: int) -> float:
    """Largest Eq. 11, without its factor, over the ρ whose x of Eq. 36 falls (Claim 2)."""
    a, values = falling(m, r), []
    for rho in range(1, r + 1):
        head, tail, flat = a[: rho - 1], a[rho - 1 :].sum(), r - rho + 1
        if np.all(head >= tail / flat):
            values.append(float(head @ head + tail**2 / flat))
    return max(values)


def _reached(a: Matrix, r: int) -> float:
    """(d/r) Σ ‖U_iV_i'X‖² of balanced factors of A, an upper bound of Λ/β."""
    x = np.eye(a.shape[1])
    norms = squared_block_norms(*balanced_factors(a, x, r), x, r)
    return float(len(norms) * norms.sum())


def _convexity(rng: np.random.Generator) -> list[Check]:
    """Checks that the convex envelope replaces Λ without loss, and that Λ is convex itself.

    Section 2.3 goes without the latter, as Λ is "not necessarily convex". Factors bound Λ at the
    midpoint from above and the conjugate bounds it at the ends from below, so no violation is
    overlooked. Half of the pairs have the same singular vectors, because Λ can
    be affine between such ends.
    """
    violations, gaps = [], []
    for number in range(PROBLEMS):
        r = int(rng.integers(1, ROWS, endpoint=True))
        a, b = rng.normal(size=(2, ROWS, COLUMNS))
        if number % 2:
            left, values, right = np.linalg.svd(a, full_matrices=False)
            b = left * rng.permutation(values) @ right
        above = _reached((a + b) / 2, r)
        ends = [conjugate_norm(np.linalg.svd(end, compute_uv=False), r) for end in (a, b)]
        violations.append((above - np.mean(ends)) / above)
        gaps.append(above / conjugate_norm(np.linalg.svd((a + b) / 2, compute_uv=False), r))
    what = f"largest violation of midpoint convexity of Λ, relative; {PROBLEMS} random pairs"
    return [
        at_most("section_2_3_convexity", what, max(violations), 0, ROUNDING, EXTENSION),
        near_one("section_2_3_convexity", "Λ of factors of A / Λ**(A)", gaps, form=EXTENSION),
    ]


def _minimisers(cases: list[Case]) -> list[Check]:
    """Checks of Theorems 2.5 and 2.6 and Corollary 2.8, at d large enough for f to reach F."""
    uneven, values, products, attained, lowest = [], [], [], [], []
    for y, x, r, beta, claimed, ends in cases:
        best = ends[0]
        left, m, right = np.linalg.svd(y, full_matrices=False)
        problem = Problem(m, r, beta)
        least = conjugate_minimiser(problem)
        norms = np.sqrt(squared_block_norms(best.u, best.v, x, r))
        uneven.append(np.ptp(norms) / norms.mean())
        bound = problem.value(least)
        values.append(best.value / bound)
        lowest.append(min(end.value for end in ends) / bound)
        products.append(relative_distance(best.u @ best.v.T @ x, left * least @ right))
        u, v = balanced_factors(claimed.product, x, r)
        attained.append(objective(y, x, u, v, r, beta) / bound)
    what = "best of random starts"
    return [
        equal("theorem_2_5", f"{what}: spread of ‖U_iV_i'X‖, relative", max(uneven), 0, PRODUCT),
        near_one("theorem_2_6", f"{what}: f / least F by the conjugates", values, VALUE),
        near_one("section_2_3_convexity", "least f of descents / least F", values, VALUE),
        equal("theorem_2_6", f"{what}: distance of UV'X to A*", max(products), 0, PRODUCT),
        at_least("corollary_2_8", "lowest end of any descent on f / F(A*)", min(lowest), 1, VALUE),
        near_one("corollary_2_8", "f of constructed factors of A* / F(A*)", attained),
    ]


def _theorem_2_7(cases: list[Case], problems: list[Problem]) -> list[Check]:
    """Checks of Theorem 2.7 with ρ in 1 … r, as in Theorem 2.3, and of a form without search."""
    values, distances, direct, descents, drawn = [], [], [], [], []
    for problem in problems:
        least = conjugate_minimiser(problem)
        a = enumerated_prox(problem.m, problem.r, problem.beta, problem.r)
        values.append(problem.value(a) / problem.value(least))
        distances.append(relative_distance(a, least))
        direct.append(relative_distance(prox(*problem), least))
    for y, _, r, beta, claimed, ends in cases:
        problem = Problem(np.linalg.svd(y, compute_uv=False), r, beta)
        a = enumerated_prox(problem.m, r, beta, r)
        descents.append(ends[0].value / problem.value(a))
        drawn.append(ends[0].value / claimed.value)
    claim, what = "theorem_2_7", f"{PROBLEMS} random Y: the best A_{{ρ,λ}}, ρ in 1 … r,"
    direct_form = f"{PROBLEMS} random Y: min{{m_i/(1 + β), (m_i − τ)₊}}, distance to the least"
    return [
        near_one(claim, f"{what} F / least F by the conjugates", values, form=CHARITABLE),
        equal(claim, f"{what} distance to the least, relative", max(distances), form=CHARITABLE),
        near_one(claim, "least f of descents / F of the best A_{ρ,λ}", descents, VALUE, CHARITABLE),
        near_one(
            claim, "least f of descents / optimum that figures show", drawn, VALUE, CHARITABLE
        ),
        equal(claim, f"{direct_form}, relative", max(direct), form=EXTENSION),
    ]


def _e12(problems: list[Problem]) -> list[Check]:
    """Checks of E12: the largest Eq. 11 over all ρ, and over those that Claim 2 admits."""
    a, r = np.ones(3), 2
    true = conjugate_norm(a, r)
    what = "a = (1, 1, 1), r = 2: largest Equation 11, without its factor, of"
    ratios = [float(squared_norm_printed(m, r)) / conjugate_norm(m, r) for m, r, _ in problems]
    over_all = f"{len(problems)} random A: largest Equation 11 of all ρ in 1 … r / Λ**"
    return [
        equal("e12", f"{what} all ρ in 1 … r", squared_norm_printed(a, r), true),
        equal("e12", f"{what} those of Claim 2", _largest_admitted(a, r), true, form=CORRECTED),
        near_one("e12", over_all, ratios),
    ]


def _e13(problems: list[Problem]) -> list[Check]:
    """Checks of E13: how often the search of Theorem 2.7 over ρ ≤ r − 1 misses the optimum."""
    forms: list[tuple[str, int, Form]] = [("r − 1", 1, PRINTED), ("r", 0, CORRECTED)]
    found = []
    for last, fewer, form in forms:
        excess = []
        for problem in problems:
            m, r, beta = problem
            least = problem.value(conjugate_minimiser(problem))
            excess.append(problem.value(enumerated_prox(m, r, beta, r - fewer)) / least)
        missed = np.count_nonzero(np.array(excess) > 1 + 1e-9)
        what = f"of {len(problems)} optima, those that ρ ≤ {last} misses"
        found.append(equal("e13", what, missed, form=form))
        what = f"F of the best with ρ ≤ {last} / least F by the conjugates"
        found.append(near_one("e13", what, excess, form=form))
    return found


def _e14(data: np.random.Generator, descent: np.random.Generator) -> list[Check]:
    """Checks of E14: Theorem 2.7 for Y P_X holds with more samples than inputs, too.

    For Y itself it does not: with X = (1, 0) and Y = (0, 1) the least f is 1, at zero weights.
    """
    r, beta, rows, blocks = 2, 0.3, 3, 4
    y, x = data.normal(size=(ROWS, COLUMNS)), full_inputs(rows, COLUMNS, data)
    seen = np.linalg.lstsq(x.T, y.T)[0].T @ x  # Y P_X, the best prediction by least squares
    bound = least_bound(seen, r, beta) + float(np.sum((y - seen) ** 2))
    least = dropblock_minima(y, x, r, beta, blocks, descent)[0].value
    what = f"X of {rows} rows and {COLUMNS} columns: Theorem 2.7"
    projected = f"{what} for Y P_X, and ‖Y(I − P_X)‖² / least f"
    one = np.eye(2)[:1], np.eye(2)[1:]
    apart = dropblock_minima(one[1], one[0], 1, beta, 1, descent)[0].value
    itself = least_bound(one[1], 1, beta) / apart
    below = "X = (1, 0), Y = (0, 1), r = 1: Theorem 2.7 for Y itself / least f"
    return [
        near_one("e14", projected, [bound / least], VALUE, EXTENSION),
        near_one(
            "e14",
            f"{what} for Y P_X, as figures show it / least f",
            [optimum(y, r, beta, x).value / least],
            VALUE,
            EXTENSION,
        ),
        equal("e14", below, itself, beta / (1 + beta), VALUE, EXTENSION),
    ]


def _e15(data: np.random.Generator, descent: np.random.Generator) -> list[Check]:
    """Checks of E15: f reaches the least F from some width on, and not below it.

    For dropout d = rank A* is enough; blocks may need more nodes.
    """
    y, r, beta = np.eye(3), 2, 0.5
    least, gap = least_bound(y, r, beta), 4 / 3 - 9 / 7  # derived in docs/errata.md
    two, three = (dropblock_minima(y, y, r, beta, k, descent)[0].value - least for k in (2, 3))
    what = f"Y = I₃, r = {r}, β = {beta}: "
    blocks = [_attained(y, r, beta, more) for more in range(8)]
    random = data.normal(size=(ROWS, COLUMNS))
    dropout = [_attained(random, 1, beta, more) for more in range(8)]
    return [
        equal("e15", f"{what}least f with 3 blocks − least F", three, 0, VALUE),
        near_one("e15", f"{what}f of 4 or more constructed blocks / least F", blocks),
        near_one("e15", "dropout: f of d ≥ rank A* nodes / least F", dropout, form=EXTENSION),
        equal("e15", f"{what}least f with 2 blocks − least F", two, gap, VALUE, EXTENSION),
    ]


def _attained(y: Matrix, r: int, beta: float, more: int) -> float:
    """f / least F of balanced factors with `more` blocks than their construction needs."""
    left, m, right = np.linalg.svd(y, full_matrices=False)
    values, x = prox(m, r, beta), np.eye(y.shape[1])
    u, v = balanced_factors(left * values @ right, x, r, fewest_blocks(values, r) + more)
    return objective(y, x, u, v, r, beta) / least_bound(y, r, beta)


def _fixed_keep(data: np.random.Generator, descent: np.random.Generator) -> list[Check]:
    """Checks of Proposition 3.3 at the θ(d) of Eq. 7, and of its two sides at one θ (E17)."""
    y = data.normal(size=(ROWS, COLUMNS))
    at_adaptive = []
    for keep in KEPT:
        for nodes in WIDTHS:
            lam = lam_of(adaptive_keep(keep, 1, nodes))
            least = minima(y, nodes, lam, STARTS, descent)[0].value
            at_adaptive.append(least_bound(y, 1, lam_of(keep)) / least)
    keep, d = KEPT[0], WIDTHS[0]
    least = minima(y, d, lam_of(keep), STARTS, descent)[0].value
    at_fixed = [least_bound(y, 1, beta_at(keep, 1, d)) / least]
    literal = [least_bound(y, 1, lam_of(keep)) / least]
    widths = " and ".join(map(str, WIDTHS))
    what = f"min ‖Y − A‖² + ((1 − θ̄)/θ̄)‖A‖_*² / least f at θ(d), d = {widths}"
    one = f"/ least f of nodes kept with θ = {keep:g}, d = {d}"
    return [
        near_one("proposition_3_3", what, at_adaptive, VALUE, CHARITABLE),
        near_one("e17", f"min ‖Y − A‖² + ((1 − θ)/θ)‖A‖_*² {one}", literal, VALUE),
        near_one("e17", f"min ‖Y − A‖² + ((1 − θ)/(θd))‖A‖_*² {one}", at_fixed, VALUE, CORRECTED),
    ]
