"""Mianjy 2018, Section 5: Algorithm 3 (E7, E8), and the equaliser of Remark 5.2 (E9)."""

from collections.abc import Callable, Iterator

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import CORRECTED, Check, equal
from lindrop.dropout.equalise import equalised_factors, universal_equalizer
from lindrop.dropout.multistart import minima, tied_minima
from lindrop.dropout.objective import objective, squared_norms, tied_objective
from lindrop.dropout.optimum import solve, solve_tied, threshold, top_singular
from lindrop.papers.mianjy2018.as_printed import (
    effective_rank_printed,
    solve_unpadded,
    universal_equalizer_printed,
)
from lindrop.papers.mianjy2018.problems import spread

STARTS = 5
CASES = ((2, 0.5), (4, 3.0), (7, 10.0))  # r and λ; in the last two cases ρ < r
STEPS = range(1, 8)  # values of k in Z_k


def checks(seed: int) -> list[Check]:
    """Checks of Algorithm 3 as printed and corrected, and of Z_k for powers of two."""
    solver, rotations = np.random.default_rng(seed).spawn(2)
    return [*_algorithm_3(solver), *_remark_5_2(rotations)]


def _algorithm_3(rng: np.random.Generator) -> Iterator[Check]:
    """Checks of f at the result of Algorithm 3, against descents from random starts.

    Without zero columns for the nodes beyond ρ, it ends above the minimum (E8).
    """
    problems = [(rng.normal(size=(6, 5)), r, lam) for r, lam in CASES]
    best = [minima(*problem, STARTS, rng)[0].value for problem in problems]

    def excess(solver: Callable[[Matrix, int, float], tuple[Matrix, Matrix]]) -> float:
        """Largest relative distance of f at a solver's result to the best of random starts."""
        found = [objective(m, *solver(m, r, lam), lam) for m, r, lam in problems]
        return float(np.max(np.abs(np.array(found) / best - 1)))

    what = "f above the best of random starts, relative:"
    padded = f"{what} corrected ρ, r columns"
    rank, columns, right = map(excess, (solve_printed_rank, solve_unpadded, solve))
    yield equal("algorithm_3", f"{what} printed ρ, r columns", rank, 0, 1e-9)
    yield equal("algorithm_3", padded, right, 0, 1e-9, CORRECTED)
    yield equal("e8", f"{what} corrected ρ, ρ columns", columns, 0, 1e-9)
    yield equal("e8", padded, right, 0, 1e-9, CORRECTED)
    yield equal("e8", f"tied weights, {padded}", _tied_excess(rng), 0, 1e-9, CORRECTED)


def _tied_excess(rng: np.random.Generator) -> float:
    """Largest relative distance of f at the tied solution to the best of random starts."""
    excess = []
    for r, lam in CASES:
        m = rng.normal(size=(5, 5))
        best = tied_minima(m, r, lam, STARTS, rng)[0].value
        excess.append(abs(tied_objective(m, solve_tied(m, r, lam), lam) / best - 1))
    return max(excess)


def solve_printed_rank(m: Matrix, r: int, lam: float) -> tuple[Matrix, Matrix]:
    """Result of Algorithm 3 with the printed ρ of step 1 (E7) and r columns in step 3."""
    left, values, right = top_singular(m, r)
    rho = effective_rank_printed(values, r)
    kept = np.maximum(values - threshold(values, r, lam, rho), 0)
    return equalised_factors(left, kept, right, r)


def _remark_5_2(rng: np.random.Generator) -> Iterator[Check]:
    """Checks of the orthogonality of Z_k (E9).

    The printed factor shrinks with every step, so from k = 3 on the printed Z_k is no rotation.
    """
    uneven = []
    for k in STEPS:
        u = rng.normal(size=(10, 2**k))
        right = np.linalg.svd(u)[2].T
        uneven.append(spread(squared_norms(u @ right @ universal_equalizer(2**k))))
    what = "spread of the squared norms of UVZ, up to 128 columns"
    yield equal("remark_5_2", what, max(uneven), 0, 1e-12, CORRECTED)
    printed = {k: universal_equalizer_printed(k) for k in STEPS}
    corrected = max(skew(universal_equalizer(2**k)) for k in STEPS)
    yield equal("e9", "largest entry of Z'Z − I", max(map(skew, printed.values())), 0, 1e-12)
    yield equal("e9", "largest entry of Z'Z − I", corrected, 0, 1e-12, CORRECTED)
    sizes = min(len(z) / 2**k for k, z in printed.items())
    yield equal("e9", "columns of Z_k over r = 2^k", sizes, 1, 0)
    first_wrong = next(k for k, z in printed.items() if skew(z) > 1e-12)
    what = "first k whose printed Z_k is not orthogonal"
    yield equal("e9", what, first_wrong, 3, 0, CORRECTED)


def skew(z: Matrix) -> float:
    """Largest entry of Z'Z − I."""
    return float(np.abs(z.T @ z - np.eye(len(z))).max())
