"""Compiled loops of the linear autoencoders, each serial over a range of rows or columns.

They release Python's global lock (GIL), and `base.parallel.over_blocks` runs ranges in threads. No
loop writes what another range reads or writes, so results do not depend on the number of threads.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from lindrop.base.compiling import compiled_by
from lindrop.base.parallel import over_blocks, thread_count
from lindrop.base.prefetch import prefetch

Array = npt.NDArray[Any]
Csr = tuple[Array, Array, Array]  # indptr, indices, data

compiled = compiled_by(nogil=True, cache=True)

USERS = 64  # rows of X per task, if B is sparse
COUNTED = 32  # most held-out items of a user for which each rank is counted separately
THREADED = 1 << 19  # products of X and dense B above which threads pay
AHEAD = 8  # rows of X that are on their way to the cache while an earlier one is counted
LINES = 5  # cache lines of such a row that are asked for; the processor foresees further ones
COLUMNS = 1024  # columns of B per task: parts of four rows of B and one of X B fit the L1 cache


def canonical(x: sp.csr_array) -> sp.csr_array:
    """X with sorted indices and duplicate entries added up, copied only if necessary."""
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    return x


def csr(x: sp.csr_array) -> Csr:
    """CSR arrays of X with unsigned indices, which Numba need not test for being negative.

    ValueError for another sparse format, whose arrays mean something else.
    """
    if x.format != "csr":
        raise ValueError(f"X is of the format {x.format}, not csr")
    return unsigned(x.indptr), unsigned(x.indices), x.data


def unsigned(index: Array) -> Array:
    """View of an integer array as unsigned integers of the same size."""
    return index.view(f"u{index.itemsize}")


@compiled
def place_entries(
    x: Csr, entry_of: Array, next_of: Array, start: int, stop: int, where: Array, earlier: Array
) -> None:
    """Write where X has the entries of items start to stop - 1, and their numbers in their rows.

    `entry_of` has each row's first entry of these items, afterwards the one behind the last.
    `next_of` has the places of the items' first entries; they end at those of the next items.
    """
    indptr, items, _ = x
    for u in range(len(entry_of)):
        entry = entry_of[u]
        while entry < indptr[u + 1] and items[entry] < stop:
            place = next_of[items[entry] - start]
            where[place] = entry
            earlier[place] = entry - indptr[u]
            next_of[items[entry] - start] = place + 1
            entry += 1
        entry_of[u] = entry


@compiled
def count_rows(x: Csr, places: Csr, panel: Array, top: int, start: int, stop: int) -> None:
    """Write rows start to stop - 1 of the lower triangle of X'X, for an X with entries 1.

    `places` has the first place of each item, and what `place_entries` wrote. `panel` holds rows of
    X'X from `top` on; what it has above the diagonal becomes 0. Each user's items are sorted, so
    those before i are the first. One row of G at a time stays in the cache.
    """
    _, items, _ = x
    first, where, earlier = places
    last = len(where) - 1
    one = np.float32(1)  # with an integer 1, Numba would add in float64
    for i in range(start, stop):
        row = panel[i - top]
        row[:] = 0
        for place in range(first[i], first[i + 1]):
            ahead = min(place + AHEAD, last)
            prefetch(items, where[ahead] - earlier[ahead], LINES)
            entry = where[place]
            for other in range(entry - earlier[place], entry):
                row[items[other]] += one
        row[i] = first[i + 1] - first[i]


@compiled
def multiply_rows(x: Csr, places: Csr, panel: Array, top: int, start: int, stop: int) -> None:
    """Write rows start to stop - 1 of the lower triangle of X'X, for an X with any entries.

    `places` and `panel` are those of `count_rows`, which is faster for an X of ones.
    """
    _, items, data = x
    first, where, earlier = places
    last = len(where) - 1
    for i in range(start, stop):
        row = panel[i - top]
        row[:] = 0
        for place in range(first[i], first[i + 1]):
            ahead = min(place + AHEAD, last)
            prefetch(items, where[ahead] - earlier[ahead], LINES)
            entry = where[place]
            x_ui = np.float64(data[entry])  # or products for a float64 G would be rounded
            for other in range(entry - earlier[place], entry):
                row[items[other]] += x_ui * data[other]
            row[i] += x_ui * x_ui


def sparse_times_dense(x: sp.csr_array, b: Array) -> Array:
    """Product X B of sparse X and dense, C-ordered B; threads take blocks of columns."""
    if x.shape[1] != len(b) or not b.flags.c_contiguous:  # compiled loops do not check bounds
        raise ValueError(f"X is {x.shape}, B is {b.shape} and must be C-ordered")
    scores = np.empty((x.shape[0], b.shape[1]), b.dtype)
    arrays = (x.indptr, *csr(x)[1:])  # signed indptr: in Numba uint64 + 4 is float

    def tile(start: int, stop: int) -> None:
        sparse_rows_times_dense(arrays, b, scores, start, stop)

    # a thread starts more slowly than it multiplies a small matrix
    threads = thread_count() if x.nnz * b.shape[1] > THREADED else 1
    over_blocks(tile, b.shape[1], min(COLUMNS, max(1, -(-b.shape[1] // threads))))
    return scores


@compiled
def sparse_rows_times_dense(x: Csr, b: Array, out: Array, start: int, stop: int) -> None:
    """Write columns start to stop - 1 of X B to `out`, four rows of B at a time to save writes."""
    indptr, items, data = x
    for u in range(len(out)):
        total = out[u, start:stop]
        total[:] = 0
        entry, end = indptr[u], indptr[u + 1]
        while entry + 4 <= end:
            x0, x1, x2, x3 = data[entry], data[entry + 1], data[entry + 2], data[entry + 3]
            b0, b1 = b[items[entry], start:stop], b[items[entry + 1], start:stop]
            b2, b3 = b[items[entry + 2], start:stop], b[items[entry + 3], start:stop]
            for j in range(stop - start):
                total[j] += x0 * b0[j] + x1 * b1[j] + x2 * b2[j] + x3 * b3[j]
            entry += 4
        while entry < end:
            x0, b0 = data[entry], b[items[entry], start:stop]
            for j in range(stop - start):
                total[j] += x0 * b0[j]
            entry += 1


def sparse_times_sparse(x: sp.csr_array, b: Csr) -> Array:
    """Dense product X B of sparse X and sparse B, in threads: a sparse item-item model's scores."""
    indptr, indices, data = b
    if x.shape[1] != len(indptr) - 1:  # compiled loops do not check bounds
        raise ValueError(f"X is {x.shape}, B has {len(indptr) - 1} rows")
    scores = np.zeros(x.shape, data.dtype)
    arrays, b = csr(x), (unsigned(indptr), unsigned(indices), data)

    def rows(start: int, stop: int) -> None:
        sparse_rows_times_sparse(arrays, b, scores, start, stop)

    over_blocks(rows, x.shape[0], USERS)
    return scores


@compiled
def sparse_rows_times_sparse(x: Csr, b: Csr, out: Array, start: int, stop: int) -> None:
    """Add rows start to stop - 1 of X B to `out`."""
    indptr, items, data = x
    first, columns, weights = b
    for u in range(start, stop):
        scores = out[u]
        for entry in range(indptr[u], indptr[u + 1]):
            x_ui = data[entry]
            for other in range(first[items[entry]], first[items[entry] + 1]):
                scores[columns[other]] += x_ui * weights[other]


@compiled
def top_k(scores: Array, ids: Array, values: Array, start: int, stop: int) -> None:
    """Write the k best columns of rows start to stop - 1 and their scores to `ids` and `values`.

    k is the number of columns of `ids` and `values`. The best is first; of equal scores, the lower
    column is first. A score of -inf is never taken: if fewer than k others are left, the remaining
    ids are -1. A row with a NaN has NaN as its first value.
    """
    for u in range(start, stop):
        row, best, column = scores[u], values[u], ids[u]
        best[:] = -np.inf
        column[:] = -1
        nan = False
        for j in range(len(row)):
            if row[j] > best[0]:  # a later column with an equal score is worse and stays out
                replace_root(best, column, len(best), row[j], j)
            elif row[j] != row[j]:
                nan = True
        best_first(best, column)
        if nan:
            best[0] = np.nan


@compiled
def replace_root(best: Array, column: Array, size: int, score: float, j: int) -> None:
    """Replace the root of a heap, its worst entry in the order of `worse`, by (score, j)."""
    hole, child = 0, 1
    while child < size:
        if child + 1 < size and worse(
            best[child + 1], column[child + 1], best[child], column[child]
        ):
            child += 1
        if not worse(best[child], column[child], score, j):
            break
        best[hole], column[hole] = best[child], column[child]
        hole, child = child, 2 * child + 1
    best[hole], column[hole] = score, j


@compiled
def best_first(best: Array, column: Array) -> None:
    """Sort a heap, whose root is its worst entry in the order of `worse`, from best to worst."""
    for size in range(len(best) - 1, 0, -1):  # the worst of those left goes last
        score, j = best[size], column[size]
        best[size], column[size] = best[0], column[0]
        replace_root(best, column, size, score, j)


@compiled
def worse(score: float, column: int, than_score: float, than_column: int) -> bool:
    """Whether a column ranks below another: lower score or, if equal, higher column."""
    return score < than_score or (score == than_score and column > than_column)


@compiled
def gains_of_ranks(scores: Array, held_out: Csr, gains: Array, start: int, stop: int) -> None:
    """Write to gains[u, r] the held-out entry of user u's item at rank r (from 0), 0 if none.

    Items are ranked in the order of `top_k`. A row of scores with a NaN has NaN as its first gain.
    """
    indptr, items, data = held_out
    depth = gains.shape[1]
    ids, values = np.empty((1, depth), np.int32), np.empty((1, depth), scores.dtype)
    for u in range(start, stop):
        row = scores[u]
        gains[u] = 0
        first, end = indptr[u], indptr[u + 1]
        if _has_nan(row):
            gains[u, 0] = np.nan
        elif end - first <= COUNTED:  # for few items, counting better columns is faster than top_k
            for entry in range(first, end):
                rank = _rank(row, items[entry])
                if rank < depth and row[items[entry]] > -np.inf:
                    gains[u, rank] = data[entry]
        else:
            top_k(scores[u : u + 1], ids, values, 0, 1)
            wanted = items[first:end]
            for rank in range(depth):
                place = np.searchsorted(wanted, ids[0, rank])
                if place < len(wanted) and wanted[place] == ids[0, rank]:
                    gains[u, rank] = data[first + place]


@compiled
def _has_nan(row: Array) -> bool:
    """Whether a row holds a NaN."""
    nan = False
    for j in range(len(row)):
        nan |= row[j] != row[j]
    return nan


@compiled
def _rank(row: Array, item: int) -> int:
    """Rank (from 0) of a column: the number of better ones, by the order of `top_k`."""
    score, better = row[item], 0
    for j in range(item):
        better += row[j] >= score
    for j in range(item + 1, len(row)):
        better += row[j] > score
    return better
