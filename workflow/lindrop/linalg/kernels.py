"""Compiled loops of the linear autoencoders: serial over a range, without the interpreter's lock.

`base.parallel.over_blocks` runs ranges in threads: no loop writes what another range reads or
writes, so results do not depend on the number of threads.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from numba import njit

from lindrop.base.parallel import over_blocks, thread_count

Array = npt.NDArray[Any]
Csr = tuple[Array, Array, Array]  # indptr, indices, data

compiled = njit(nogil=True, cache=True)

USERS = 64  # of X at a time, where B is sparse
COUNTED = 32  # held-out items of a user up to which ranks are counted one by one
COLUMNS = 1024  # of B at a time: four rows of it and one of the result fit the nearest cache


def canonical(x: sp.csr_array) -> sp.csr_array:
    """X with sorted indices and no duplicate entry, copied only if it has to be."""
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    return x


def csr(x: sp.csr_array) -> Csr:
    """The arrays of X with unsigned indices: a signed index costs a test for being negative."""
    return unsigned(x.indptr), unsigned(x.indices), x.data


def unsigned(index: Array) -> Array:
    return index.view(f"u{index.itemsize}")


@compiled
def count_rows(x: Csr, xt: Csr, gram: Array, start: int, stop: int) -> None:
    """Add rows start..stop of the upper triangle of X'X, X all ones: pairs are counted.

    The data of X' (items × users) are the places of its entries in X: what stands from there on
    in the user's sorted row are the items j ≥ i. One row of G at a time stays in the cache.
    """
    end_of_user, items, _ = x
    first, users, place = xt
    one = np.float32(1)  # an integer would make it a sum of doubles
    for i in range(start, stop):
        row = gram[i]
        for entry in range(first[i], first[i + 1]):
            for other in range(place[entry], end_of_user[users[entry] + 1]):
                row[items[other]] += one


@compiled
def multiply_rows(x: Csr, xt: Csr, gram: Array, start: int, stop: int) -> None:
    """As `count_rows` for any X, which takes twice as long."""
    end_of_user, items, data = x
    first, users, place = xt
    for i in range(start, stop):
        row = gram[i]
        for entry in range(first[i], first[i + 1]):
            x_ui = data[place[entry]]
            for other in range(place[entry], end_of_user[users[entry] + 1]):
                row[items[other]] += x_ui * data[other]


@compiled
def mirror_rows(gram: Array, start: int, stop: int) -> None:
    """Copy rows start..stop of the upper triangle to the lower one.

    The narrower the range, the more of what is read along a column is still in the cache.
    """
    for j in range(start + 1, len(gram)):
        for i in range(start, min(j, stop)):
            gram[j, i] = gram[i, j]


def sparse_times_dense(x: sp.csr_array, b: Array) -> Array:
    """X B of a C-ordered B, in threads, each of which takes some columns."""
    if x.shape[1] != len(b) or not b.flags.c_contiguous:  # compiled loops check no bounds
        raise ValueError(f"X is {x.shape}, B is {b.shape} and must be C-ordered")
    scores = np.empty((x.shape[0], b.shape[1]), b.dtype)
    arrays = (x.indptr, unsigned(x.indices), x.data)  # unsigned 64 bits + 4 is a float to Numba

    def tile(start: int, stop: int) -> None:
        sparse_rows_times_dense(arrays, b, scores, start, stop)

    over_blocks(tile, b.shape[1], min(COLUMNS, max(1, -(-b.shape[1] // thread_count()))))
    return scores


@compiled
def sparse_rows_times_dense(x: Csr, b: Array, out: Array, start: int, stop: int) -> None:
    """Columns start..stop of X B, four rows of B at a time to write each sum less often."""
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
    """X B of a sparse B, as a dense array, in threads: the scores of a sparse item-item model."""
    indptr, indices, data = b
    if x.shape[1] != len(indptr) - 1:  # compiled loops check no bounds
        raise ValueError(f"X is {x.shape}, B has {len(indptr) - 1} rows")
    scores = np.zeros(x.shape, data.dtype)
    arrays, b = csr(x), (unsigned(indptr), unsigned(indices), data)

    def rows(start: int, stop: int) -> None:
        sparse_rows_times_sparse(arrays, b, scores, start, stop)

    over_blocks(rows, x.shape[0], USERS)
    return scores


@compiled
def sparse_rows_times_sparse(x: Csr, b: Csr, out: Array, start: int, stop: int) -> None:
    """Add rows start..stop of X B to `out`."""
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
    """The best columns of rows start..stop, best first; of equal scores the lower column first.

    As many as `ids` and `values` have columns. A score of -inf is never taken: where too few
    others are left, ids are -1. A row with a NaN has NaN as its first value.
    """
    for u in range(start, stop):
        row, best, column = scores[u], values[u], ids[u]
        best[:] = -np.inf
        column[:] = -1
        nan = False
        for j in range(len(row)):
            if row[j] > best[0]:  # of equals the later one, which is the worse, stays out
                _replace_root(best, column, len(best), row[j], j)
            elif row[j] != row[j]:
                nan = True
        for size in range(len(best) - 1, 0, -1):  # the worst of the heap goes to its end
            score, j = best[size], column[size]
            best[size], column[size] = best[0], column[0]
            _replace_root(best, column, size, score, j)
        if nan:
            best[0] = np.nan


@compiled
def _replace_root(best: Array, column: Array, size: int, score: float, j: int) -> None:
    """In a heap whose root is the worst: the lowest score, of equals the highest column."""
    hole, child = 0, 1
    while child < size:
        if child + 1 < size and _worse(
            best[child + 1], column[child + 1], best[child], column[child]
        ):
            child += 1
        if not _worse(best[child], column[child], score, j):
            break
        best[hole], column[hole] = best[child], column[child]
        hole, child = child, 2 * child + 1
    best[hole], column[hole] = score, j


@compiled
def _worse(score: float, column: int, than_score: float, than_column: int) -> bool:
    return score < than_score or (score == than_score and column > than_column)


@compiled
def gains_of_ranks(scores: Array, held_out: Csr, gains: Array, start: int, stop: int) -> None:
    """gains[u, r] = the held-out entry of the item that ranks r-th for user u, 0 if it has none.

    Items rank as `top_k` lists them. A row of scores with a NaN has NaN as its first gain.
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
        elif end - first <= COUNTED:  # counting the better ones of each is faster than a list
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
    nan = False
    for j in range(len(row)):
        nan |= row[j] != row[j]
    return nan


@compiled
def _rank(row: Array, item: int) -> int:
    """How many columns are better than one of them: of equal scores the lower column is."""
    score, better = row[item], 0
    for j in range(item):
        better += row[j] >= score
    for j in range(item + 1, len(row)):
        better += row[j] > score
    return better
