"""Rank items by the scores X B of a sparse B, without an array of users × items.

Of each user's scores, only those that an item of the user's history gives are computed; all other
items have the score 0 and are ranked by their numbers. Every thread keeps one row of scores.
"""

import numpy as np
import scipy.sparse as sp

from lindrop.base.parallel import over_blocks
from lindrop.linalg.kernels import (
    Array,
    Csr,
    best_first,
    compiled,
    csr,
    replace_root,
    unsigned,
    worse,
)

USERS = 128  # rows of X per task: a task needs a new row of scores


def best_of_sparse(
    x: sp.csr_array, b: Csr, k: int, allowed: Array | None = None, keep_seen: bool = False
) -> tuple[Array, Array]:
    """Columns and scores, rows × k each, of the k best entries of X B.

    Columns that X has itself are left out unless `keep_seen`, those that are not `allowed` always.
    Order and scores are those of `kernels.top_k` for the dense product, to the last bit: the best
    column is first and, of equal scores, the lower column; -1 where fewer than k are left.
    """
    indptr, indices, data = b
    if x.shape[1] != len(indptr) - 1:  # compiled loops do not check bounds
        raise ValueError(f"X is {x.shape}, B has {len(indptr) - 1} rows")
    ids = np.empty((x.shape[0], k), np.int32)
    values = np.empty(ids.shape, data.dtype)
    arrays, b = csr(x), (unsigned(indptr), unsigned(indices), data)

    barred = np.zeros(0, bool) if allowed is None or allowed.all() else ~allowed

    def rows(start: int, stop: int) -> None:
        best_rows(arrays, b, barred, keep_seen, ids, values, start, stop)

    over_blocks(rows, x.shape[0], USERS)
    return ids, values


@compiled
def best_rows(
    x: Csr,
    b: Csr,
    barred: Array,
    keep_seen: bool,
    ids: Array,
    values: Array,
    start: int,
    stop: int,
) -> None:
    """Write the best columns of rows start to stop - 1 of X B and their scores.

    `barred` says of each column whether it is left out; if it is empty, none is. A row with a NaN
    among its scores has NaN as its first value.
    """
    indptr, items, data = x
    first, columns, weights = b
    n_items, restricted = len(first) - 1, len(barred) > 0
    scores = np.zeros(n_items, values.dtype)
    seen = np.full(n_items, -1, np.int32)  # the last row in which the item was scored or known
    touched = np.empty(n_items, np.int32)
    for u in range(start, stop):
        best, column = values[u], ids[u]
        best[:] = -np.inf
        column[:] = -1
        n_touched = 0
        for entry in range(indptr[u], indptr[u + 1]):
            x_ui = data[entry]
            for other in range(first[items[entry]], first[items[entry] + 1]):
                j = columns[other]
                if seen[j] != u:
                    seen[j] = u
                    scores[j] = 0
                    touched[n_touched] = j
                    n_touched += 1
                scores[j] += x_ui * weights[other]
        if not keep_seen:
            for entry in range(indptr[u], indptr[u + 1]):
                seen[items[entry]] = u
                scores[items[entry]] = -np.inf
        nan = False
        for place in range(n_touched):
            j = touched[place]
            score = scores[j]
            if restricted and barred[j]:
                continue
            if score != score:
                nan = True
            elif score > -np.inf and worse(best[0], column[0], score, j):
                replace_root(best, column, len(best), score, j)
        for j in range(n_items):  # ends soon: at the first item that is worse than the k best
            if not worse(best[0], column[0], 0.0, j):
                break
            if seen[j] != u and not (restricted and barred[j]):
                replace_root(best, column, len(best), 0.0, j)
        best_first(best, column)
        if nan:
            best[0] = np.nan


@compiled
def gains_of_lists(ids: Array, held_out: Csr, gains: Array, start: int, stop: int) -> None:
    """Write to gains[u, r] the held-out entry of the item at rank r of user u's list, 0 if none.

    Only the first ranks of the lists are looked at if `gains` has fewer columns.
    """
    indptr, items, data = held_out
    for u in range(start, stop):
        first = indptr[u]
        wanted = items[first : indptr[u + 1]]
        for rank in range(gains.shape[1]):
            gains[u, rank] = 0
            if ids[u, rank] >= 0:
                place = np.searchsorted(wanted, ids[u, rank])
                if place < len(wanted) and wanted[place] == ids[u, rank]:
                    gains[u, rank] = data[first + place]
