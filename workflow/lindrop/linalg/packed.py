"""X'X and an inverse in the memory of one matrix."""

from typing import Any

import numpy as np
from scipy.linalg import blas

from lindrop.arrays import Matrix, Vector
from lindrop.linalg.blas import NotPositiveDefinite
from lindrop.linalg.inverse import invert_lower, mirror_lower


class PackedGram:
    """G = X'X in the upper triangle of one buffer, C = (G + penalty)⁻¹ in the lower one.

    The buffer is taken over, not copied: whoever passes `matrix` must not use it again.
    """

    def __init__(self, matrix: Matrix):
        self._buffer = matrix if matrix.flags.c_contiguous else matrix.T  # symmetric: the same
        self.gram_diagonal: Vector = matrix.diagonal().copy()
        self.inverse_diagonal = self.gram_diagonal  # what the buffer's diagonal holds
        self._inverted = False

    def __len__(self) -> int:
        return len(self._buffer)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._buffer.dtype

    def invert(self, penalty: Vector) -> None:
        """C = (G + dMat(penalty))⁻¹, in n³ operations and no further matrix.

        1/C_ii is what the other items leave of H_ii: where that is mere rounding, C is noise.
        """
        if self._inverted:
            mirror_lower(self._buffer.T)  # G again below the diagonal
        diagonal = self.gram_diagonal + penalty
        np.fill_diagonal(self._buffer, diagonal)
        invert_lower(self._buffer)
        self.inverse_diagonal = self._buffer.diagonal().copy()
        self._inverted = True
        if not np.all(self.inverse_diagonal * diagonal < 0.1 / np.finfo(self.dtype).eps):
            raise NotPositiveDefinite

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
