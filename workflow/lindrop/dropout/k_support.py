"""The k-support norm with k = r: what dropping blocks of r hidden nodes adds (Pal 2020, Section 2).

Signs and order of the entries do not matter; the spectral norm of a matrix is that of its singular
values. The unit ball is the convex hull of the unit vectors of which at most r entries are not
zero, so the dual norm is the 2-norm of the r largest entries. Norms are taken along the last axis.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np

from lindrop.arrays import Matrix, Vector
from lindrop.dropout.equalise import equalizer, universal_equalizer

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
    definition of the norm; `balanced_root` makes all equal. So Λ is convex, its own envelope.
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


def fewest_blocks(a: Vector, r: int) -> int:
    """The least k that `balanced_root` serves; fewer blocks may attain the norm too (E15)."""
    rho = int(rho_of(a, r))
    flat = int(np.count_nonzero(a)) - rho + 1
    return max(flat, 1) if rho == r else _signs_for(flat)


def _signs_for(flat: int) -> int:
    """Size of the smallest known matrix of signs with `flat` orthogonal columns."""
    return 1 << (flat - 1).bit_length()


def balanced_root(a: Vector, r: int, k: int) -> Matrix:
    """G with GG' = dMat(a), a > 0 falling, in k blocks of r columns, all ‖G_jG_j'‖ = ‖a‖/k.

    So k Σ ‖G_jG_j'‖² = ‖a‖², the least there can be. With n = r − ρ* + 1 and t = Σ_{i≥ρ*} a_i / n,
    ‖a‖² = a_1² + … + a_{ρ*−1}² + nt². Let kG_jG_j' be dMat(a_1, …, a_{ρ*−1}) beside tP_j, P_j a
    projection of rank n: the blocks are equally long. Left to solve is Σ P_j = k dMat(x) with
    x = (a_{ρ*}, …)/t: 0 ≤ x_i ≤ 1 (that is how ρ* is chosen) and Σ x_i = n.
    """
    if k < fewest_blocks(a, r):
        raise ValueError(f"{k} blocks: balanced ones are known from {fewest_blocks(a, r)} on")
    rho = int(rho_of(a, r))
    head, flat = a[: rho - 1], a[rho - 1 :]
    t = flat.sum() / (r - rho + 1)
    root = np.zeros((k, len(a), r))
    root[:, : len(head), : len(head)] = np.diag(np.sqrt(head))
    root[:, len(head) :, rho - 1 :] = np.sqrt(t) * _projections(flat / t, r - rho + 1, k)
    return np.asarray(root.transpose(1, 0, 2).reshape(len(a), k * r) / np.sqrt(k))


def _projections(x: Vector, n: int, k: int) -> Matrix:
    """F_1 … F_k, each of n orthonormal columns, with Σ F_jF_j' = k dMat(x).

    n = 1: the columns of dMat(√(kx)), padded with zeros to k and rotated to equal length. n > 1:
    let s_j be the rows of a matrix of signs with orthogonal columns and FF' have the diagonal x;
    then Σ_j dMat(s_j) FF' dMat(s_j) keeps the diagonal and nothing else. Blocks beyond the number
    of signs are coordinates: whole parts of kx, a mean of sets of n of them.
    """
    if n == 1:
        root = np.pad(np.diag(np.sqrt(k * x)), ((0, 0), (0, k - len(x))))
        return (root @ equalizer(root)).T[:, :, None]
    mixed = _signs_for(len(x))
    plain = np.eye(len(x))[:, _coordinates(x, n, k)[: k - mixed]].transpose(1, 0, 2)
    rest = (k * x - plain.sum(axis=(0, 2))) / mixed
    signs = np.sqrt(mixed) * universal_equalizer(mixed)[:, : len(x)]
    return np.concatenate((plain, signs[:, :, None] * _frame(np.clip(rest, 0, 1), n)))


def _coordinates(x: Vector, n: int, k: int) -> Matrix:
    """Sets of n coordinates that fit k times into kx, one by row: at least k − len(x) of them.

    Intervals of the lengths x_i in a row cover [0, n]. The n that hold u, u + 1, … differ, as no
    x_i exceeds 1; each set's share of all u in [0, 1] is its weight in x.
    """
    ends = np.cumsum(x)
    cuts = np.sort(np.concatenate(([0.0], ends[:-1] % 1, [1.0])))
    middles = (cuts[:-1] + cuts[1:]) / 2
    sets = np.minimum(np.searchsorted(ends, middles[:, None] + np.arange(n)), len(x) - 1)
    return np.repeat(sets, np.floor(k * np.diff(cuts)).astype(int), axis=0)


def _frame(x: Vector, n: int) -> Matrix:
    """F of n orthonormal columns whose rows have the squared lengths 0 ≤ x_i ≤ 1, Σ x_i = n.

    From the n unit rows, at the largest x, and zero rows, at the others: turn a row too long and
    one too short, which are orthogonal, until one of them is right. It always is the shorter one
    or the longer one that gets there, as no x of a zero row exceeds one of a unit row.
    """
    order = np.argsort(-x, kind="stable")
    wanted, f = x[order], np.eye(len(x), n)
    long, short = 0, n
    while long < n and short < len(x):
        has_long, has_short = f[long] @ f[long], f[short] @ f[short]
        spare, needed = has_long - wanted[long], wanted[short] - has_short
        moved = max(min(spare, needed), 0.0)
        sine = np.sqrt(moved / (has_long - has_short)) if moved > 0 else 0.0
        cosine = np.sqrt(1 - sine**2)
        f[[long, short]] = np.array([[cosine, -sine], [sine, cosine]]) @ f[[long, short]]
        if needed <= spare:
            short += 1
        else:
            long += 1
    return np.asarray(f[np.argsort(order)])
