"""Global optima of the dropout objective in closed form (Mianjy 2018, Theorems 2.4 and 3.6).

Every optimum is equalised; so the problem is one in the singular values of UV' alone, and its
solution shrinks those of M by one threshold. ρ is corrected (E7): the printed rule has a singular
value where λ j belongs.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import svds

from lindrop.base.arrays import Matrix, Vector
from lindrop.dropout.equalise import equalised_factors


class Spectrum(NamedTuple):
    """The largest singular values of M, falling, or eigenvalues of its symmetric part."""

    left: Matrix
    values: Vector
    right: Matrix


def effective_rank(values: Vector, r: int, lam: float) -> int:
    """ρ = max{ j ≤ r : σ_j > λ j κ_j / (r + λ j) }, κ_j the mean of the first j; 0 if M = 0."""
    j = np.arange(1, min(r, len(values)) + 1)
    sums = np.cumsum(values[: len(j)])
    feasible = j[values[: len(j)] > lam * sums / (r + lam * j)]
    return int(feasible.max(initial=0))


def threshold(values: Vector, r: int, lam: float, rho: int) -> float:
    """λρκ_ρ / (r + λρ): what the singular values lose."""
    return float(lam * values[:rho].sum() / (r + lam * rho))


def shrunk(values: Vector, r: int, lam: float) -> Vector:
    """Singular values of the optimal UV'; those beyond ρ are zero."""
    rho = effective_rank(values, r, lam)
    kept = np.zeros_like(values)
    kept[:rho] = values[:rho] - threshold(values, r, lam, rho)
    return kept


def optimal_value(m: Matrix, r: int, lam: float) -> float:
    """The least f(U, V) over all U, V with r columns."""
    return _value(m, top_singular(m, r).values, r, lam)


def tied_optimal_value(m: Matrix, r: int, lam: float) -> float:
    """The least f(U, U) over all U with r columns."""
    return _value(m, top_eigen(m, r).values, r, lam)


def _value(m: Matrix, values: Vector, r: int, lam: float) -> float:
    """‖M‖² − Σ_{i≤ρ} σ_i² + λh²/(r + λρ), h the sum of the first ρ (as in Lemma A.3)."""
    rho = effective_rank(values, r, lam)
    first = values[:rho]
    return float(np.sum(m**2) - first @ first + lam * first.sum() ** 2 / (r + lam * rho))


def solve(m: Matrix, r: int, lam: float) -> tuple[Matrix, Matrix]:
    """Global optimum (U, V) of Problem 7 (Algorithm 3): shrink, factor, equalise.

    Corrected (E8): all r columns are equalised, those too that shrinking made zero.
    """
    left, values, right = top_singular(m, r)
    return equalised_factors(left, shrunk(values, r, lam), right, r)


def solve_tied(m: Matrix, r: int, lam: float) -> Matrix:
    """Global optimum U of Problem 4: the same with the positive eigenvalues of (M + M')/2."""
    vectors, values, _ = top_eigen(m, r)
    return equalised_factors(vectors, shrunk(values, r, lam), vectors, r)[0]


def top_singular(m: Matrix, r: int) -> Spectrum:
    """The first r singular triplets (all, if there are fewer), at O(d²r) where r is small."""
    if 4 * r < min(m.shape):
        start = np.random.default_rng(0).normal(size=min(m.shape))  # the same factors every time
        left, values, right = svds(m, k=r, v0=start, tol=0)
    else:
        left, values, right = np.linalg.svd(m, full_matrices=False)
    order = np.argsort(-values)[:r]
    return Spectrum(left[:, order], values[order], right[order].T)


def top_eigen(m: Matrix, r: int) -> Spectrum:
    """The first r eigenvectors of the symmetric part, the eigenvalues cut off at zero."""
    d = len(m)
    values, vectors = eigh((m + m.T) / 2, subset_by_index=(max(d - r, 0), d - 1))
    return Spectrum(vectors[:, ::-1], np.maximum(values[::-1], 0), vectors[:, ::-1])
