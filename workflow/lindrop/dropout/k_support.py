"""The k-support norm with k = r: what dropping blocks of r hidden nodes adds (Pal 2020, Section 2).

Signs and order of the entries do not matter; the spectral norm of a matrix is that of its singular
values. The unit ball is the convex hull of the unit vectors of which at most r entries are not
zero, so the dual norm is the 2-norm of the r largest entries. Norms are taken along the last axis.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np

from lindrop.base.arrays import Matrix, Vector

NormRule = Callable[[Vector, int], Vector]  # of a and r: ‖a‖²


def falling(a: Vector, least: int = 0) -> Vector:
    """The absolute values, largest first, with zeros up to at least that many."""
    missing = max(least - a.shape[-1], 0)
    padded = np.pad(np.abs(a), [(0, 0)] * (a.ndim - 1) + [(0, missing)])
    return -np.sort(-padded, axis=-1)


def _tails(a: Vector, r: int) -> Vector:
    """Σ_{i≥ρ} a_i for ρ = 1 … r."""
    return np.flip(np.cumsum(np.flip(a, -1), axis=-1), -1)[..., :r]


def _formula_11(a: Vector, r: int) -> Vector:
    """Equation 11 without its factor, for ρ = 1 … r, of falling a with at least r entries."""
    squares = np.cumsum(a**2, axis=-1)[..., :r] - a[..., :r] ** 2
    return np.asarray(squares + _tails(a, r) ** 2 / np.arange(r, 0, -1))


def rho_of(a: Vector, r: int) -> Vector:
    """ρ*: the largest ρ ≤ r with a_{ρ−1}(r − ρ + 1) ≥ Σ_{i≥ρ} a_i, where a₀ = ∞ (E12).

    What holds for a ρ holds for the smaller ones, so it is enough to count them.
    """
    a = falling(a, r)
    holds = a[..., : r - 1] * np.arange(r - 1, 0, -1) >= _tails(a, r)[..., 1:]
    return np.asarray(1 + np.count_nonzero(holds, axis=-1))


def squared_norm(a: Vector, r: int) -> Vector:
    """‖a‖² by Equation 11, ρ corrected (E12): ‖a‖₁²/r at ρ = 1, ‖a‖₂² of at most r entries."""
    values = _formula_11(falling(a, r), r)
    place = np.expand_dims(rho_of(a, r) - 1, -1)
    return np.asarray(np.take_along_axis(values, place, axis=-1)[..., 0])


def squared_norm_printed(a: Vector, r: int) -> Vector:
    """Theorem 2.3 as printed: the ρ that maximises Equation 11. That is always r (E12)."""
    return np.asarray(_formula_11(falling(a, r), r).max(axis=-1))


def dual_norm(z: Vector, r: int) -> Vector:
    """max { ⟨a, z⟩ : ‖a‖ ≤ 1 } = the 2-norm of the r largest entries."""
    return np.asarray(np.linalg.norm(falling(z)[..., :r], axis=-1))


def spectral_regulariser(a: Matrix, r: int, beta: float) -> float:
    """Λ(A) = β‖A‖² of Equation 9, for every A whose rows are in the row space of X.

    Blocks B_i of rank r with Σ B_i = A have k Σ ‖B_i‖² ≥ (Σ ‖B_i‖)², which is at least ‖A‖² by the
    definition of the norm; those of `balanced_blocks` attain it. So Λ is convex, its own envelope.
    """
    return beta * float(squared_norm(np.linalg.svd(a, compute_uv=False), r))


def threshold(m: Vector, r: int, beta: float) -> float:
    """τ, the root of Σ min{ 1, β(|m_i|/τ − 1)₊ } = r; 0 if at most r entries are not zero (E13).

    The sum falls with τ. A term is 1 up to τ = β|m_i|/(1+β) and 0 from τ = |m_i| on; the root lies
    just above the largest of these places at which the sum is r or more, and there τ is all that
    is unknown.
    """
    m = falling(m)
    if beta == 0 or np.count_nonzero(m) <= r:
        return 0.0
    full = m * (beta / (1 + beta))
    places = np.sort(np.concatenate((m, full)))
    places = places[places > 0]
    ones, some, mass = _terms(m, full, places, "left")
    start = places[ones + beta * (mass / places - some) >= r][-1]
    ones, some, mass = _terms(m, full, start, "right")
    return float(beta * mass / (r - ones + beta * some))


def _terms(
    m: Vector, full: Vector, tau: Vector, side: Literal["left", "right"]
) -> tuple[Vector, Vector, Vector]:
    """How many terms are 1, how many between 0 and 1, and Σ m_i of these: at τ, or right of it."""
    sums = np.concatenate(([0.0], np.cumsum(m)))
    ones, positive = (len(m) - np.searchsorted(ends[::-1], tau, side) for ends in (full, m))
    return ones, positive - ones, sums[positive] - sums[ones]


def prox(m: Vector, r: int, beta: float) -> Vector:
    """argmin_a Σ (m_i − a_i)² + β‖a‖², which Theorem 2.7 is (E13): min{ m_i/(1+β), (m_i − τ)₊ }.

    The proximal map of (β/2)‖a‖² in the usual scaling. From ‖a‖² = min Σ a_i²/η_i over 0 ≤ η_i ≤ 1
    with Σ η_i = r: the best a_i is m_i η_i/(η_i + β), and then η_i = min{ 1, β(m_i/τ − 1)₊ }.
    """
    size = np.abs(m)
    shrunk = np.minimum(size / (1 + beta), np.maximum(size - threshold(m, r, beta), 0))
    return np.asarray(np.copysign(shrunk, m))


def enumerated_prox(
    m: Vector, r: int, beta: float, last_rho: int, squared: NormRule = squared_norm
) -> Vector:
    """Theorem 2.7 by its own search: the best a_{ρ,λ} of all ρ ≤ `last_rho` and λ, m falling.

    As printed, `last_rho` is r − 1 and `squared` is `squared_norm_printed` (E13).
    """
    i = np.arange(1, len(m) + 1)
    rho, lam = np.arange(1, last_rho + 1)[:, None, None], i[None, :, None]
    sums = np.concatenate(([0.0], np.cumsum(m)))
    c = np.where(lam >= rho, r + beta * lam + (beta + 1) * (1 - rho), 1)
    s = np.where(lam >= rho, sums[lam] - sums[np.minimum(rho, len(m)) - 1], 0)
    a = np.where(i < rho, m / (1 + beta), m - beta / c * s) * (i <= lam)
    a = a.reshape(-1, len(m))
    values = np.sum((m - a) ** 2, axis=1) + beta * squared(a, r)
    return np.asarray(a[np.argmin(values)])
