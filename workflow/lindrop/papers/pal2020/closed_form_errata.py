"""Pal 2020, Section 2 and Proposition 3.3: E12 to E15 and E17 in numbers."""

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import CORRECTED, Check, equal, relative_distance
from lindrop.dropout.balanced_blocks import fewest_blocks
from lindrop.dropout.dropblock import balanced_factors, beta_at, objective, optimum
from lindrop.dropout.k_support import enumerated_prox, prox, squared_norm, squared_norm_printed
from lindrop.dropout.multistart import minima
from lindrop.dropout.objective import lam_of
from lindrop.papers.pal2020.references import (
    COLUMNS,
    KEPT,
    ROWS,
    STARTS,
    VALUE,
    Problem,
    conjugate_norm,
    dropblock_minima,
    full_inputs,
    near_one,
)

WIDTHS = 4, 8  # d, at least min{a, N}


def errata_checks(
    problems: list[Problem], data: np.random.Generator, descent: np.random.Generator
) -> list[Check]:
    """Every check of this file."""
    return [
        *_e12(problems),
        *_e13(problems),
        *_e14(data, descent),
        *_e15(data, descent),
        *_fixed_keep(data, descent),
    ]


def _e12(problems: list[Problem]) -> list[Check]:
    a, r = np.ones(3), 2
    true = conjugate_norm(a, r)
    what = "a = (1, 1, 1), r = 2: Equation 11, without its factor,"
    ratios = [float(squared_norm_printed(m, r)) / conjugate_norm(m, r) for m, r, _ in problems]
    return [
        equal("e12", f"{what} by the printed ρ", squared_norm_printed(a, r), true),
        equal("e12", f"{what} by the corrected ρ", squared_norm(a, r), true, form=CORRECTED),
        near_one("e12", f"{len(problems)} random A: Λ** by the printed ρ / true", ratios),
    ]


def _e13(problems: list[Problem]) -> list[Check]:
    """How often the printed set of ρ misses the optimum though the norm is right."""
    excess, distances = [], []
    for problem in problems:
        m, r, beta = problem
        a = prox(m, r, beta)
        excess.append(problem.value(enumerated_prox(m, r, beta, r - 1)) / problem.value(a))
        distances.append(relative_distance(a, enumerated_prox(m, r, beta, r)))
    missed = np.count_nonzero(np.array(excess) > 1 + 1e-9)
    what = "the form with τ: largest distance to the best of all ρ ≤ r and λ"
    return [
        equal("e13", f"of {len(problems)} optima, those that ρ ≤ r − 1 misses", missed),
        near_one("e13", "F of the best with ρ ≤ r − 1 / least F", excess),
        equal("e13", what, max(distances), form=CORRECTED),
    ]


def _e14(data: np.random.Generator, descent: np.random.Generator) -> list[Check]:
    """More samples than inputs: X cannot have full column rank."""
    r, beta, rows = 2, 0.3, 3
    y, x = data.normal(size=(ROWS, COLUMNS)), full_inputs(rows, COLUMNS, data)
    claimed = optimum(y, r, beta, x)
    u, v = balanced_factors(claimed.product, x, r)
    attained = objective(y, x, u, v, r, beta) / claimed.value
    least = dropblock_minima(y, x, r, beta, u.shape[1] // r, descent)[0].value
    what = f"X of {rows} rows and {COLUMNS} columns: Theorem 2.7"
    printed = optimum(y, r, beta).value / least
    return [
        near_one("e14", f"{what} for Y / least f", [printed], VALUE),
        near_one("e14", f"{what} for Y P_X / least f", [claimed.value / least], VALUE, CORRECTED),
        near_one("e14", "f of constructed factors / F(A*)", [attained], form=CORRECTED),
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
        near_one("e15", f"{what}f of 4 or more constructed blocks / F(A*)", blocks, form=CORRECTED),
        near_one("e15", "dropout: f of d ≥ rank A* nodes / F(A*)", dropout, form=CORRECTED),
    ]


def _attained(y: Matrix, r: int, beta: float, more: int) -> float:
    """f / F(A*) of balanced factors with so many blocks more than their construction needs."""
    claimed, x = optimum(y, r, beta), np.eye(y.shape[1])
    blocks = fewest_blocks(claimed.values, r) + more
    u, v = balanced_factors(claimed.product, x, r, blocks)
    return objective(y, x, u, v, r, beta) / claimed.value


def _fixed_keep(data: np.random.Generator, descent: np.random.Generator) -> list[Check]:
    """Proposition 3.3 and E17 at θ and d that are given."""
    y = data.normal(size=(ROWS, COLUMNS))
    printed, corrected, growth = [], [], []
    for keep in KEPT:
        few, many = (minima(y, d, lam_of(keep), STARTS, descent)[0].value for d in WIDTHS)
        growth.append(many / few)
        for d, least in zip(WIDTHS, (few, many), strict=True):
            printed.append(optimum(y, 1, lam_of(keep)).value / least)
            corrected.append(optimum(y, 1, beta_at(keep, 1, d)).value / least)
    claim, of_least = "proposition_3_3", "/ least f of dropout"
    return [
        near_one(claim, f"its right side {of_least}", printed, VALUE),
        near_one(claim, f"with (1 − θ)/(θd) in it {of_least}", corrected, VALUE, CORRECTED),
        near_one(
            "e17", f"least f of {WIDTHS[1]} nodes / of {WIDTHS[0]}, θ the same", growth, VALUE
        ),
        near_one("e17", f"with (1 − θ)/(θd) {of_least}, both d", corrected, VALUE, CORRECTED),
    ]
