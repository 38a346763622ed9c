"""Mianjy 2018, Section 5: Algorithm 3, what it adds to earlier work, and Remark 5.2 (E9)."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import (
    CHARITABLE,
    CORRECTED,
    Check,
    at_least,
    at_most,
    equal,
    relative_distance,
)
from lindrop.dropout.equalise import universal_equalizer
from lindrop.dropout.multistart import Minimum, minima, tied_minima
from lindrop.dropout.objective import keep_of, objective, squared_norms, tied_objective
from lindrop.dropout.optimum import solve, solve_tied
from lindrop.papers.mianjy2018.as_printed import universal_equalizer_printed
from lindrop.papers.mianjy2018.problems import COLUMNS, PRODUCT, ROWS, VALUE, spread

STARTS = 3
CASES = ((2, 0.5), (4, 3.0), (7, 10.0))  # r and λ of tied weights; in the last two cases ρ < r
WIDTHS = 1, 2, 3, 5, 7  # r below, at and above the rank of M, and above both of its dimensions
RATE = 3.0  # λ of contributions II and III, the same for every r
ZERO = 1e-3  # singular values below this share of the largest count as zero
STEPS = range(1, 8)  # values of k in Z_k


class Solved(NamedTuple):
    """A problem, Algorithm 3's factors and f at them, and the best of descents."""

    m: Matrix
    r: int
    lam: float
    u: Matrix
    v: Matrix
    value: float
    best: Minimum

    @property
    def excess(self) -> float:
        """Relative distance of f at Algorithm 3's factors to the best of descents."""
        return abs(self.value / self.best.value - 1)


def checks(seed: int) -> list[Check]:
    """Checks of Algorithm 3, of contributions I to III over Cavazza et al., and of Remark 5.2."""
    solver, rotations = np.random.default_rng(seed).spawn(2)
    return [*_algorithm_3(solver), *_remark_5_2(rotations)]


def _algorithm_3(rng: np.random.Generator) -> Iterator[Check]:
    """Checks of f at the factors of Algorithm 3, against descents from random starts.

    Its singular value decomposition is one of rank r (Remark 5.1): r columns, zeros among them.
    """
    m = rng.normal(size=(ROWS, COLUMNS))
    found = [_solved(m, r, lam, rng) for r in WIDTHS for lam in (0.3, RATE, 10.0)]
    what = f"r = {WIDTHS}, three λ: f above the best of random starts, relative"
    yield equal("algorithm_3", what, max(of.excess for of in found), 0, VALUE, CHARITABLE)
    what = f"tied weights, (r, λ) = {CASES}: f above the best of random starts, relative"
    yield equal("algorithm_3", what, _tied_excess(rng), 0, VALUE, CHARITABLE)
    yield from _beyond_cavazza(found)


def _solved(m: Matrix, r: int, lam: float, rng: np.random.Generator) -> Solved:
    u, v = solve(m, r, lam)
    best = minima(m, r, lam, STARTS, rng)[0]
    return Solved(m, r, lam, u, v, objective(m, u, v, lam), best)


def _beyond_cavazza(found: list[Solved]) -> Iterator[Check]:
    """Checks of contributions I to III: the factors themselves, any r, any fixed dropout rate."""
    apart = [relative_distance(of.u @ of.v.T, of.best.u @ of.best.v.T) for of in found]
    what = f"{len(found)} problems: product UV' of the factors against that of the best descent"
    yield equal("section_5_factors", f"{what}, relative", max(apart), 0, PRODUCT)
    fixed = [of for of in found if of.lam == RATE]
    uneven = max(of.excess for of in fixed)
    what = f"λ = {RATE:g}, r = {WIDTHS}: f above the best of descents, relative, largest"
    yield equal("section_5_any_width", what, uneven, 0, VALUE)
    ranks = [_rank(of.best.u @ of.best.v.T) for of in fixed]
    what = f"θ = {keep_of(RATE):g} for every r: largest rank of a best descent, M's being {COLUMNS}"
    yield at_most("section_5_fixed_rate", what, max(ranks), COLUMNS - 1)
    lower = sum(rank < min(of.r, COLUMNS) for rank, of in zip(ranks, fixed, strict=True))
    what = f"of {len(fixed)} widths at this θ, those whose optimum has a rank below r and M's"
    yield at_least("section_5_fixed_rate", what, lower, 1)


def _rank(product: Matrix) -> int:
    return int(np.linalg.matrix_rank(product, rtol=ZERO))


def _tied_excess(rng: np.random.Generator) -> float:
    """Largest relative distance of f at the tied solution to the best of random starts."""
    excess = []
    for r, lam in CASES:
        m = rng.normal(size=(5, 5))
        best = tied_minima(m, r, lam, STARTS, rng)[0].value
        excess.append(abs(tied_objective(m, solve_tied(m, r, lam), lam) / best - 1))
    return max(excess)


def _remark_5_2(rng: np.random.Generator) -> Iterator[Check]:
    """Checks of the universal equaliser Z_k, and of its recursion as printed (E9).

    The proof's sum has entries of the square 2^{1−k} and 2^{k−1} columns. The printed recursion
    multiplies the blocks by 2^{(1−k)/2} at every step, so from k = 3 on its Z_k is no rotation.
    """
    uneven, signs = [], []
    for k in STEPS:
        z = universal_equalizer(2 ** (k - 1))
        signs.append(np.abs(z - 2 ** ((1 - k) / 2) * np.sign(universal_equalizer_printed(k))).max())
        for rows in (10, 2**k + 1):
            u = rng.normal(size=(rows, len(z)))
            right = np.linalg.svd(u)[2].T
            uneven.append(spread(squared_norms(u @ right @ z)))
    what = f"Z_k of up to {2 ** (max(STEPS) - 1)} columns: largest"
    name = f"{what} distance of an entry to 2^{{(1−k)/2}} times the sign of the printed one"
    yield equal("remark_5_2", name, max(signs), 0, 1e-12, CHARITABLE)
    name = f"{what} spread of the squared norms of UVZ_k"
    yield equal("remark_5_2", name, max(uneven), 0, 1e-12, CHARITABLE)
    printed = {k: universal_equalizer_printed(k) for k in STEPS}
    corrected = max(skew(universal_equalizer(2**k)) for k in STEPS)
    yield equal("e9", "largest entry of Z'Z − I", max(map(skew, printed.values())), 0, 1e-12)
    yield equal("e9", "largest entry of Z'Z − I", corrected, 0, 1e-12, CORRECTED)
    sizes = [len(z) for z in printed.values()]
    what = "columns of Z_k over"
    yield equal("e9", f"{what} r = 2^k", min(np.array(sizes) / 2.0 ** np.array(STEPS)), 1, 0)
    sums = np.array(sizes) / 2.0 ** (np.array(STEPS) - 1)
    yield equal("e9", f"{what} 2^{{k−1}}, the proof's number", min(sums), 1, 0, CORRECTED)


def skew(z: Matrix) -> float:
    """Largest entry of Z'Z − I."""
    return float(np.abs(z.T @ z - np.eye(len(z))).max())
