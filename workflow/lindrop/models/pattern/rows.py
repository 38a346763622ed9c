"""Columns of B put in rows: the CSR arrays of a model, from parts with some columns each.

Parts are sorted into rows while others are still to be solved, so that a model of n weights never
takes 16 n bytes, those of its columns and those of its rows: a part is kept in a few bands of rows,
and each band is freed as soon as it is copied into the model.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from lindrop.base.parallel import over_blocks, thread_count
from lindrop.linalg.kernels import Array, compiled
from lindrop.models.base import SparseItems

BANDS = 4  # of the rows of a part
ROWS = 4096  # rows that a thread sorts at once


class Columns(NamedTuple):
    """Some columns of B: the neighbours and weights of each, one column after the other.

    Column c has room from starts[c] to starts[c + 1] - 1, of which it uses the first lengths[c].
    """

    neighbours: Array
    weights: Array
    starts: Array
    lengths: Array

    @classmethod
    def empty(cls, most: Array, dtype: np.dtype[Any]) -> "Columns":
        """Room for columns with at most these numbers of neighbours."""
        starts = np.zeros(len(most) + 1, np.int64)
        np.cumsum(most, out=starts[1:])
        neighbours, weights = np.empty(starts[-1], np.int32), np.empty(starts[-1], dtype)
        return cls(neighbours, weights, starts, np.zeros(len(most), np.int32))

    def column(self, number: int) -> tuple[Array, Array]:
        """Neighbours and weights of one column."""
        own = slice(self.starts[number], self.starts[number] + self.lengths[number])
        return self.neighbours[own], self.weights[own]


class Part(NamedTuple):
    """Some columns of B, in rows: a CSR matrix whose entries are cut into bands.

    `ends[i + 1]` is the end of row i among the part's entries; band b has the rows from `cuts[b]`.
    """

    ends: Array
    cuts: list[int]
    bands: list[tuple[Array, Array]]


def in_rows(columns: Columns, numbers: Array, items: int) -> SparseItems:
    """Columns of B, with these rising numbers, as its rows, of which there are `items`."""
    ends = np.zeros(items + 1, np.int64)
    count_rows(columns.neighbours, columns.starts, columns.lengths, ends)
    ends = np.cumsum(ends)
    indices = np.empty(ends[-1], np.int32)
    data = np.empty(ends[-1], columns.weights.dtype)
    place = ends[:-1].copy()

    def rows(start: int, stop: int) -> None:  # every thread looks at all neighbours
        scatter_columns(*columns, numbers, start, stop, place, indices, data)

    over_blocks(rows, items, max(1, -(-items // thread_count())))
    return SparseItems(ends, indices, data)


def cuts_of(block: SparseItems) -> list[int]:
    """Rows at which bands begin that have about as many entries each, and the number of rows."""
    ends = block.indptr
    wanted = ends[-1] * np.arange(1, BANDS) // BANDS
    return [0, *np.searchsorted(ends[1:], wanted).tolist(), len(ends) - 1]


def cut(block: SparseItems, cuts: list[int]) -> Part:
    """A part whose bands begin at these rows; a single band is not copied."""
    ends = block.indptr
    spans = [slice(ends[a], ends[b]) for a, b in pairwise(cuts)]
    bands = [(block.indices[span], block.data[span]) for span in spans]
    if len(bands) > 1:
        bands = [(indices.copy(), data.copy()) for indices, data in bands]
    small = ends[-1] <= np.iinfo(np.int32).max
    return Part(ends.astype(np.int32) if small else ends, cuts, bands)


def joined(parts: list[Part]) -> SparseItems:
    """The model of parts with all columns. Their bands are freed on the way."""
    first = parts[0]
    if len(parts) == 1 and len(first.bands) == 1:
        return SparseItems(first.ends.astype(np.int64), *first.bands[0])
    ends = np.zeros(len(first.ends), np.int64)
    for part in parts:
        ends += part.ends
    place = ends[:-1].copy()
    indices = np.empty(ends[-1], np.int32)
    data = np.empty(ends[-1], first.bands[0][1].dtype)
    for band, span in enumerate(pairwise(first.cuts)):
        for part in parts:
            _append(part.ends, *part.bands[band], span, place, indices, data)
            part.bands[band] = indices[:0], data[:0]

    def rows(start: int, stop: int) -> None:
        sort_rows(ends, indices, data, start, stop)

    over_blocks(rows, len(ends) - 1, ROWS)
    return SparseItems(ends, indices, data)


def _append(
    ends_of_part: Array,
    columns: Array,
    weights: Array,
    span: tuple[int, int],
    place: Array,
    indices: Array,
    data: Array,
) -> None:
    """Append one band of a part to its rows of B, which end at `place` so far, in threads."""
    first, last = span

    def rows(start: int, stop: int) -> None:
        arrays = ends_of_part, columns, weights, first, first + start, first + stop
        append_rows(*arrays, place, indices, data)

    over_blocks(rows, last - first, max(1, -(-(last - first) // thread_count())))


@compiled
def count_rows(neighbours: Array, starts: Array, lengths: Array, counts: Array) -> None:
    """Add to counts[i + 1] the number of columns that have a weight of item i."""
    for j in range(len(lengths)):
        for place in range(starts[j], starts[j] + lengths[j]):
            counts[neighbours[place] + 1] += 1


@compiled
def scatter_columns(
    neighbours: Array,
    weights: Array,
    starts: Array,
    lengths: Array,
    numbers: Array,
    start: int,
    stop: int,
    ends: Array,
    indices: Array,
    data: Array,
) -> None:
    """Append columns with these numbers to rows start to stop - 1, which end at `ends`."""
    for j in range(len(lengths)):
        for place in range(starts[j], starts[j] + lengths[j]):
            i = neighbours[place]
            if start <= i < stop:
                indices[ends[i]], data[ends[i]] = numbers[j], weights[place]
                ends[i] += 1


@compiled
def append_rows(
    ends_of_part: Array,
    columns: Array,
    weights: Array,
    first: int,
    start: int,
    stop: int,
    ends: Array,
    indices: Array,
    data: Array,
) -> None:
    """Append rows start to stop - 1 of a part, from a band that begins at row `first`, to B.

    The rows of B end at `ends` so far.
    """
    before = np.int64(ends_of_part[first])
    for i in range(start, stop):
        for entry in range(ends_of_part[i] - before, ends_of_part[i + 1] - before):
            indices[ends[i]], data[ends[i]] = columns[entry], weights[entry]
            ends[i] += 1


@compiled
def sort_rows(ends: Array, indices: Array, data: Array, start: int, stop: int) -> None:
    """Sort the entries of rows start to stop - 1 by their columns, where they do not rise."""
    for i in range(start, stop):
        columns, weights = indices[ends[i] : ends[i + 1]], data[ends[i] : ends[i + 1]]
        falls = 0
        for entry in range(1, len(columns)):
            falls += columns[entry] < columns[entry - 1]
        if falls:
            order = np.argsort(columns)
            columns[:], weights[:] = columns[order], weights[order]
