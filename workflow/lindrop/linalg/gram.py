"""Compute G = X'X, all that most linear models need to know about the training users."""

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from lindrop.base.errors import UserError
from lindrop.base.memory import require_memory
from lindrop.base.parallel import over_blocks
from lindrop.linalg.kernels import (
    Csr,
    canonical,
    count_rows,
    csr,
    mirror_rows,
    multiply_rows,
    unsigned,
)

ROWS = 64  # per task: few enough to balance the threads, enough to mirror whole cache lines
EXACT = 2**24  # float32 holds every integer below this limit


def gram_matrix(x: sp.csr_array, dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
    """Gram matrix X'X, items × items, both triangles, in C order.

    No other array of its size is allocated. Counts are exact integers, so the matrices of shards of
    the users add up to exactly the matrix of all users.
    """
    x = canonical(x)
    items = x.shape[1]
    needed = needed_bytes(items, x.nnz, np.dtype(dtype).itemsize, x.indices.itemsize)
    require_memory(needed, f"X'X of {items:,} items")
    arrays, transposed = csr(x), _transposed_places(x)
    add_rows = count_rows if np.all(x.data == 1) else multiply_rows
    gram = np.zeros((items, items), dtype)

    def rows(start: int, stop: int) -> None:
        add_rows(arrays, transposed, gram, start, stop)
        mirror_rows(gram, start, stop)

    over_blocks(rows, items, ROWS)
    require_exact(gram.diagonal())
    return gram


def _transposed_places(x: sp.csr_array) -> Csr:
    """CSR arrays of X' in which each entry is the index of that entry in the data of X."""
    places = np.arange(x.nnz, dtype=x.indices.dtype)
    xt = sp.csr_array((places, x.indices, x.indptr), shape=x.shape).tocsc()
    return unsigned(xt.indptr), unsigned(xt.indices), unsigned(xt.data)


def needed_bytes(items: int, nnz: int = 0, itemsize: int = 4, index: int = 4) -> int:
    """Peak memory of `gram_matrix` in bytes, without X: the result and the index arrays of X'.

    `itemsize` is the number of bytes of a count, `index` that of an index.
    """
    return itemsize * items**2 + 2 * index * nnz


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
