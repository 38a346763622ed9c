"""Invert a symmetric positive definite matrix in place, from its lower triangle."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.base.parallel import over_blocks
from lindrop.base.reporting import Progress
from lindrop.linalg.blas import invert_small, product, product_into
from lindrop.linalg.kernels import Array, compiled
from lindrop.linalg.triangle import LEAF, len_before, panels_of

PIVOTS = 320  # eliminated at once: enough for fast matrix products, small compared with n
ROWS = 240  # rows of a panel from which a thread subtracts at once in `subtract_square`
LONG = 10_000  # rows from which on the log says how far an inversion is


def invert_lower(a: Matrix) -> None:
    """Replace the lower triangle of `a` (C order) by that of its inverse; the upper one is kept."""
    invert_panels(panels_of(a))


def invert_panels(panels: Sequence[Matrix], upper: bool = True) -> None:
    """Replace the lower triangle that the panels hold by that of its inverse.

    With `upper`, entries above the diagonal are kept; without, they are overwritten, which is
    faster. The algorithm is the symmetric block sweep: for each block of pivots D with column W,
    W D⁻¹ W' is subtracted from the rest, the column becomes W D⁻¹ and the block -D⁻¹. After all
    blocks, -A⁻¹ is left. This takes n³ operations, as many as Cholesky factorisation and inversion,
    but all of them are matrix products, so LAPACK is not called at sizes where some of its kernels
    crashed.
    """
    n = panels[-1].shape[1]
    memory = np.empty(n * min(PIVOTS, n), panels[0].dtype)
    progress = Progress("inverse", n, unit="items") if n >= LONG else None
    for number, panel in enumerate(panels):
        for start in range(len_before(panel), panel.shape[1], PIVOTS):
            stop = min(start + PIVOTS, panel.shape[1])
            _sweep(panels, number, range(start, stop), memory, upper)
            if progress:
                progress.advance(stop - start)  # each block of pivots takes as long
    _negate(panels)


def _sweep(
    panels: Sequence[Matrix], number: int, pivots: range, memory: Vector, upper: bool
) -> None:
    """Eliminate these pivots, which lie in panel `number`.

    The part of W above the pivots is stored as its transpose, left of the pivots (`over`), and the
    part below them in their columns. `memory` takes D⁻¹ `over`, since `over` is needed until the
    end, and a copy of the part below (`under`).
    """
    start, stop, size = pivots.start, pivots.stop, len(pivots)
    panel, n = panels[number], panels[-1].shape[1]
    own = panel[start - len_before(panel) : stop - len_before(panel)]
    inverse = invert_small(own[:, start:stop])
    over, scaled_over = own[:, :start], memory[: size * start].reshape(size, start)
    under = memory[size * start : size * (start + n - stop)].reshape(n - stop, size)
    product_into(scaled_over, inverse, over, transposed=False)
    for other in panels[number:]:
        first = max(len_before(other), stop)
        rows = other[first - len_before(other) :, start:stop]
        under[first - stop : other.shape[1] - stop] = rows
    for other in panels[: number + 1]:  # rows above the pivots
        first, last = len_before(other), min(other.shape[1], start)
        by = _Factors(scaled_over[:, first:last], over[:, :last], False)
        _subtract_panel(other[: last - first, :last], by, upper)
    for other in panels[number:]:  # rows below the pivots
        first, last = max(len_before(other), stop), other.shape[1]
        rows = other[first - len_before(other) :]
        scaled = product(under[first - stop : last - stop], inverse)  # D⁻¹ is symmetric
        product_into(rows[:, :start], scaled, over, -1.0, 1.0, transposed=False)
        by = _Factors(scaled, under[: last - stop], True)
        _subtract_panel(rows[:, stop:last], by, upper)
        rows[:, start:stop] = scaled
    over[:] = scaled_over
    _set_lower(own[:, start:stop], -inverse)


class _Factors(NamedTuple):
    """The factors Y and W of a symmetric product, which is Y W' if `tall`, else Y'W."""

    y: Matrix
    w: Matrix
    tall: bool

    def part(self, rows: slice, columns: slice) -> "_Factors":
        """The factors of these rows and columns of the product."""
        if self.tall:
            return _Factors(self.y[rows], self.w[columns], True)
        return _Factors(self.y[:, rows], self.w[:, columns], False)

    def into(self, c: Matrix, alpha: float = 1.0, beta: float = 0.0) -> None:
        """Compute C = α P + β C in place, where P is the product of the factors."""
        product_into(c, self.y, self.w, alpha, beta, transposed=self.tall, columns=not self.tall)


def _subtract_panel(panel: Matrix, by: _Factors, upper: bool) -> None:
    """Subtract the panel's rows of a symmetric product from the lower triangle in the panel."""
    above, every = len_before(panel), slice(None)
    by.part(every, slice(above)).into(panel[:, :above], -1.0, 1.0)
    _subtract_within(panel[:, above:], by.part(every, slice(above, None)), upper)


def _subtract_within(a: Matrix, by: _Factors, upper: bool) -> None:
    """Subtract a symmetric product from the lower triangle of a square A."""
    if len(a) <= LEAF:
        if not upper:
            by.into(a, -1.0, 1.0)
            return
        square = np.empty_like(a)
        by.into(square)
        a -= np.tril(square)
        return
    first, second = slice(len(a) // 2), slice(len(a) // 2, None)
    _subtract_within(a[first, first], by.part(first, first), upper)
    by.part(second, first).into(a[second, first], -1.0, 1.0)
    _subtract_within(a[second, second], by.part(second, second), upper)


def subtract_square(panels: Sequence[Matrix], y: Vector, factor: float = 1.0) -> None:
    """Subtract factor · y y' from the lower triangle that the panels hold, in place."""
    for panel in panels:
        above = len_before(panel)
        scaled = (factor * y[above : panel.shape[1]]).astype(y.dtype)

        def rows(start: int, stop: int, panel: Matrix = panel, scaled: Vector = scaled) -> None:
            subtract_rows(panel, scaled, y, start, stop)

        over_blocks(rows, len(panel), ROWS)


@compiled
def subtract_rows(panel: Array, scaled: Array, y: Array, start: int, stop: int) -> None:
    """Subtract scaled[row] · y' from rows start to stop - 1 of a panel, up to the diagonal."""
    above = panel.shape[1] - panel.shape[0]
    for row in range(start, stop):
        values, factor = panel[row], scaled[row]
        for column in range(above + row + 1):
            values[column] -= factor * y[column]


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
