"""X'X and an inverse in the memory of one matrix."""

from typing import Any

import numpy as np
from scipy.linalg import blas

from lindrop.base.arrays import Matrix, Vector
from lindrop.linalg.blas import NotPositiveDefinite
from lindrop.linalg.inverse import invert_lower, mirror_lower, subtract_lower

COMMON = 0.99  # of what all items share is taken out before an inversion: G stays positive definite
PROBES = 8
NOISE = 1e-3  # error of C from which on it is noise; of a singular matrix it is 1/√items at least


class PackedGram:
    """G = X'X in the upper triangle of one buffer, C = (G + penalty)⁻¹ in the lower one.

    The buffer is taken over, not copied: whoever passes `matrix` must not use it again.
    """

    def __init__(self, matrix: Matrix):
        self._buffer = matrix if matrix.flags.c_contiguous else matrix.T  # symmetric: the same
        self.gram_diagonal: Vector = matrix.diagonal().copy()
        self.inverse_diagonal = self.gram_diagonal  # what the buffer's diagonal holds
        self.error = 0.0  # of C, as `invert` estimates it
        self._inverted = False

    def __len__(self) -> int:
        return len(self._buffer)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._buffer.dtype

    def invert(self, penalty: Vector, allowed: float = NOISE) -> None:
        """C = (G + dMat(penalty))⁻¹, in n³ operations and no further matrix.

        Refused where its relative error, as far as it shows in B, is not below `allowed`.
        """
        if self._inverted:
            mirror_lower(self._buffer.T)  # G again below the diagonal
        common = self._common()
        np.fill_diagonal(self._buffer, self.gram_diagonal + penalty)
        subtract_lower(self._buffer, common, common)
        invert_lower(self._buffer)
        self._inverted = True
        self._put_back(common)
        self.inverse_diagonal = self._buffer.diagonal().copy()
        self.error = self._estimated_error(penalty)
        if not self.error < allowed:
            raise NotPositiveDefinite(self.dtype, f"C errs by {self.error:.0e}")

    def _common(self) -> Matrix:
        """u for which G - uu' has next to nothing of the one direction that all items share.

        For u = G1 / √(1'G1) it is X'X without what X1, how active users are, explains. The largest
        eigenvalue of G, an order above the others, is gone from the rounding errors with it.
        """
        sums = self.gram_times(np.ones((len(self), 1)))
        total = float(sums.sum(dtype=np.float64))
        sums *= np.sqrt(COMMON / total) if total > 0 else 0.0
        return sums

    def _put_back(self, common: Matrix) -> None:
        """From (H - uu')⁻¹ to H⁻¹ (Sherman and Morrison)."""
        y = self._symmetric_times(common, fortran_lower=False)
        subtract_lower(self._buffer, y / (1 + np.vdot(common, y)), y)

    def _estimated_error(self, penalty: Vector) -> float:
        """By how much a step of iterative refinement would move some mixtures of C's columns.

        Each column counts by C_jj, as in B (Eq. 8): it is the error of B, up to a factor near 1.
        """
        z = np.random.default_rng(0).standard_normal((len(self), PROBES)).astype(self.dtype)
        z /= self.inverse_diagonal[:, None]
        mixed = self.inverse_times(z)
        z -= self.gram_times(mixed)
        z -= penalty.astype(self.dtype)[:, None] * mixed
        return float(np.linalg.norm(self.inverse_times(z)) / np.linalg.norm(mixed))

    def gram_times(self, y: Matrix) -> Matrix:
        """G Y."""
        product = self._symmetric_times(y, fortran_lower=True)
        if self._inverted:
            product += (self.gram_diagonal - self.inverse_diagonal)[:, None] * y
        return product

    def inverse_times(self, y: Matrix) -> Matrix:
        """C Y."""
        return self._symmetric_times(y, fortran_lower=False)

    def _symmetric_times(self, y: Matrix, fortran_lower: bool) -> Matrix:
        symm = blas.get_blas_funcs("symm", dtype=self.dtype)
        y = np.ascontiguousarray(y, self.dtype)
        # what C calls rows, Fortran calls columns: Y'A = (A Y)', without a copy of either
        product: Matrix = symm(1.0, self._buffer.T, y.T, side=1, lower=int(fortran_lower))
        return product.T

    def hadamard(self, k: Matrix) -> None:
        """Multiply K elementwise by G above the diagonal and by C on and below it, in place."""
        np.multiply(k, self._buffer, out=k)

    def take_inverse(self) -> Matrix:
        """C as a whole matrix; the buffer is given away, and G is gone."""
        buffer = self._buffer
        mirror_lower(buffer)
        del self._buffer
        return buffer
