"""G = X'X, the only thing that the linear models need to know about the training users."""

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

ROWS = 64  # at once: short enough to share them out evenly, wide enough to mirror by cache lines
EXACT = 2**24  # from here on float32 does not hold every integer


def gram_matrix(x: sp.csr_array, dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
    """X'X, both triangles, in C order; nothing else of its size is allocated.

    Counts are exact integers, so matrices of shards of the users add up to exactly the whole.
    """
    x = canonical(x)
    items = x.shape[1]
    require_memory(needed_bytes(items, x.nnz, np.dtype(dtype).itemsize), f"X'X of {items:,} items")
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
    """X' whose entries are their places in X."""
    places = np.arange(x.nnz, dtype=x.indices.dtype)
    xt = sp.csr_array((places, x.indices, x.indptr), shape=x.shape).tocsc()
    return unsigned(xt.indptr), unsigned(xt.indices), unsigned(xt.data)


def needed_bytes(items: int, nnz: int = 0, itemsize: int = 4) -> int:
    """Peak memory of `gram_matrix` beside X: the result, and X' as indices and places."""
    return itemsize * items**2 + 16 * nnz


def require_exact(diagonal: npt.NDArray[Any]) -> None:
    """Refuse counts that float32 cannot hold: none exceeds the largest one of the diagonal.

    Rounding never takes a count back below the limit, so it is enough to look at the result.
    """
    if diagonal.dtype == np.float32 and not np.all(diagonal < EXACT):  # a NaN is not less, either
        item = int(np.argmax(~(diagonal < EXACT)))
        raise UserError(
            f"item {item} has a squared count of {diagonal[item]:,.0f}, float32 is exact below "
            f"{EXACT:,}: use float64, or fewer users"
        )


def user_shards(n_users: int, shards: int) -> list[range]:
    """Consecutive users in `shards` parts whose sizes differ by one at most."""
    bounds = [n_users * shard // shards for shard in range(shards + 1)]
    return [range(start, stop) for start, stop in itertools.pairwise(bounds)]
