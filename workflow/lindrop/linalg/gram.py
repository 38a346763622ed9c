"""Compute G = X'X, all that most linear models need to know about the training users."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from lindrop.base.arrays import Matrix
from lindrop.base.errors import UserError
from lindrop.base.memory import require_memory
from lindrop.base.parallel import over_blocks
from lindrop.linalg.kernels import (
    Csr,
    canonical,
    count_rows,
    csr,
    multiply_rows,
    place_entries,
    unsigned,
)
from lindrop.linalg.triangle import PANEL, Triangle, entries

COUNTED = 1 << 22  # entries of X counted at once
GROUPS = 4  # groups of items: only the entries of one group are listed at a time
ROWS = 64  # per task: few enough to balance the threads; they divide a panel
EXACT = 2**24  # float32 holds every integer below this limit


def gram_triangle(
    x: sp.csr_array, dtype: npt.DTypeLike = np.float32, room: bool = False
) -> Triangle:
    """Gram matrix X'X, items × items, as a triangle; with `room` for the square matrix, if asked.

    No other array of its size is allocated. Counts are exact integers, so the matrices of shards of
    the users add up to exactly the matrix of all users.
    """
    x = canonical(x)
    items = x.shape[1]
    needed = needed_bytes(items, x.nnz, np.dtype(dtype).itemsize, x.indices.itemsize, room)
    require_memory(needed, f"X'X of {items:,} items")
    arrays = (x.indptr, *csr(x)[1:])  # signed indptr: in Numba uint64 + 1 is float
    gram = Triangle.empty(items, dtype, room)
    add_rows = count_rows if np.all(x.data == 1) else multiply_rows
    for group, places in _places(x):

        def rows(start: int, stop: int, top: int = group.start, places: Csr = places) -> None:
            number = (top + start) // PANEL
            panel = gram.panels[number]
            add_rows(arrays, places, panel, number * PANEL, top + start, top + stop)

        over_blocks(rows, len(group), ROWS)
    require_exact(gram.diagonal())
    return gram


def gram_matrix(x: sp.csr_array, dtype: npt.DTypeLike = np.float32) -> Matrix:
    """Gram matrix X'X, items × items, both triangles, in C order."""
    return gram_triangle(x, dtype, room=True).square()


def _places(x: sp.csr_array) -> Iterator[tuple[range, Csr]]:
    """Yield groups of items, each with a list of all entries of X in their columns, item by item.

    The list is two arrays: where an entry stands in X, and how many entries of its row come before.
    A third one, which is the first of the three, has the place in the list where each item begins.
    """
    first = np.zeros(x.shape[1] + 1, np.int64)
    for start in range(0, x.nnz, COUNTED):  # NumPy would copy all indices as 64-bit integers
        first[1:] += np.bincount(x.indices[start : start + COUNTED], minlength=x.shape[1])
    np.cumsum(first, out=first)
    short = np.diff(x.indptr).max(initial=0) <= np.iinfo(np.uint16).max
    arrays, entry_of = (x.indptr, *csr(x)[1:]), x.indptr[:-1].copy()
    for group in _groups(first):
        start, stop = first[group.start], first[group.stop]
        where = np.empty(stop - start, unsigned(x.indptr).dtype)
        earlier = np.empty(stop - start, np.uint16 if short else np.uint32)
        next_of = first[group.start : group.stop] - start
        place_entries(arrays, entry_of, next_of, group.start, group.stop, where, earlier)
        yield group, (first - start, where, earlier)


def _groups(first: npt.NDArray[np.int64]) -> Iterator[range]:
    """Ranges of items with nearly as many entries each, which begin where a task begins.

    `first` has the number of entries of all items before each item, and of all.
    """
    items = len(first) - 1
    ends = np.searchsorted(first, first[-1] * np.arange(1, GROUPS) // GROUPS)
    bounds = sorted({0, *(int(end) // ROWS * ROWS for end in ends), items})
    yield from (range(*pair) for pair in itertools.pairwise(bounds))


def needed_bytes(
    items: int, nnz: int = 0, itemsize: int = 4, index: int = 4, room: bool = False
) -> int:
    """Peak memory of `gram_triangle` in bytes, without X: the result and the lists of entries.

    `itemsize` is the number of bytes of a count, `index` that of an index.
    """
    return itemsize * (items**2 if room else entries(items)) + 2 * index * nnz


def require_exact(diagonal: npt.NDArray[Any]) -> None:
    """Raise UserError if float32 may have rounded a count of a Gram matrix with this diagonal.

    No count exceeds the largest one of the diagonal, and rounding never brings a count back below
    the limit, so it is enough to check the diagonal of the result.
    """
    if diagonal.dtype == np.float32 and not np.all(diagonal < EXACT):  # also refuses NaN
        item = int(np.argmax(~(diagonal < EXACT)))
        raise UserError(
            f"item {item} has a squared count of {diagonal[item]:,.0f}, float32 is exact below "
            f"{EXACT:,}: let repeats of a pair count once (protocol.repeats: drop), or use fewer "
            "users"
        )


def user_shards(n_users: int, shards: int) -> list[range]:
    """Ranges of consecutive users: `shards` parts whose sizes differ by at most one."""
    bounds = [n_users * shard // shards for shard in range(shards + 1)]
    return [range(start, stop) for start, stop in itertools.pairwise(bounds)]
