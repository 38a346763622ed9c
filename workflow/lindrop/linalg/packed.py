"""Store X'X and an inverse together in the memory of one matrix."""

from typing import Any

import numpy as np
from scipy.linalg import blas

from lindrop.base.arrays import Matrix, Vector
from lindrop.linalg.blas import NotPositiveDefinite
from lindrop.linalg.inverse import invert_lower, mirror_lower, subtract_lower

COMMON = 0.99  # share of the common direction removed before an inversion; 1 leaves a singular rest
PROBES = 8  # random vectors by which the error of the inverse is estimated
NOISE = 1e-3  # largest relative error allowed of C; a singular matrix has 1/√items or more


class PackedGram:
    """G = X'X in the upper triangle of one buffer, C = (G + penalty)⁻¹ in the lower one.

    The buffer is `matrix` itself, not a copy: the caller must not use it again.
    """

    def __init__(self, matrix: Matrix):
        self._buffer = matrix if matrix.flags.c_contiguous else matrix.T  # G is symmetric
        self.gram_diagonal: Vector = matrix.diagonal().copy()
        self.inverse_diagonal = self.gram_diagonal  # the buffer's diagonal: that of C once inverted
        self.error = 0.0  # relative error of C, estimated by `invert`
        self._inverted = False

    def __len__(self) -> int:
        return len(self._buffer)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of both matrices."""
        return self._buffer.dtype

    def invert(self, penalty: Vector, allowed: float = NOISE) -> None:
        """Compute C = (G + dMat(penalty))⁻¹ in place, in n³ operations.

        Raises NotPositiveDefinite if the estimated relative error that C causes in B is not below
        `allowed`.
        """
        if self._inverted:
            mirror_lower(self._buffer.T)  # restore G below the diagonal
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
        """Vector u (items × 1) such that G - uu' has almost no component common to all items.

        For u = G1 / √(1'G1), G - uu' is X'X without the part explained by X1, the users' activity.
        This removes the largest eigenvalue of G, ten times the others, from the rounding errors.
        """
        sums = self.gram_times(np.ones((len(self), 1)))
        total = float(sums.sum(dtype=np.float64))
        sums *= np.sqrt(COMMON / total) if total > 0 else 0.0
        return sums

    def _put_back(self, common: Matrix) -> None:
        """Turn (H - uu')⁻¹ into H⁻¹ by the Sherman-Morrison formula, where u is `common`."""
        y = self._symmetric_times(common, fortran_lower=False)
        subtract_lower(self._buffer, y / (1 + np.vdot(common, y)), y)

    def _estimated_error(self, penalty: Vector) -> float:
        """Relative change of C by a step of iterative refinement, estimated with random vectors.

        Columns are divided by C_jj, as in B (Eq. 8), so that it estimates the relative error of B.
        """
        z = np.random.default_rng(0).standard_normal((len(self), PROBES)).astype(self.dtype)
        z /= self.inverse_diagonal[:, None]
        mixed = self.inverse_times(z)
        z -= self.gram_times(mixed)
        z -= penalty.astype(self.dtype)[:, None] * mixed
        return float(np.linalg.norm(self.inverse_times(z)) / np.linalg.norm(mixed))

    def gram_times(self, y: Matrix) -> Matrix:
        """The product G Y."""
        product = self._symmetric_times(y, fortran_lower=True)
        if self._inverted:
            product += (self.gram_diagonal - self.inverse_diagonal)[:, None] * y
        return product

    def inverse_times(self, y: Matrix) -> Matrix:
        """The product C Y; only after `invert`."""
        return self._symmetric_times(y, fortran_lower=False)

    def _symmetric_times(self, y: Matrix, fortran_lower: bool) -> Matrix:
        """Product of Y with the matrix above the diagonal (`fortran_lower`) or below it."""
        symm = blas.get_blas_funcs("symm", dtype=self.dtype)
        y = np.ascontiguousarray(y, self.dtype)
        # Fortran sees a C-ordered matrix transposed: it computes Y'A = (A Y)' without copying
        product: Matrix = symm(1.0, self._buffer.T, y.T, side=1, lower=int(fortran_lower))
        return product.T

    def hadamard(self, k: Matrix) -> None:
        """Multiply K in place, elementwise, by G above the diagonal and by C on and below it."""
        np.multiply(k, self._buffer, out=k)

    def take_inverse(self) -> Matrix:
        """Both triangles of C, in the buffer's memory; this object is then unusable."""
        buffer = self._buffer
        mirror_lower(buffer)
        del self._buffer
        return buffer
