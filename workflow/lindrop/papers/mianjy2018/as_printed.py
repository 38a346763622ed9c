"""Formulas of Mianjy 2018 as printed that errata correct; computed to show the difference."""

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.dropout.equalise import equalised_factors
from lindrop.dropout.optimum import shrunk, threshold, top_singular


def effective_rank_printed(values: Vector, r: int) -> int:
    """ρ = max{ j ≤ r : λ_j(M) > λ_j κ_j / (r + λ_j) }, as in Theorems 2.4 and 3.6 (erratum E7).

    κ_j is the mean of the first j values. The strength of dropout, λ, does not occur in this rule.
    """
    values = values[:r]
    means = np.cumsum(values) / np.arange(1, len(values) + 1)
    feasible = np.flatnonzero(values > values * means / (r + values))
    return int(feasible.max(initial=-1)) + 1


def value_at_rank(m: Matrix, values: Vector, r: int, lam: float, rho: int) -> float:
    """Objective ‖M − S‖² + (λ/r)‖S‖²_* of the equalised S to which a given ρ leads.

    S is M with its values shrunk by λρκ_ρ/(r + λρ). `values` are the first r singular values of M,
    or eigenvalues with tied weights. At a wrong ρ, S can have more or fewer than ρ nonzero values.
    """
    kept = np.maximum(values - threshold(values, r, lam, rho), 0)
    lost = np.sum(m**2) - values @ values + np.sum((values - kept) ** 2)
    return float(lost + lam / r * kept.sum() ** 2)


def solve_unpadded(m: Matrix, r: int, lam: float) -> tuple[Matrix, Matrix]:
    """U and V of Algorithm 3 with the compact SVD in step 3: ρ columns instead of r (E8)."""
    left, values, right = top_singular(m, r)
    kept = shrunk(values, r, lam)
    rho = int(np.count_nonzero(kept))
    return equalised_factors(left[:, :rho], kept[:rho], right[:, :rho], rho)


def universal_equalizer_printed(k: int) -> Matrix:
    """Z_k as printed in Remark 5.2: Z₁ = 1, Z_k = 2^{(1−k)/2} [[Z, Z], [−Z, Z]] (erratum E9)."""
    z = np.ones((1, 1))
    for step in range(2, k + 1):
        z = 2 ** ((1 - step) / 2) * np.block([[z, z], [-z, z]])
    return z
