"""DropBlock: blocks of r consecutive hidden nodes, kept together with probability θ (Pal 2020).

The network answers UV'x; X and Y hold a sample by column, U and V a hidden node by column. d is the
number of hidden nodes, k = d/r that of blocks. The blocks' share of the objective is written with
the β of Equation 8 throughout: a fixed θ only gives it a value of its own.
"""

from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.dropout.balanced_blocks import balanced_root, fewest_blocks
from lindrop.dropout.k_support import prox, squared_norm
from lindrop.dropout.objective import keep_of, lam_of


def adaptive_keep(keep: float, r: int, d: int) -> float:
    """θ(d) = θ̄r / (θ̄r + (1 − θ̄)d), θ̄ = θ(r) being `keep` (Equation 7)."""
    return keep_of(d / r * lam_of(keep))


def beta_at(keep: float, r: int, d: int) -> float:
    """β = (r/d)(1 − θ)/θ, where θ does not depend on d; r = 1 is dropout (E17)."""
    return r / d * lam_of(keep)


def squared_block_norms(u: Matrix, v: Matrix, x: Matrix, r: int) -> Vector:
    """‖U_iV_i'X‖² of every block: inner products of its Gram matrices, no product being formed."""
    return np.asarray(np.sum(_grams(u, r) * _grams(x.T @ v, r), axis=(1, 2)))


def _blocks(u: Matrix, r: int) -> Matrix:
    """U_i, each r columns, block by block."""
    return u.reshape(len(u), -1, r).transpose(1, 0, 2)


def _grams(u: Matrix, r: int) -> Matrix:
    """U_i'U_i of every block."""
    blocks = _blocks(u, r)
    return blocks.transpose(0, 2, 1) @ blocks


def omega(u: Matrix, v: Matrix, x: Matrix, r: int, keep: float) -> float:
    """Ω_DropBlock = (1 − θ)/θ Σ ‖U_iV_i'X‖² (Equation 5)."""
    return lam_of(keep) * float(squared_block_norms(u, v, x, r).sum())


def fixed_objective(y: Matrix, x: Matrix, u: Matrix, v: Matrix, r: int, keep: float) -> float:
    """What DropBlock minimises at a θ that does not depend on d: ‖Y − UV'X‖² + Ω (Lemma 2.1)."""
    return _loss(y, x, u, v) + omega(u, v, x, r, keep)


def objective(y: Matrix, x: Matrix, u: Matrix, v: Matrix, r: int, beta: float) -> float:
    """f(U, V, d) = ‖Y − UV'X‖² + β(d/r) Σ ‖U_iV_i'X‖², β = (1 − θ̄)/θ̄ (Equation 8)."""
    blocks = squared_block_norms(u, v, x, r)
    return _loss(y, x, u, v) + beta * len(blocks) * float(blocks.sum())


def _loss(y: Matrix, x: Matrix, u: Matrix, v: Matrix) -> float:
    return float(np.sum((y - u @ (v.T @ x)) ** 2))


def gradient(
    y: Matrix, x: Matrix, u: Matrix, v: Matrix, r: int, beta: float
) -> tuple[Matrix, Matrix]:
    """∂f/∂U and ∂f/∂V."""
    xv = x.T @ v
    error = u @ xv.T - y
    strength = beta * u.shape[1] / r
    by_u = 2 * (error @ xv + strength * _times(u, _grams(xv, r)))
    by_xv = 2 * (error.T @ u + strength * _times(xv, _grams(u, r)))
    return by_u, x @ by_xv


def _times(u: Matrix, squares: Matrix) -> Matrix:
    """Every block U_i times its r × r matrix."""
    products = _blocks(u, len(squares[0])) @ squares
    return np.asarray(products.transpose(1, 0, 2).reshape(u.shape))


class Optimum(NamedTuple):
    """The global minimum of F: its value, and the singular triplets of A* (right: by row)."""

    value: float
    left: Matrix
    values: Vector
    right: Matrix

    @property
    def product(self) -> Matrix:
        """A* = U*V*'X."""
        return self.left * self.values @ self.right


def optimum(y: Matrix, r: int, beta: float, x: Matrix | None = None) -> Optimum:
    """Theorem 2.7, for any X: the singular values of Y P_X shrink as `k_support.prox` says (E13).

    UV'X reaches what lies in the row space of X, onto which P_X projects; ‖Y(I − P_X)‖² is lost
    whatever U and V are (E14). Without X everything can be reached, as by a network of sufficient
    capacity (Proposition 3.3).
    """
    basis = None if x is None else _trimmed_svd(x)[2]
    seen = y if basis is None else y @ basis.T
    left, m, right = np.linalg.svd(seen, full_matrices=False)
    values = prox(m, r, beta)
    value = float(np.sum((m - values) ** 2) + beta * squared_norm(values, r))
    if basis is not None:
        value += float(np.sum((y - seen @ basis) ** 2))
        right = right @ basis
    return Optimum(value, left, values, right)


def balanced_factors(
    a: Matrix, x: Matrix, r: int, blocks: int | None = None
) -> tuple[Matrix, Matrix]:
    """U, V with UV'X = A, its rows in X's row space, that attain Λ(A): d/r Σ ‖U_iV_i'X‖² = ‖A‖².

    With A = L dMat(a) R and GG' = dMat(a) of `balanced_root`, U = LG and V'X = G'R: so U_iV_i'X is
    L G_iG_i' R, and these have equal norms (Definition 2.4). The number of blocks, where it is
    free, is the least that the construction serves.
    """
    left, values, right = _trimmed_svd(a)
    k = fewest_blocks(values, r) if blocks is None else blocks
    root = balanced_root(values, r, k)
    outputs, scales, inputs = _trimmed_svd(x)
    return left @ root, outputs / scales @ (inputs @ (right.T @ root))


def _trimmed_svd(a: Matrix) -> tuple[Matrix, Vector, Matrix]:
    """The triplets whose singular values are not mere rounding."""
    left, values, right = np.linalg.svd(a, full_matrices=False)
    rank = np.count_nonzero(values > values[0] * max(a.shape) * np.finfo(float).eps)
    return left[:, :rank], values[:rank], right[:rank]
