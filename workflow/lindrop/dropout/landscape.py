"""The landscape of the dropout objective (Mianjy 2018, Section 4 and Appendix D).

Hessians; all critical points for tied weights and a symmetric M with distinct eigenvalues; and the
curves along which the paper's proofs descend from critical points that are not minima.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.dropout.equalise import equalizer
from lindrop.dropout.objective import squared_norms, tied_objective

APART = 1e-9  # squared norms that differ by less, relative to the largest eigenvalue, are equal

Curve = tuple[Matrix, float]  # tangent at U, and the second derivative of f along it as claimed


class Tied(NamedTuple):
    """Problem with tied weights: falling eigenvalues and eigenvectors of M, r hidden nodes, λ."""

    values: Vector
    vectors: Matrix
    r: int
    lam: float

    @property
    def m(self) -> Matrix:
        """M, rebuilt from its eigenvalues and eigenvectors."""
        return np.asarray((self.vectors * self.values) @ self.vectors.T)


class Group(NamedTuple):
    """Number of hidden nodes with a common norm, and the indices of the eigenvectors they span."""

    nodes: int
    spanned: tuple[int, ...]


class CriticalPoint(NamedTuple):
    """U with ∇f(U) = 0, its nodes sorted by group, and the value f(U)."""

    u: Matrix
    groups: tuple[Group, ...]
    value: float

    @property
    def equalised(self) -> bool:
        """Whether all nodes have the same norm (zero included)."""
        return len(self.groups) == 1

    @property
    def leading(self) -> bool:
        """Whether U is equalised and spans the first eigenvectors (Lemma D.3, Cases 1 and 2)."""
        return self.equalised and self.groups[0].spanned == tuple(range(self.rank))

    @property
    def rank(self) -> int:
        """Rank r' of U: the number of eigenvectors of M that it spans."""
        return sum(len(group.spanned) for group in self.groups)


def hessian(m: Matrix, u: Matrix, v: Matrix, lam: float) -> Matrix:
    """Hessian of f(U, V) by the entries of U, row by row, followed by those of V."""
    by_u, by_both, by_v = _second_derivatives(m, u, v, lam)
    return np.block([[by_u, by_both], [by_both.T, by_v]])


def tied_hessian(m: Matrix, u: Matrix, lam: float) -> Matrix:
    """Hessian of f(U, U) by the entries of U, row by row: the sum of `hessian`'s four blocks."""
    by_u, by_both, by_v = _second_derivatives(m, u, u, lam)
    return np.asarray(by_u + by_both + by_both.T + by_v)


def _second_derivatives(
    m: Matrix, u: Matrix, v: Matrix, lam: float
) -> tuple[Matrix, Matrix, Matrix]:
    rows, columns, nodes = np.eye(len(u)), np.eye(len(v)), np.eye(u.shape[1])
    by_u = np.kron(rows, v.T @ v + lam * np.diag(squared_norms(v)))
    by_v = np.kron(columns, u.T @ u + lam * np.diag(squared_norms(u)))
    by_both = np.einsum("aj,bi->aibj", u, v) + np.einsum("ai,bi,ij->aibj", u, v, 2 * lam * nodes)
    by_both = by_both.reshape(u.size, v.size) + np.kron(u @ v.T - m, nodes)
    return 2 * by_u, 2 * by_both, 2 * by_v


def critical_points(of: Tied, rng: np.random.Generator | None = None) -> Iterator[CriticalPoint]:
    """Critical points of f(U) = ‖M − UU'‖² + λ Σ‖u_i‖⁴, one of each equivalence class.

    Critical points are equivalent if they differ by the order or signs of nodes, or by rotations
    within a group of nodes that keep its norms equal. The Hessian depends on these rotations; with
    `rng` they are random.

    Proof of completeness. ∇f = 0 means MU = UU'U + λUD with D = diag(U'U). So λU'UD = U'MU − (U'U)²
    is symmetric: U'U commutes with D, and nodes of unequal norms are orthogonal. A group of k nodes
    with ‖u_i‖² = n thus has MU_g = U_g(U_g'U_g + λnI): it spans a set E of eigenvectors of M, which
    no other group spans, and Σ_g² = λ_E − λn (as in Eq. 17), so kn = Σλ_E − |E|λn. Conversely,
    every choice of groups and sets E with Σ_g² > 0 gives a critical point.
    """
    for groups in groupings(of.r, range(len(of.values))):
        norms = [_squared_norm(of, group) for group in groups]
        if _exist(of, groups, norms):
            parts = zip(groups, norms, strict=True)
            u = np.hstack([_columns(of, group, norm, rng) for group, norm in parts])
            yield CriticalPoint(u, groups, tied_objective(of.m, u, of.lam))


def groupings(nodes: int, eigenvectors: Sequence[int]) -> Iterator[tuple[Group, ...]]:
    """All ways to split nodes into groups, none of which spans more eigenvectors than it has nodes.

    Groups are sorted by the first eigenvector that each spans; a group of zero nodes comes last.
    """
    yield (Group(nodes, ()),) if nodes else ()
    for place, first in enumerate(eigenvectors):
        later = eigenvectors[place + 1 :]
        for more in range(nodes):
            for others in combinations(later, more):
                left = [e for e in later if e not in others]
                for size in range(more + 1, nodes + 1):
                    for rest in groupings(nodes - size, left):
                        yield Group(size, (first, *others)), *rest


def _squared_norm(of: Tied, group: Group) -> float:
    """Squared norm n = Σλ_E / (k + λ|E|) of each of the k nodes of a group that spans E."""
    spanned = of.values[list(group.spanned)]
    return float(spanned.sum() / (group.nodes + of.lam * len(spanned)))


def _exist(of: Tied, groups: tuple[Group, ...], norms: list[float]) -> bool:
    """Whether all Σ_g² > 0 and the groups' norms differ; equal norms belong to another grouping."""
    distinct = np.all(np.diff(np.sort(norms)) > APART * of.values[0])
    return bool(distinct) and all(
        np.all(of.values[list(group.spanned)] > of.lam * norm)
        for group, norm in zip(groups, norms, strict=True)
    )


def _columns(of: Tied, group: Group, norm: float, rng: np.random.Generator | None) -> Matrix:
    """Columns of U for a group: U_g = W_E Σ_g, rotated so that they have equal lengths."""
    spanned, k = list(group.spanned), group.nodes
    u = np.zeros((len(of.values), k))
    u[:, : len(spanned)] = of.vectors[:, spanned] * np.sqrt(of.values[spanned] - of.lam * norm)
    if rng is None or not spanned:
        return np.asarray(u @ equalizer(u))
    return _equalised_anyhow(u, rng)


def _equalised_anyhow(u: Matrix, rng: np.random.Generator) -> Matrix:
    """U times a random rotation that gives all its columns equal norms.

    A uniformly random rotation is followed by plane rotations that give one column after another
    the mean norm. Algorithm 2 cannot be used: up to signs, its result depends on UU' alone.
    """
    k = u.shape[1]
    u = u @ np.linalg.qr(rng.normal(size=(k, k)))[0]
    mean = np.sum(u**2) / k
    for done in range(k - 1):
        u[:, done:] = u[:, done:][:, np.argsort(-squared_norms(u[:, done:]))]
        u[:, [done, -1]] = u[:, [done, -1]] @ _turn(u[:, done], u[:, -1], mean)
    return u


def _turn(a: Vector, b: Vector, norm: float) -> Matrix:
    """Rotation T (2 × 2) for which the first column of (a, b)T has the squared norm `norm`.

    `norm` must lie between ‖b‖² and ‖a‖².
    """
    half, both, cross = (a @ a - b @ b) / 2, (a @ a + b @ b) / 2, a @ b
    cosine = np.clip((norm - both) / np.hypot(half, cross), -1, 1)
    t = (np.arctan2(cross, half) + np.arccos(cosine)) / 2
    return np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])


def levelling(of: Tied, point: CriticalPoint) -> Iterator[Curve]:
    """Curves of Lemma D.2, one for every two nodes of unequal norms, which rotate into each other.

    The function g printed there lacks the factor λ.
    """
    norms = squared_norms(point.u)
    for i, j in combinations(range(of.r), 2):
        if abs(norms[i] - norms[j]) > APART * of.values[0]:
            tangent = np.zeros_like(point.u)
            tangent[:, i], tangent[:, j] = point.u[:, j], -point.u[:, i]
            yield tangent, -4 * of.lam * (norms[i] - norms[j]) ** 2


def all_missing(of: Tied, point: CriticalPoint) -> Curve:
    """Curve of Lemma D.3, Case 2: all of the first r eigenvectors that U lacks come in at once."""
    values, vectors, r, lam = of
    null = np.linalg.svd(point.u)[2][point.rank :]
    growth = (r - point.rank) * lam / (r + lam * point.rank) * values[: point.rank].sum()
    return vectors[:, point.rank : r] @ null, 4 * (growth - values[point.rank : r].sum())


def next_missing(of: Tied, point: CriticalPoint) -> Curve:
    """Curve U + t w_{r'+1} z' with Uz = 0, which adds the next eigenvector that U lacks (E10).

    It replaces the curve of Lemma D.3, Case 2, and shows the claim for every λ > 0.
    """
    z = np.linalg.svd(point.u)[2][-1]
    shift = of.lam * np.sum(point.u**2) / of.r
    return np.outer(of.vectors[:, point.rank], z), -4 * (of.values[point.rank] - shift)


def exchanged(of: Tied, point: CriticalPoint) -> Curve:
    """Curve of Lemma D.3, Case 3: the last eigenvector of U turns into the first that it lacks."""
    spanned = point.groups[0].spanned
    old, new = spanned[-1], min(set(range(point.rank)).difference(spanned))
    row = of.vectors[:, old] @ point.u  # σ_j v_j'
    return np.outer(of.vectors[:, new], row), -4 * (row @ row) * (of.values[new] - of.values[old])
