"""Blocks of equal norm that attain the k-support norm with k = r (Pal 2020, Definition 2.4)."""

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.dropout.equalise import equalizer, universal_equalizer
from lindrop.dropout.k_support import rho_of


def fewest_blocks(a: Vector, r: int) -> int:
    """Smallest number k of blocks for which `balanced_root` works; fewer may be possible (E15)."""
    rho = int(rho_of(a, r))
    flat = int(np.count_nonzero(a)) - rho + 1
    return max(flat, 1) if rho == r else _signs_for(flat)


def _signs_for(flat: int) -> int:
    """Size of the sign matrix used for `flat` orthogonal columns: the next power of two."""
    return 1 << (flat - 1).bit_length()


def balanced_root(a: Vector, r: int, k: int) -> Matrix:
    """G with GG' = dMat(a) in k blocks G_j of r columns with equal norms ‖G_jG_j'‖ = ‖a‖/k.

    a must be positive and falling; ‖a‖ is its k-support norm (`k_support`). Then k Σ ‖G_jG_j'‖² =
    ‖a‖², the smallest possible value. Construction: with n = r − ρ* + 1 and t = Σ_{i≥ρ*} a_i / n,
    ‖a‖² = a_1² + … + a_{ρ*−1}² + nt². Choose kG_jG_j' block diagonal, with dMat(a_1, …, a_{ρ*−1})
    and tP_j, where P_j is a projection of rank n: these have equal norms. What remains is to find
    P_j with Σ P_j = k dMat(x), x = (a_{ρ*}, …)/t; by the choice of ρ*, 0 ≤ x_i ≤ 1 and Σ x_i = n.
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
    """F_1 … F_k, each of n orthonormal columns, with Σ F_jF_j' = k dMat(x); shape (k, len(x), n).

    For n = 1 they are the columns of dMat(√(kx)), padded with zeros to k columns and rotated to
    equal length. For n > 1 let s_j be the rows of a sign matrix with orthogonal columns, and F F'
    have the diagonal x; then in Σ_j dMat(s_j) F F' dMat(s_j) all off-diagonal entries cancel.
    Blocks beyond the size of the sign matrix are unit vectors of n coordinates each.
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
    """Sets of n coordinates, a row each, whose indicator vectors sum to at most kx.

    There are at least k − len(x) of them. Consecutive intervals of lengths x_i cover [0, n]. For u
    in [0, 1] the intervals that hold u, u + 1, … are n different ones, as no x_i exceeds 1. So x is
    a mean of indicator vectors of such sets, in which a set's weight is the length of its range of
    u; k times that weight, rounded down, is how often the set is returned.
    """
    ends = np.cumsum(x)
    cuts = np.sort(np.concatenate(([0.0], ends[:-1] % 1, [1.0])))
    middles = (cuts[:-1] + cuts[1:]) / 2
    sets = np.minimum(np.searchsorted(ends, middles[:, None] + np.arange(n)), len(x) - 1)
    return np.repeat(sets, np.floor(k * np.diff(cuts)).astype(int), axis=0)


def _frame(x: Vector, n: int) -> Matrix:
    """F with n orthonormal columns and rows of squared length x_i (0 ≤ x_i ≤ 1, Σ x_i = n).

    Starts from unit rows at the n largest x and zero rows elsewhere. Each step rotates a row that
    is too long and one that is too short, which are orthogonal, until one of the two has its
    length. That is always possible, as no x of a zero row exceeds an x of a unit row.
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
