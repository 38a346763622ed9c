"""Symmetric matrices of which one triangle is kept: half the memory, and half the file.

Rows are kept in panels of `PANEL`. A panel starts in column 0 and ends at the last column of its
block on the diagonal, so it is a rectangle in C order, which BLAS can address. One array holds the
panels one after the other.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from lindrop.base.arrays import Matrix, Vector
from lindrop.base.parallel import over_blocks, thread_count
from lindrop.linalg.kernels import THREADED, Array, Csr, canonical, compiled, csr

PANEL = 960  # rows: a multiple of the pivots that an inversion eliminates together
LEAF = 256  # rows and columns of the blocks in which a matrix is transposed
STRIP = 480  # columns of X A per task: a tile of so many columns and PANEL rows fits the cache


def spans(items: int) -> list[tuple[int, int]]:
    """First row and end of each panel of a matrix of this size; there is always one."""
    return [(start, min(start + PANEL, items)) for start in range(0, max(items, 1), PANEL)]


def entries(items: int) -> int:
    """Number of entries of the panels of an items × items matrix."""
    return sum((stop - start) * stop for start, stop in spans(items))


class Triangle:
    """The panels of a symmetric items × items matrix, in one array `values`.

    What a block on the diagonal holds above the diagonal counts only after `mirror_blocks`.
    """

    def __init__(self, values: Vector, items: int, room: Matrix | None = None) -> None:
        if values.shape != (entries(items),):
            raise ValueError(f"a triangle of {items} items has no {values.shape} entries")
        self.values, self.items, self.panels = values, items, list(_parts(values, items))
        self._room = room

    @classmethod
    def empty(cls, items: int, dtype: npt.DTypeLike, room: bool = False) -> "Triangle":
        """A triangle of undefined values; with `room`, `square` will need no more memory."""
        if not room:
            return cls(np.empty(entries(items), dtype), items)
        square = np.empty((items, items), dtype)
        return cls(square.reshape(-1)[: entries(items)], items, square)

    @classmethod
    def of(cls, matrix: Matrix) -> "Triangle":
        """The lower triangle of a square matrix."""
        made = cls.empty(len(matrix), matrix.dtype)
        for panel, rows in zip(made.panels, panels_of(matrix), strict=True):
            panel[:] = rows
        return made

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self.values.dtype

    def diagonal(self) -> Vector:
        """A copy of the diagonal."""
        return diagonal(self.panels)

    def at(self, rows: Array, columns: Array) -> Vector:
        """The entries in these rows and columns."""
        rows = np.asarray(rows, np.int64)  # places of a large matrix exceed 32 bits
        later, earlier = np.maximum(rows, columns), np.minimum(rows, columns)
        start = later // PANEL * PANEL
        width = np.minimum(start + PANEL, self.items)
        found: Vector = self.values[
            start * (start + PANEL) // 2 + (later - start) * width + earlier
        ]
        return found

    def mirror_blocks(self) -> None:
        """Make the blocks on the diagonal symmetric, from what is below the diagonal."""
        for panel in self.panels:
            mirror_lower(panel[:, -len(panel) :])

    def square(self) -> Matrix:
        """The whole matrix; it overwrites this triangle if that has `room`."""
        matrix = self._room
        if matrix is None:
            matrix = np.empty((self.items, self.items), self.dtype)
        # A row of the triangle never lies behind the same row of the square, so that the last rows
        # come first where both share memory.
        for panel, rows in zip(reversed(self.panels), reversed(panels_of(matrix)), strict=True):
            for place in reversed(range(len(panel))):
                rows[place] = panel[place]
        mirror_lower(matrix)
        return matrix


def _parts(values: Vector, items: int) -> Iterator[Matrix]:
    """Views of the panels that lie one after the other in `values`."""
    first = 0
    for start, stop in spans(items):
        end = first + (stop - start) * stop
        yield values[first:end].reshape(stop - start, stop)
        first = end


def panels_of(matrix: Matrix) -> list[Matrix]:
    """Views of the panels of a square matrix."""
    return [matrix[start:stop, :stop] for start, stop in spans(len(matrix))]


def diagonal(panels: Sequence[Matrix]) -> Vector:
    """A copy of the diagonal of a matrix with these panels."""
    return np.concatenate([panel.diagonal(len_before(panel)) for panel in panels])


def set_diagonal(panels: Sequence[Matrix], values: Vector) -> None:
    """Overwrite the diagonal of a matrix with these panels."""
    for panel in panels:
        start = len_before(panel)
        panel[:, start:].flat[:: len(panel) + 1] = values[start : panel.shape[1]]


def len_before(panel: Matrix) -> int:
    """Number of rows of the matrix above a panel."""
    rows, columns = panel.shape
    return int(columns - rows)


def transpose(a: Matrix, into: Matrix) -> None:
    """Write A' to `into`, in blocks that fit into the cache."""
    for start in range(0, a.shape[0], LEAF):
        for left in range(0, a.shape[1], LEAF):
            here, there = slice(start, start + LEAF), slice(left, left + LEAF)
            into[there, here] = a[here, there].T


def mirror_lower(a: Matrix) -> None:
    """Copy the lower triangle to the upper one, in place and in blocks."""
    for start in range(0, len(a), LEAF):
        stop = min(start + LEAF, len(a))
        transpose(a[start:stop, :start], a[:start, start:stop])
        block = a[start:stop, start:stop]
        np.copyto(block, block.T, where=~np.tri(len(block), dtype=bool))


def sparse_times_triangle(x: sp.csr_array, triangle: Triangle) -> Matrix:
    """Product X A of sparse X and a symmetric A; threads take strips of columns.

    The blocks on the diagonal must be symmetric. Every call transposes what X needs of A once, in
    tiles that stay in the cache until all rows of X have used them, so the more rows, the better.
    """
    x, items = canonical(x), triangle.items
    if x.shape[1] != items:  # compiled loops do not check bounds
        raise ValueError(f"X is {x.shape}, A has {items} rows")
    arrays = (x.indptr, *csr(x)[1:])  # signed indptr: in Numba uint64 + 4 is float
    needed, place = np.unique(x.indices, return_inverse=True)
    bounds = np.append(np.arange(0, items, PANEL), items)
    first = np.empty((x.shape[0], len(bounds)), np.int64)
    first_entries(arrays, bounds, first)
    rows = needed.astype(np.int64), np.searchsorted(needed, bounds), place.astype(np.int64)
    scores = np.empty((x.shape[0], items), triangle.dtype)

    def strip(start: int, stop: int) -> None:
        strip_times(arrays[2], first, rows, triangle.values, bounds, scores, start, stop)

    if thread_count() == 1 or x.nnz * items <= THREADED:  # a thread starts more slowly than that
        for start in range(0, items, STRIP):
            strip(start, min(start + STRIP, items))
    else:
        over_blocks(strip, items, STRIP)
    return scores


@compiled
def first_entries(x: Csr, bounds: Array, first: Array) -> None:
    """Write to first[u, b] the first entry of row u of X that is in column bounds[b] or later."""
    indptr, items, _ = x
    for u in range(len(first)):
        entry = indptr[u]
        for block in range(len(bounds)):
            while entry < indptr[u + 1] and items[entry] < bounds[block]:
                entry += 1
            first[u, block] = entry


@compiled
def strip_times(
    data: Array,
    first: Array,
    rows: tuple[Array, Array, Array],
    values: Array,
    bounds: Array,
    out: Array,
    start: int,
    stop: int,
) -> None:
    """Write columns start to stop - 1 of X A, which lie in one panel, to `out`.

    `data` are the entries of X, `first` those at which its rows reach the `bounds` of panels.
    `rows` are the columns of X that are not empty, how many of them lie before each bound, and the
    place among them of each entry of X.
    """
    needed, before, place = rows
    width = stop - start
    above = start // PANEL * PANEL  # rows above the panel in which these columns are rows
    end = min(above + PANEL, out.shape[1])
    own = above * (above + PANEL) // 2 + (start - above) * end
    tile = np.empty(np.max(before[1:] - before[:-1]) * width, values.dtype)
    out[:, start:stop] = 0
    for block in range(len(bounds) - 1):
        columns = needed[before[block] : before[block + 1]]
        top, stride = bounds[block], bounds[block + 1]
        if top < above:
            for c in range(len(columns)):
                column = own + columns[c]
                for j in range(width):
                    tile[c * width + j] = values[column + j * end]
        else:
            base = top * (top + PANEL) // 2 + start
            for c in range(len(columns)):
                row = base + (columns[c] - top) * stride
                tile[c * width : (c + 1) * width] = values[row : row + width]
        tile_times(data, first[:, block : block + 2], place, before[block], tile, out, start, stop)


@compiled
def tile_times(
    data: Array,
    first: Array,
    place: Array,
    shift: int,
    tile: Array,
    out: Array,
    start: int,
    stop: int,
) -> None:
    """Add to columns start to stop - 1 of `out` the entries first[u] of row u of X, times a tile.

    An entry's row of the tile is its number in `place` less `shift`.
    """
    width = stop - start
    for u in range(len(out)):
        entry, end = first[u]
        if entry == end:
            continue
        total = out[u, start:stop]
        while entry + 4 <= end:
            x0, x1, x2, x3 = data[entry], data[entry + 1], data[entry + 2], data[entry + 3]
            r0, r1 = (place[entry] - shift) * width, (place[entry + 1] - shift) * width
            r2, r3 = (place[entry + 2] - shift) * width, (place[entry + 3] - shift) * width
            b0, b1 = tile[r0 : r0 + width], tile[r1 : r1 + width]
            b2, b3 = tile[r2 : r2 + width], tile[r3 : r3 + width]
            for j in range(width):
                total[j] += x0 * b0[j] + x1 * b1[j] + x2 * b2[j] + x3 * b3[j]
            entry += 4
        if entry + 2 <= end:
            x0, x1 = data[entry], data[entry + 1]
            r0, r1 = (place[entry] - shift) * width, (place[entry + 1] - shift) * width
            b0, b1 = tile[r0 : r0 + width], tile[r1 : r1 + width]
            for j in range(width):
                total[j] += x0 * b0[j] + x1 * b1[j]
            entry += 2
        if entry < end:
            x0, r0 = data[entry], (place[entry] - shift) * width
            b0 = tile[r0 : r0 + width]
            for j in range(width):
                total[j] += x0 * b0[j]
