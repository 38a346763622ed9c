"""Blocks of equal norm that attain the k-support norm with k = r (Pal 2020, Definition 2.4)."""

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.dropout.equalise import equalizer, universal_equalizer
from lindrop.dropout.k_support import rho_of


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
