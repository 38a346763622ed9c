"""Invert a regularised X'X in place, and store X'X beside its inverse or the inverse alone."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import blas

from lindrop.base.arrays import Matrix, Vector
from lindrop.base.parallel import map_blocks
from lindrop.linalg.blas import NotPositiveDefinite, product_into
from lindrop.linalg.inverse import invert_panels, subtract_square
from lindrop.linalg.kernels import Array, Csr, compiled, csr
from lindrop.linalg.triangle import (
    Triangle,
    diagonal,
    len_before,
    mirror_lower,
    panels_of,
    set_diagonal,
)

COMMON = 0.99  # share of the common direction removed before an inversion; 1 leaves a singular rest
PROBES = 8  # random vectors by which the error of the inverse is estimated
NOISE = 1e-3  # largest relative error allowed of C; a singular matrix has 1/√items or more
PARTS = 8  # of the users, whose sums are added in their order whatever the number of threads


class Inversion(ABC):
    """G = X'X, and C = (G + penalty)⁻¹ once `invert` was called, in place of G's lower triangle."""

    _upper = True  # whether entries above the diagonal are in use and must be kept

    def __init__(self, lower: Sequence[Matrix], gram_diagonal: Vector) -> None:
        self._lower = lower
        self.gram_diagonal = gram_diagonal
        self.inverse_diagonal = gram_diagonal  # the stored diagonal: that of C once inverted
        self.error = 0.0  # relative error of C, estimated by `invert`

    def __len__(self) -> int:
        return len(self.gram_diagonal)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of both matrices."""
        return self.gram_diagonal.dtype

    @abstractmethod
    def gram_times(self, y: Matrix) -> Matrix:
        """The product G Y."""

    @abstractmethod
    def inverse_times(self, y: Matrix) -> Matrix:
        """The product C Y; only after `invert`."""

    def invert(self, penalty: Vector, allowed: float = NOISE) -> None:
        """Compute C = (G + dMat(penalty))⁻¹ in place, in n³ operations.

        Raises NotPositiveDefinite if the estimated relative error that C causes in B is not below
        `allowed`.
        """
        common = self._common()
        set_diagonal(self._lower, self.gram_diagonal + penalty)
        subtract_square(self._lower, common)
        invert_panels(self._lower, self._upper)
        self._put_back(common)
        self.inverse_diagonal = diagonal(self._lower)
        self.error = self._estimated_error(penalty)
        if not self.error < allowed:
            raise NotPositiveDefinite(self.dtype, f"C errs by {self.error:.0e}")

    def _common(self) -> Vector:
        """Vector u such that G - uu' has almost no component common to all items.

        For u = G1 / √(1'G1), G - uu' is X'X without the part explained by X1, the users' activity.
        This removes the largest eigenvalue of G, ten times the others, from the rounding errors.
        """
        sums = self.gram_times(np.ones((len(self), 1)))
        total = float(sums.sum(dtype=np.float64))
        sums *= np.sqrt(COMMON / total) if total > 0 else 0.0
        return sums[:, 0]

    def _put_back(self, common: Vector) -> None:
        """Turn (H - uu')⁻¹ into H⁻¹ by the Sherman-Morrison formula, where u is `common`."""
        y = self.inverse_times(common[:, None])[:, 0]
        subtract_square(self._lower, y, 1 / (1 + np.dot(common, y)))

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


class InverseTriangle(Inversion):
    """C alone, in the memory of a triangle of G; products with G are computed from X."""

    _upper = False

    def __init__(self, gram: Triangle, x: sp.csr_array) -> None:
        super().__init__(gram.panels, gram.diagonal())
        self._triangle, self._x = gram, x

    def gram_times(self, y: Matrix) -> Matrix:
        """The product G Y = X'X Y, rounded once."""
        product: Matrix = gram_of_rows_times(self._x, y).astype(self.dtype)
        return product

    def inverse_times(self, y: Matrix) -> Matrix:
        """The product C Y; only after `invert`."""
        return times(self._lower, y)

    def take_inverse(self) -> Triangle:
        """C, in the memory of G; this object is then unusable."""
        triangle = self._triangle
        triangle.mirror_blocks()
        del self._triangle, self._lower
        return triangle


class PackedGram(Inversion):
    """G = X'X in the upper triangle of one buffer, C = (G + penalty)⁻¹ in the lower one.

    The buffer is `matrix` itself, not a copy: the caller must not use it again.
    """

    def __init__(self, matrix: Matrix):
        self._buffer = matrix if matrix.flags.c_contiguous else matrix.T  # G is symmetric
        super().__init__(panels_of(self._buffer), matrix.diagonal().copy())
        self._inverted = False

    def invert(self, penalty: Vector, allowed: float = NOISE) -> None:
        """Compute C = (G + dMat(penalty))⁻¹ in place, in n³ operations; G stays beside it."""
        if self._inverted:
            mirror_lower(self._buffer.T)  # restore G below the diagonal
            set_diagonal(self._lower, self.gram_diagonal)
            self._inverted = False
        super().invert(penalty, allowed)

    def _put_back(self, common: Vector) -> None:
        self._inverted = True
        super()._put_back(common)

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
        del self._buffer, self._lower
        return buffer


def times(panels: Sequence[Matrix], y: Matrix) -> Matrix:
    """The product A Y of the symmetric matrix whose lower triangle is that of the panels."""
    rows = np.ascontiguousarray(y.T, panels[0].dtype)
    out = np.zeros_like(rows)
    for panel in panels:
        start, stop = len_before(panel), panel.shape[1]
        here, left = slice(start, stop), panel[:, :start]
        product_into(out[:, here], rows[:, :start], left, beta=1.0)
        product_into(out[:, :start], rows[:, here], left, beta=1.0, transposed=False)
        block = panel[:, start:].copy()
        mirror_lower(block)
        product_into(out[:, here], rows[:, here], block, beta=1.0)
        del block  # or it would stay in memory beside the next one
    return np.ascontiguousarray(out.T)


def gram_of_rows_times(x: sp.csr_array, y: Matrix) -> Matrix:
    """The product X'X Y in float64, for a Y of few columns."""
    arrays, y = (x.indptr, *csr(x)[1:]), np.ascontiguousarray(y, np.float64)

    def part(start: int, stop: int) -> Matrix:
        out = np.zeros(y.shape)
        add_gram_times(arrays, y, out, start, stop)
        return out

    product = np.zeros(y.shape)
    for found in map_blocks(part, x.shape[0], max(1, -(-x.shape[0] // PARTS))):
        product += found
    return product


@compiled
def add_gram_times(x: Csr, y: Array, out: Array, start: int, stop: int) -> None:
    """Add X'X Y to `out`, for rows start to stop - 1 of X."""
    indptr, items, data = x
    sums = np.empty(y.shape[1])
    for u in range(start, stop):
        sums[:] = 0
        for entry in range(indptr[u], indptr[u + 1]):
            for k in range(len(sums)):
                sums[k] += data[entry] * y[items[entry], k]
        for entry in range(indptr[u], indptr[u + 1]):
            for k in range(len(sums)):
                out[items[entry], k] += data[entry] * sums[k]
