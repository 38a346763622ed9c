"""EDLAE with low rank and a pattern: B = off(UV') + S, S with k weights per column.

It minimises ‖X - XB‖² + ‖Λ̃^½ B‖² as sparse_edlae does; off() sets the diagonal to 0. V and S are
computed in turns, each exactly for the others, and U by a step along a preconditioned gradient,
whose length is the best one. The objective never rises. With H = G + Λ̃ and d = diag(UV'):

S     the columns H_NN⁻¹ (G_Nj (1 + d_j) - (HU)_N v_j)
V     the rows (U_j'HU_j)⁻¹ U_j'(G_j - H s_j), U_j being U without its row j
U     along H⁻¹ off(HB - G) V (V'V)⁻¹, in which H⁻¹ is some steps of conjugate gradients

Nothing of the size of X'X is kept: H times a matrix of few columns are two products with X.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from lindrop.base.arrays import Matrix, Vector
from lindrop.base.errors import UserError
from lindrop.base.reporting import logger
from lindrop.linalg.kernels import Array, sparse_times_sparse
from lindrop.models.base import Fit, SparseItems, Training, add_own
from lindrop.models.pattern.columns import Beside
from lindrop.models.pattern.rows import joined
from lindrop.models.pattern.solver import USER_CAP, Solver

POWERS = 6  # products of the first V with X'X
STEPS = 10  # of conjugate gradients
ITEMS = 1024  # whose rows of V are computed at once
ROUNDED = 1e-12  # if B lowers the objective by a smaller share, it is rounding only
JITTER = 1e-10  # share of its trace that is added to a system of V, which may be singular


@dataclass(frozen=True)
class Hybrid:
    """Model with B = off(UV') + S: the encoder U, the decoder V, and S as its three CSR arrays."""

    encoder: Matrix
    decoder: Matrix
    indptr: Array
    indices: Array
    data: Array

    @property
    def sparse(self) -> SparseItems:
        """The model of S alone."""
        return SparseItems(self.indptr, self.indices, self.data)

    def scores(self, x: sp.csr_array) -> Matrix:
        """X B, users × items."""
        x = x.astype(self.encoder.dtype)
        scores: Matrix = sparse_times_sparse(x, (self.indptr, self.indices, self.data))
        scores += (x @ self.encoder) @ self.decoder.T
        add_own(scores, x, -(self.encoder * self.decoder).sum(1))
        return scores

    def contributions(self, history: Array, item: int) -> Vector:
        """B_ij for the items i of a history and the item j."""
        parts: Vector = self.encoder[history] @ self.decoder[item]
        parts[np.asarray(history) == item] = 0.0
        return parts + self.sparse.contributions(history, item)


def fit_hybrid_edlae(
    data: Training,
    factors: float,
    neighbours: float,
    p: float,
    ridge: float,
    user_cap: float = USER_CAP,
    spread: float = 0.0,
    iterations: float = 20,
    tolerance: float = 1e-3,
) -> Fit:
    """Fit B = off(UV') + S, U and V with `factors` columns, S with `neighbours` weights in each.

    `user_cap` and `spread` are those of `fit_sparse_edlae`. The fit stops when two turns in a row
    lower the objective by less than the share `tolerance`. If B lowers the objective by no more
    than rounding, as when no user has two items, the model is zero.
    """
    rank = int(factors)
    if not 0 < rank < data.largest_rank:
        raise UserError(
            f"hybrid EDLAE: factors is {rank}, but must be below {data.largest_rank}, the smaller "
            "of the numbers of users and items"
        )
    solver = Solver(data, neighbours, p, ridge, user_cap, spread)
    turns = _Turns(data, solver)
    u, history, calm = turns.start(rank), list[Mapping[str, float]](), 0
    v, s = u, _no_weights(data.items)
    for _ in range(int(iterations)):
        hu = turns.times(u)
        v = turns.decoder(u, hu, s)
        s, objective = turns.columns(u, v, hu)
        small = history and history[-1]["objective"] - objective < tolerance * objective
        calm = calm + 1 if small else 0
        history.append({"objective": objective})
        logger.info("turn %d: objective %.6g", len(history), objective)
        if calm == 2 or len(history) == int(iterations):
            break
        u = turns.encoder(u, v, hu, s)
    if not history[-1]["objective"] < (1 - ROUNDED) * turns.gram.sum():
        u, v, s = np.zeros_like(u), np.zeros_like(v), _no_weights(data.items)
    kind, length = data.dtype, np.linalg.norm(u, axis=0)
    u, v = _ratio(u, length), length * v  # so that V alone is large or tiny
    parts = u.astype(kind), v.astype(kind), s.indptr, s.indices, s.data
    return Fit(Hybrid(*parts), history, calm == 2)


class _Turns:
    """The exact V, the exact S, and a step of U."""

    def __init__(self, data: Training, solver: Solver) -> None:
        self.data, self.solver = data, solver
        self.x = sp.csr_array(data.x, dtype=np.float64)
        self.gram, self.penalty = data.gram_diagonal, solver.penalty
        self.diagonal = self.gram + self.penalty  # of H
        self.products = np.zeros(data.items)  # s · G_Nj of the columns of S

    def times(self, b: Matrix) -> Matrix:
        """H B for a B with few columns."""
        product: Matrix = self.x.T @ (self.x @ b)
        product += self.penalty[:, None] * b
        return product

    def solved(self, b: Matrix) -> Matrix:
        """An approximation of H⁻¹ B, by conjugate gradients."""
        inverse = 1.0 / np.maximum(self.diagonal, np.finfo(float).tiny)[:, None]
        found, rest = np.zeros_like(b), b
        direction = near = inverse * rest
        length = (rest * near).sum(0)
        for _ in range(STEPS):
            product = self.times(direction)
            step = _ratio(length, (direction * product).sum(0))
            found, rest = found + step * direction, rest - step * product
            near = inverse * rest
            before, length = length, (rest * near).sum(0)
            direction = near + _ratio(length, before) * direction
        return found

    def start(self, rank: int) -> Matrix:
        """The U of a ridge regression on the leading eigenvectors of X'X, nearly."""
        v = np.random.default_rng(self.data.seed).standard_normal((self.data.items, rank))
        for _ in range(POWERS):
            v = np.linalg.qr(self.x.T @ (self.x @ v))[0]
        return v - self.solved(self.penalty[:, None] * v)

    def decoder(self, u: Matrix, hu: Matrix, s: SparseItems) -> Matrix:
        """The V that is best for U and S."""
        v, whole, h = np.empty_like(u), u.T @ hu, self.diagonal
        right = hu - s.matrix.T @ hu + (self.products - h)[:, None] * u
        whole += JITTER * np.trace(whole) * np.eye(len(whole))
        for start in range(0, len(u), ITEMS):
            part = slice(start, start + ITEMS)
            own = u[part, :, None]
            both = own * hu[part, None, :]
            systems = whole - both - both.transpose(0, 2, 1)
            systems += h[part, None, None] * own * own.transpose(0, 2, 1)
            v[part] = np.linalg.solve(systems, right[part, :, None])[:, :, 0]
        return v

    def columns(self, u: Matrix, v: Matrix, hu: Matrix) -> tuple[SparseItems, float]:
        """The S that is best for U and V, and the objective."""
        d, at = (u * v).sum(1), self.solver.of.item_of
        beside = Beside.of(hu[at], v[at], 1.0 + d[at])
        s = joined(self.solver.parts(range(len(u)), beside))
        self.products[at] = beside.products
        along = (hu * v).sum(1)
        low_rank = self.gram - 2 * along + 2 * self.diagonal * d
        low_rank += ((v @ (u.T @ hu)) * v).sum(1) - 2 * d * along + self.diagonal * d**2
        return s, float(low_rank.sum() - beside.gains.sum())

    def encoder(self, u: Matrix, v: Matrix, hu: Matrix, s: SparseItems) -> Matrix:
        """U after a step."""
        d = (u * v).sum(1)
        own = (hu * v).sum(1) - self.diagonal * d + self.products - self.gram  # diag(HB - G)
        change = u @ (v.T @ v) - (1.0 + d)[:, None] * v + s.matrix @ v  # (B - I) V
        slope = self.times(change) + (self.penalty - own)[:, None] * v  # off(HB - G) V
        step = -self.solved(slope) @ np.linalg.pinv(v.T @ v, hermitian=True)
        h_step, along = self.times(step), (step * v).sum(1)
        curvature = float(((step.T @ h_step) * (v.T @ v)).sum() + (self.diagonal * along**2).sum())
        curvature -= 2 * float((along * (h_step * v).sum(1)).sum())
        if not curvature > 0:
            return u
        moved: Matrix = u - float((slope * step).sum()) / curvature * step
        return moved


def _no_weights(items: int) -> SparseItems:
    """S = 0, without stored entries."""
    return SparseItems(np.zeros(items + 1, np.int64), np.zeros(0, int), np.zeros(0))


def _ratio(above: Matrix, below: Vector) -> Matrix:
    """Quotients, 0 where the divisor is."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
