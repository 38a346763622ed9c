"""Global optima of the dropout objective in closed form (Mianjy 2018, Theorems 2.4 and 3.6).

Every optimum is equalised, so only the singular values of UV' have to be found: those of M, reduced
by one threshold. The rule for ρ, the number of values that stay positive, is corrected (erratum
E7): the printed rule has λ_j where λ j belongs.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import svds

from lindrop.base.arrays import Matrix, Vector
from lindrop.dropout.equalise import equalised_factors


class Spectrum(NamedTuple):
    """Largest singular values of M, or eigenvalues of its symmetric part, falling, with vectors.

    Columns of `left` and `right` are the vectors, which are equal for eigenvalues.
    """

    left: Matrix
    values: Vector
    right: Matrix


def effective_rank(values: Vector, r: int, lam: float) -> int:
    """Rank of the optimum, ρ = max{ j ≤ r : σ_j > λ j κ_j / (r + λ j) }; 0 if M = 0 (erratum E7).

    κ_j is the mean of the first j values σ.
    """
    j = np.arange(1, min(r, len(values)) + 1)
    sums = np.cumsum(values[: len(j)])
    feasible = j[values[: len(j)] > lam * sums / (r + lam * j)]
    return int(feasible.max(initial=0))


def threshold(values: Vector, r: int, lam: float, rho: int) -> float:
    """Amount λρκ_ρ / (r + λρ) by which singular values shrink; κ_ρ is the mean of the first ρ."""
    return float(lam * values[:rho].sum() / (r + lam * rho))


def shrunk(values: Vector, r: int, lam: float) -> Vector:
    """Singular values of the optimal UV', from those of M; all beyond the first ρ are zero."""
    rho = effective_rank(values, r, lam)
    kept = np.zeros_like(values)
    kept[:rho] = values[:rho] - threshold(values, r, lam, rho)
    return kept


def optimal_value(m: Matrix, r: int, lam: float) -> float:
    """Minimum of f(U, V) (Mianjy 2018, Eq. 2) over all U, V with r columns."""
    return _value(m, top_singular(m, r).values, r, lam)


def tied_optimal_value(m: Matrix, r: int, lam: float) -> float:
    """Minimum of f(U, U) (Mianjy 2018, Eq. 4) over all U with r columns."""
    return _value(m, top_eigen(m, r).values, r, lam)


def _value(m: Matrix, values: Vector, r: int, lam: float) -> float:
    """Minimum ‖M‖² − Σ_{i≤ρ} σ_i² + λh²/(r + λρ), h the sum of the first ρ values (Lemma A.3)."""
    rho = effective_rank(values, r, lam)
    first = values[:rho]
    return float(np.sum(m**2) - first @ first + lam * first.sum() ** 2 / (r + lam * rho))


def solve(m: Matrix, r: int, lam: float) -> tuple[Matrix, Matrix]:
    """Global optimum U, V of f(U, V) with r columns (Mianjy 2018, Problem 7, Algorithm 3).

    All r columns are equalised, including those that are zero after shrinking.
    """
    left, values, right = top_singular(m, r)
    return equalised_factors(left, shrunk(values, r, lam), right, r)


def solve_tied(m: Matrix, r: int, lam: float) -> Matrix:
    """Global optimum U of f(U, U) with r columns (Mianjy 2018, Problem 4, Theorem 2.4).

    The positive eigenvalues of (M + M')/2 take the place of the singular values of M.
    """
    vectors, values, _ = top_eigen(m, r)
    return equalised_factors(vectors, shrunk(values, r, lam), vectors, r)[0]


def top_singular(m: Matrix, r: int) -> Spectrum:
    """The r largest singular values of M with their vectors; all, if M has fewer.

    A small r costs O(d²r) for a d × d matrix.
    """
    if 4 * r < min(m.shape):
        start = np.random.default_rng(0).normal(size=min(m.shape))  # fixed, to be reproducible
        left, values, right = svds(m, k=r, v0=start, tol=0)
    else:
        left, values, right = np.linalg.svd(m, full_matrices=False)
    order = np.argsort(-values)[:r]
    return Spectrum(left[:, order], values[order], right[order].T)


def top_eigen(m: Matrix, r: int) -> Spectrum:
    """The r largest eigenvalues of (M + M')/2, negative ones set to zero, with their vectors."""
    d = len(m)
    values, vectors = eigh((m + m.T) / 2, subset_by_index=(max(d - r, 0), d - 1))
    return Spectrum(vectors[:, ::-1], np.maximum(values[::-1], 0), vectors[:, ::-1])
