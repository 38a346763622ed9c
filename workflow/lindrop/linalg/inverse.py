"""Invert a symmetric positive definite matrix in place, from its lower triangle."""

from collections.abc import Sequence

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.base.reporting import Progress
from lindrop.linalg.blas import invert_small, product, product_into
from lindrop.linalg.triangle import LEAF, len_before, panels_of, transpose

PIVOTS = 320  # eliminated at once: enough for fast matrix products, small compared with n
LONG = 10_000  # rows from which on the log says how far an inversion is


def invert_lower(a: Matrix) -> None:
    """Replace the lower triangle of `a` (C order) by that of its inverse; the upper one is kept."""
    invert_panels(panels_of(a))


def invert_panels(panels: Sequence[Matrix]) -> None:
    """Replace the lower triangle that the panels hold by that of its inverse.

    The algorithm is the symmetric block sweep: for each block of pivots D with column W, W D⁻¹ W'
    is subtracted from the rest, the column becomes W D⁻¹ and the block -D⁻¹. After all blocks, -A⁻¹
    is left. This takes n³ operations, as many as Cholesky factorisation and inversion, but all of
    them are matrix products, so LAPACK is not called at sizes where some of its kernels crashed.
    """
    n = panels[-1].shape[1]
    column = np.empty((n, min(PIVOTS, n)), panels[0].dtype)
    progress = Progress("inverse", n, unit="items") if n >= LONG else None
    for number, panel in enumerate(panels):
        above, end = len_before(panel), panel.shape[1]
        for start in range(above, end, PIVOTS):
            stop = min(start + PIVOTS, end)
            pivots, below = panel[start - above : stop - above], panel[stop - above :]
            w = column[:, : stop - start]
            transpose(pivots[:, :start], w[:start])
            w[start:stop] = 0.0
            w[stop:end] = below[:, start:stop]
            for later in panels[number + 1 :]:
                w[len_before(later) : later.shape[1]] = later[:, start:stop]
            inverse = invert_small(pivots[:, start:stop])
            for other in panels:
                rows = slice(len_before(other), other.shape[1])
                scaled = product(w[rows], inverse)  # D⁻¹ is symmetric
                _subtract_panel(other, scaled, w)
                if other is panel:
                    transpose(scaled[: start - above], pivots[:, above:start])
                    below[:, start:stop] = scaled[stop - above :]
                elif rows.start < above:
                    transpose(scaled, pivots[:, rows])
                else:
                    other[:, start:stop] = scaled
            _set_lower(pivots[:, start:stop], -inverse)
            if progress:
                progress.advance(stop - start)  # each block of pivots takes as long
    _negate(panels)


def subtract(panels: Sequence[Matrix], y: Matrix, w: Matrix) -> None:
    """Subtract the symmetric Y W' from the lower triangle that the panels hold, in place."""
    for panel in panels:
        _subtract_panel(panel, y[len_before(panel) : panel.shape[1]], w)


def _subtract_panel(panel: Matrix, y: Matrix, w: Matrix) -> None:
    """Subtract the symmetric Y W' from the lower triangle in a panel, given its rows of Y."""
    above, end = len_before(panel), panel.shape[1]
    product_into(panel[:, :above], y, w[:above], -1.0, 1.0)
    _subtract_within(panel[:, above:], y, w[above:end], 0, end - above)


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


def _set_lower(block: Matrix, values: Matrix) -> None:
    """Copy the lower triangle of `values` to that of `block`."""
    np.copyto(block, values, where=np.tri(len(block), dtype=bool))


def _negate(panels: Sequence[Matrix]) -> None:
    """Change the sign of the lower triangle in place."""
    for panel in panels:
        above = len_before(panel)
        np.negative(panel[:, :above], out=panel[:, :above])
        block = panel[:, above:]
        _set_lower(block, -block)
