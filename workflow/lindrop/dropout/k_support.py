"""The k-support norm with k = r, the penalty of dropping blocks of r nodes (Pal 2020, Section 2).

Its unit ball is the convex hull of the unit vectors with at most r nonzero entries, so its dual
norm is the 2-norm of the r largest entries. Signs and order of the entries do not matter. The norm
of a matrix is that of its singular values. Functions of a vector also take an array of several, and
compute along its last axis. `prox` is the closed form behind Theorem 2.7 (`dropblock.optimum`).
"""

from collections.abc import Callable
from typing import Literal

import numpy as np

from lindrop.base.arrays import Matrix, Vector

NormRule = Callable[[Vector, int], Vector]  # function of a and r that returns ‖a‖²


def falling(a: Vector, least: int = 0) -> Vector:
    """Absolute values of a, largest first, padded with zeros to at least `least` entries."""
    missing = max(least - a.shape[-1], 0)
    padded = np.pad(np.abs(a), [(0, 0)] * (a.ndim - 1) + [(0, missing)])
    return -np.sort(-padded, axis=-1)


def _tails(a: Vector, r: int) -> Vector:
    """Sums Σ_{i≥ρ} a_i for ρ = 1 … r, along the last axis."""
    return np.flip(np.cumsum(np.flip(a, -1), axis=-1), -1)[..., :r]


def _formula_11(a: Vector, r: int) -> Vector:
    """Eq. 11 of Pal 2020 without its factor for every ρ = 1 … r; a falls and has ≥ r entries."""
    squares = np.cumsum(a**2, axis=-1)[..., :r] - a[..., :r] ** 2
    return np.asarray(squares + _tails(a, r) ** 2 / np.arange(r, 0, -1))


def rho_of(a: Vector, r: int) -> Vector:
    """ρ*: the largest ρ ≤ r with a_{ρ−1}(r − ρ + 1) ≥ Σ_{i≥ρ} a_i, where a₀ = ∞ (Claim 2, E12).

    If the inequality holds for some ρ, it holds for all smaller ones; so ρ* is their number.
    """
    a = falling(a, r)
    holds = a[..., : r - 1] * np.arange(r - 1, 0, -1) >= _tails(a, r)[..., 1:]
    return np.asarray(1 + np.count_nonzero(holds, axis=-1))


def squared_norm(a: Vector, r: int) -> Vector:
    """Squared k-support norm ‖a‖² with k = r, by Eq. 11 of Pal 2020 at ρ* (erratum E12).

    It is ‖a‖₁²/r if ρ* = 1, and ‖a‖₂² if at most r entries are not zero.
    """
    values = _formula_11(falling(a, r), r)
    place = np.expand_dims(rho_of(a, r) - 1, -1)
    return np.asarray(np.take_along_axis(values, place, axis=-1)[..., 0])


def squared_norm_printed(a: Vector, r: int) -> Vector:
    """Largest Eq. 11 of all ρ, without the condition of Claim 2; it is always at ρ = r (E12)."""
    return np.asarray(_formula_11(falling(a, r), r).max(axis=-1))


def dual_norm(z: Vector, r: int) -> Vector:
    """Dual norm, max { ⟨a, z⟩ : ‖a‖ ≤ 1 }: the 2-norm of the r largest entries of |z|."""
    return np.asarray(np.linalg.norm(falling(z)[..., :r], axis=-1))


def spectral_regulariser(a: Matrix, r: int, beta: float) -> float:
    """Λ(A) = β‖A‖² of Pal 2020, Eq. 9, for every A whose rows are in the row space of X.

    k blocks B_i of rank r with Σ B_i = A have k Σ ‖B_i‖² ≥ (Σ ‖B_i‖)² ≥ ‖A‖², the latter by the
    definition of the norm; the blocks of `balanced_blocks` attain equality. So Λ is convex and
    equals its convex envelope.
    """
    return beta * float(squared_norm(np.linalg.svd(a, compute_uv=False), r))


def threshold(m: Vector, r: int, beta: float) -> float:
    """τ, the root of Σ min{ 1, β(|m_i|/τ − 1)₊ } = r; 0 if at most r entries are not zero (E13).

    The sum falls with τ. A term is 1 up to τ = β|m_i|/(1+β) and 0 from τ = |m_i| on. The root lies
    between the largest of these breakpoints at which the sum is still r or more and the next one;
    there the equation is linear in 1/τ.
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
    """Terms of `threshold`'s sum: how many are 1, how many in (0, 1), and Σ m_i of the latter.

    `side` is "left" for the terms at τ, "right" for those just above it.
    """
    sums = np.concatenate(([0.0], np.cumsum(m)))
    ones, positive = (len(m) - np.searchsorted(ends[::-1], tau, side) for ends in (full, m))
    return ones, positive - ones, sums[positive] - sums[ones]


def prox(m: Vector, r: int, beta: float) -> Vector:
    """argmin_a Σ (m_i − a_i)² + β‖a‖²: |a_i| = min{ |m_i|/(1+β), (|m_i| − τ)₊ }, τ of `threshold`.

    This solves Theorem 2.7 of Pal 2020 without a search (E13). Derivation: ‖a‖² is the minimum of
    Σ a_i²/η_i over 0 ≤ η_i ≤ 1 with Σ η_i = r; the best a_i is m_i η_i/(η_i + β), and the best η_i
    is min{ 1, β(m_i/τ − 1)₊ }.
    """
    size = np.abs(m)
    shrunk = np.minimum(size / (1 + beta), np.maximum(size - threshold(m, r, beta), 0))
    return np.asarray(np.copysign(shrunk, m))


def enumerated_prox(
    m: Vector, r: int, beta: float, last_rho: int, squared: NormRule = squared_norm
) -> Vector:
    """Solution of Theorem 2.7 by its own search: the best a_{ρ,λ} over ρ ≤ `last_rho` and all λ.

    m must fall. Our copy of the theorem has `last_rho` = r − 1, but r is right (erratum E13).
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
