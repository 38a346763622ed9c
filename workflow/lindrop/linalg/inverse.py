"""Invert a symmetric positive definite matrix in place, from one of its triangles."""

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.linalg.blas import invert_small, product_into

PIVOTS = 320  # eliminated at once: enough for fast matrix products, small compared with n
LEAF = 256  # rows and columns of the blocks on which a triangle is processed


def invert_lower(a: Matrix) -> None:
    """Replace the lower triangle of `a` (C order) by that of its inverse; the upper one is kept.

    The algorithm is the symmetric block sweep: for each block of pivots D with column W, W D⁻¹ W'
    is subtracted from the rest, the column becomes W D⁻¹ and the block -D⁻¹. After all blocks, -A⁻¹
    is left. This takes n³ operations, as many as Cholesky factorisation and inversion, but all of
    them are matrix products, so LAPACK is not called at sizes where some of its kernels crashed.
    """
    n = len(a)
    column, y = (np.empty((n, min(PIVOTS, n)), a.dtype) for _ in range(2))
    for start in range(0, n, PIVOTS):
        stop = min(start + PIVOTS, n)
        w = column[:, : stop - start]
        _transpose(a[start:stop, :start], w[:start])
        w[start:stop] = 0.0
        w[stop:] = a[stop:, start:stop]
        pivot = invert_small(a[start:stop, start:stop])
        scaled = y[:, : stop - start]
        product_into(scaled, w, pivot)  # D⁻¹ is symmetric
        subtract_lower(a, scaled, w)
        _transpose(scaled[:start], a[start:stop, :start])
        a[stop:, start:stop] = scaled[stop:]
        _set_lower(a[start:stop, start:stop], -pivot)
    _negate_lower(a)


def subtract_lower(a: Matrix, y: Matrix, w: Matrix) -> None:
    """Subtract Y W' from the lower triangle of A in place."""
    _subtract_within(a, y, w, 0, len(a))


def _subtract_within(a: Matrix, y: Matrix, w: Matrix, start: int, stop: int) -> None:
    """Subtract Y W' from the lower triangle of A within rows and columns start to stop - 1."""
    if stop - start <= LEAF:
        here = slice(start, stop)
        square = np.empty((stop - start, stop - start), a.dtype)
        product_into(square, y[here], w[here])
        a[here, here] -= np.tril(square)
        return
    middle = (start + stop) // 2
    _subtract_within(a, y, w, start, middle)
    product_into(a[middle:stop, start:middle], y[middle:stop], w[start:middle], -1.0, 1.0)
    _subtract_within(a, y, w, middle, stop)


def _transpose(a: Matrix, into: Matrix) -> None:
    """Write A' to `into`, in blocks that fit into the cache."""
    for start in range(0, a.shape[0], LEAF):
        for left in range(0, a.shape[1], LEAF):
            here, there = slice(start, start + LEAF), slice(left, left + LEAF)
            into[there, here] = a[here, there].T


def _set_lower(block: Matrix, values: Matrix) -> None:
    """Copy the lower triangle of `values` to that of `block`."""
    np.copyto(block, values, where=np.tri(len(block), dtype=bool))


def _negate_lower(a: Matrix) -> None:
    """Change the sign of the lower triangle in place."""
    for start in range(0, len(a), LEAF):
        stop = min(start + LEAF, len(a))
        np.negative(a[start:stop, :start], out=a[start:stop, :start])
        block = a[start:stop, start:stop]
        _set_lower(block, -block)


def mirror_lower(a: Matrix) -> None:
    """Copy the lower triangle to the upper one, in place and in blocks."""
    for start in range(0, len(a), LEAF):
        stop = min(start + LEAF, len(a))
        _transpose(a[start:stop, :start], a[:start, start:stop])
        block = a[start:stop, start:stop]
        np.copyto(block, block.T, where=~np.tri(len(block), dtype=bool))
