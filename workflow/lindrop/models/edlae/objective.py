"""The objective of Eq. 10 and 11 of Steck 2020, and the exact decoder for a given encoder.

Notation: X is users × items, G = X'X, H = G + Λ̃, b = diag(UV'), off(B) = B - dMat(diag B).
Functions take `gu` = G U as an argument, since it is the only product with an items × items matrix
and every solver has it at hand.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sl

from lindrop.base.arrays import Matrix, Vector
from lindrop.base.errors import Unsolvable


@dataclass(frozen=True)
class Problem:
    """A problem of Eq. 10, or of Eq. 11 with `zero_diagonal`: the diagonals of G and of Λ̃."""

    gram_diagonal: Vector
    penalty: Vector
    zero_diagonal: bool = False

    def objective(self, u: Matrix, v: Matrix, gu: Matrix) -> float:
        """‖X - X off(UV')‖² + ‖Λ̃^½ off(UV')‖² (Eq. 10; it equals Eq. 11 where diag(UV') = 0)."""
        hu = self.regularised(u, gu)
        b = row_products(u, v)
        h_diagonal = self.gram_diagonal + self.penalty
        explained = row_products(gu, v).sum() - self.gram_diagonal @ b
        quadratic = np.sum((v.T @ v).astype(np.float64) * (u.T @ hu))
        crossed = b @ row_products(hu, v)
        total = self.gram_diagonal.sum(dtype=np.float64)
        return float(total - 2 * explained + quadratic - 2 * crossed + b**2 @ h_diagonal)

    def best_decoder(self, u: Matrix, gu: Matrix) -> Matrix:
        """The decoder V (items × rank) that minimises the objective for the encoder U, exactly."""
        exact = self._constrained_decoder if self.zero_diagonal else self._free_decoder
        return exact(u, gu)

    def _free_decoder(self, u: Matrix, gu: Matrix) -> Matrix:
        """Best decoder for Eq. 10, each row by a rank-2 update of the inverse of S = U'HU.

        v_i = (S - u h' - h u' + H_ii u u')⁻¹ ((GU)_i - G_ii u) with u = U_i, h = (HU)_i, by the
        Woodbury formula.
        """
        hu = self.regularised(u, gu)
        target = gu - self.gram_diagonal.astype(u.dtype)[:, None] * u
        s_inverse = symmetric_inverse(u.T @ hu)
        su, sh, st = u @ s_inverse, hu @ s_inverse, target @ s_inverse
        h_diagonal = self.gram_diagonal + self.penalty
        middle = np.empty((len(u), 2, 2))
        middle[:, 0, 0] = row_products(u, su)
        middle[:, 0, 1] = middle[:, 1, 0] = row_products(u, sh) - 1.0
        middle[:, 1, 1] = row_products(hu, sh) - h_diagonal
        right = np.stack([row_products(u, st), row_products(hu, st)], axis=1)
        try:
            z = np.linalg.solve(middle, right[:, :, None])[:, :, 0].astype(u.dtype)
        except np.linalg.LinAlgError as error:
            raise RankTooLarge from error
        decoder: Matrix = st - su * z[:, :1]
        decoder -= sh * z[:, 1:]
        return decoder

    def regularised(self, u: Matrix, gu: Matrix) -> Matrix:
        """H U = G U + Λ̃ U."""
        hu: Matrix = self.penalty.astype(u.dtype)[:, None] * u
        hu += gu
        return hu

    def _constrained_decoder(self, u: Matrix, gu: Matrix) -> Matrix:
        """Best decoder for Eq. 11: V' = D U'(G - dMat(η)), D = (U'HU)⁻¹ (Eq. 29), η by Eq. 30."""
        d = symmetric_inverse(u.T @ self.regularised(u, gu))
        ud, _, eta = self.multipliers(u, gu, d)
        decoder: Matrix = gu @ d
        decoder -= eta.astype(u.dtype)[:, None] * ud
        return decoder

    def multipliers(
        self, u: Matrix, gu: Matrix, d: Matrix | None = None
    ) -> tuple[Matrix, Vector, Vector]:
        """U D, diag(U D U') and the multipliers η of the zero diagonal (Eq. 30), D = (U'HU)⁻¹."""
        if d is None:
            d = symmetric_inverse(u.T @ self.regularised(u, gu))
        ud = u @ d
        scale = row_products(ud, u)  # 0 for an item without users, whose row of U is 0
        return ud, scale, row_products(ud, gu) / np.where(scale > 0, scale, 1.0)


class RankTooLarge(Unsolvable):
    """Raised if columns of an encoder or decoder are linearly dependent: the rank is too large."""

    def __init__(self) -> None:
        super().__init__(
            "the columns of the low-rank model are linearly dependent: use a smaller rank (below "
            "the number of users, too), or a smaller λ"
        )


def row_products(a: Matrix, b: Matrix) -> Vector:
    """diag(A B'), the inner products of the rows of A and B, summed in float64."""
    diagonal: Vector = np.einsum("ij,ij->i", a, b, dtype=np.float64)
    return diagonal


def symmetric_inverse(a: Matrix) -> Matrix:
    """Inverse of a small symmetric positive definite matrix, computed in float64."""
    inverse: Matrix = sl.cho_solve((lower_factor(a), True), np.eye(len(a)))
    return ((inverse + inverse.T) / 2).astype(a.dtype)


def lower_factor(a: Matrix) -> Matrix:
    """Lower Cholesky factor of a small symmetric positive definite matrix, in float64."""
    a64 = a.astype(np.float64)
    try:
        factor: Matrix = sl.cholesky((a64 + a64.T) / 2, lower=True, overwrite_a=True)
    except np.linalg.LinAlgError as error:
        raise RankTooLarge from error
    return factor
