"""DropBlock: blocks of r consecutive hidden nodes are kept or dropped together (Pal 2020).

The network maps x to UV'x. Columns of X and Y are samples, columns of U and V are hidden nodes; d
is the number of hidden nodes, k = d/r the number of blocks, and θ the probability that a block is
kept. The penalty is always written with the β of Eq. 8; `beta_at` gives the β of a fixed θ.
"""

from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.dropout.balanced_blocks import balanced_root, fewest_blocks
from lindrop.dropout.k_support import prox, squared_norm
from lindrop.dropout.objective import keep_of, lam_of


def adaptive_keep(keep: float, r: int, d: int) -> float:
    """θ(d) = θ̄r / (θ̄r + (1 − θ̄)d), the probability of keeping a block (Eq. 7); θ̄ is `keep`."""
    return keep_of(d / r * lam_of(keep))


def beta_at(keep: float, r: int, d: int) -> float:
    """β = (r/d)(1 − θ)/θ of a θ (`keep`) that does not depend on d; r = 1 is dropout (E17)."""
    return r / d * lam_of(keep)


def squared_block_norms(u: Matrix, v: Matrix, x: Matrix, r: int) -> Vector:
    """‖U_iV_i'X‖² of every block, computed as tr(U_i'U_i · V_i'XX'V_i) from two Gram matrices."""
    return np.asarray(np.sum(_grams(u, r) * _grams(x.T @ v, r), axis=(1, 2)))


def _blocks(u: Matrix, r: int) -> Matrix:
    """Blocks U_i of r columns each, as an array of blocks × rows × r."""
    return u.reshape(len(u), -1, r).transpose(1, 0, 2)


def _grams(u: Matrix, r: int) -> Matrix:
    """U_i'U_i of every block, as an array of blocks × r × r."""
    blocks = _blocks(u, r)
    return blocks.transpose(0, 2, 1) @ blocks


def omega(u: Matrix, v: Matrix, x: Matrix, r: int, keep: float) -> float:
    """Penalty of DropBlock, Ω = (1 − θ)/θ Σ ‖U_iV_i'X‖² (Pal 2020, Eq. 5); θ is `keep`."""
    return lam_of(keep) * float(squared_block_norms(u, v, x, r).sum())


def fixed_objective(y: Matrix, x: Matrix, u: Matrix, v: Matrix, r: int, keep: float) -> float:
    """Expected loss of DropBlock at a fixed θ (`keep`): ‖Y − UV'X‖² + Ω (Pal 2020, Lemma 2.1)."""
    return _loss(y, x, u, v) + omega(u, v, x, r, keep)


def objective(y: Matrix, x: Matrix, u: Matrix, v: Matrix, r: int, beta: float) -> float:
    """f(U, V, d) = ‖Y − UV'X‖² + β(d/r) Σ ‖U_iV_i'X‖², β = (1 − θ̄)/θ̄ (Pal 2020, Eq. 8)."""
    blocks = squared_block_norms(u, v, x, r)
    return _loss(y, x, u, v) + beta * len(blocks) * float(blocks.sum())


def _loss(y: Matrix, x: Matrix, u: Matrix, v: Matrix) -> float:
    return float(np.sum((y - u @ (v.T @ x)) ** 2))


def gradient(
    y: Matrix, x: Matrix, u: Matrix, v: Matrix, r: int, beta: float
) -> tuple[Matrix, Matrix]:
    """Derivatives of `objective` by U and by V, in their shapes."""
    xv = x.T @ v
    error = u @ xv.T - y
    strength = beta * u.shape[1] / r
    by_u = 2 * (error @ xv + strength * _times(u, _grams(xv, r)))
    by_xv = 2 * (error.T @ u + strength * _times(xv, _grams(u, r)))
    return by_u, x @ by_xv


def _times(u: Matrix, squares: Matrix) -> Matrix:
    """U with every block U_i multiplied by its r × r matrix."""
    products = _blocks(u, len(squares[0])) @ squares
    return np.asarray(products.transpose(1, 0, 2).reshape(u.shape))


class Optimum(NamedTuple):
    """Global minimum of the DropBlock objective: its value, and the SVD of the optimal A*.

    `left` has singular vectors as columns, `right` as rows.
    """

    value: float
    left: Matrix
    values: Vector
    right: Matrix

    @property
    def product(self) -> Matrix:
        """A* = U*V*'X, the optimal predictions."""
        return self.left * self.values @ self.right


def optimum(y: Matrix, r: int, beta: float, x: Matrix | None = None) -> Optimum:
    """Global minimum of `objective` over U, V and d (Pal 2020, Theorem 2.7, E12 to E14).

    The singular values of Y P_X shrink as in `k_support.prox`. P_X projects on the row space of X,
    in which all UV'X lie; ‖Y(I − P_X)‖² is lost whatever U and V are. Without `x` every prediction
    is possible, as for a network of sufficient capacity (Proposition 3.3).
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
    """U, V with UV'X = A of least penalty: d/r Σ ‖U_iV_i'X‖² equals the k-support norm ‖A‖².

    The rows of A must lie in the row space of X. With A = L dMat(a) R and G of `balanced_root`,
    U = LG and V'X = G'R; so the products U_iV_i'X = L G_iG_i' R have equal norms (Pal 2020,
    Definition 2.4). `blocks` is by default the smallest number for which this works.
    """
    left, values, right = _trimmed_svd(a)
    k = fewest_blocks(values, r) if blocks is None else blocks
    root = balanced_root(values, r, k)
    outputs, scales, inputs = _trimmed_svd(x)
    return left @ root, outputs / scales @ (inputs @ (right.T @ root))


def _trimmed_svd(a: Matrix) -> tuple[Matrix, Vector, Matrix]:
    """Compact SVD of A, without the singular values that are zero up to rounding."""
    left, values, right = np.linalg.svd(a, full_matrices=False)
    rank = np.count_nonzero(values > values[0] * max(a.shape) * np.finfo(float).eps)
    return left[:, :rank], values[:rank], right[:rank]
