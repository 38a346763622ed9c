"""Full-rank EDLAE restricted to k neighbours per item: sparse_edlae, and with p = 0 sparse_ease.

Each column of B is the exact optimum on its support (`columns`), which is chosen beforehand
(`neighbours`). Columns are independent, and nothing of the size of X'X is kept: millions of items
need memory for X, X' and the weights. With k = items - 1 the model is the full-rank EDLAE.
"""

from threading import local
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from lindrop.base.errors import Unsolvable, UserError
from lindrop.base.parallel import map_blocks
from lindrop.base.reporting import Progress, logger
from lindrop.linalg.kernels import Array, Csr, canonical, compiled, unsigned
from lindrop.models.base import Fit, SparseItems, Training, dropout_penalty
from lindrop.models.pattern.columns import Slots, solve_columns
from lindrop.models.pattern.neighbours import Counters, candidates, choose, column_sums

COLUMNS = 64  # columns per task of a thread
USER_CAP = 1000  # items of a user that count in the choice of neighbours


class Columns(NamedTuple):
    """Columns of B for a range of items: of each its neighbours, their weights, and their number.

    Both arrays have a row per item, of which the first `lengths` places count.
    """

    neighbours: Array
    weights: Array
    lengths: Array


def fit_sparse_edlae(
    data: Training, neighbours: float, p: float, ridge: float, user_cap: float = USER_CAP
) -> Fit:
    """Fit B with `neighbours` weights per column: ‖X - XB‖² + ‖Λ̃^½ B‖² is least on this pattern.

    An item whose users have no other item gets an empty column. In the choice of neighbours, users
    with more than `user_cap` items count by a sample of them.
    """
    columns = Solver(data, neighbours, p, ridge, user_cap).columns(range(data.items))
    return Fit(joined([columns], data.items))  # X' is freed before


class Solver:
    """Solves columns of B for any range of items; what the ranges share is computed once."""

    def __init__(
        self, data: Training, neighbours: float, p: float, ridge: float, user_cap: float = USER_CAP
    ):
        self.penalty = dropout_penalty(data.gram_diagonal, p, ridge)
        self.k = int(neighbours)
        if not (self.k >= 1 and user_cap >= 1):
            raise UserError(f"neighbours = {neighbours}, user_cap = {user_cap}: must be at least 1")
        if self.k > data.items - 1:
            logger.info("%d neighbours of %d items: takes all others", self.k, data.items)
            self.k = max(data.items - 1, 1)
        self.data = data
        x = canonical(data.x)
        values = np.empty(0, np.float32) if np.all(x.data == 1) else x.data
        self.xt = transposed(x, values)
        self.of = candidates(x, values, data.gram_diagonal, self.penalty, int(user_cap), data.seed)
        self.sums = column_sums(x.indices, values, data.items)
        self.memory = local()

    def columns(self, items: range) -> Columns:
        """Columns of B of consecutive items, in threads, with their progress in the log.

        Popular items come first in the data and take longest. As blocks of items are solved in a
        random order, the first ones tell how much time is left. The order changes no result.
        """
        shape = len(items), self.k
        found = Columns(
            np.empty(shape, np.int32),
            np.empty(shape, self.data.dtype),
            np.empty(len(items), np.int32),
        )
        progress = Progress("columns", len(items), unit="columns")

        blocks = -(-len(items) // COLUMNS)
        order = np.random.default_rng(0).permutation(blocks)

        def block(number: int, _: int) -> int:
            start = int(order[number]) * COLUMNS
            return self._solve(items.start, start, min(start + COLUMNS, len(items)), found)

        for done in map_blocks(block, blocks, 1):
            progress.advance(done)
        logger.info("%s", progress)
        if empty := np.count_nonzero(found.lengths == 0):
            logger.info("%d items share no user with another item: their columns are empty", empty)
        return found

    def _solve(self, offset: int, start: int, stop: int, found: Columns) -> int:
        """Write columns start to stop - 1 of the range that begins at item `offset`."""
        if not hasattr(self.memory, "counters"):
            users, n_items = self.data.x.shape
            self.memory.counters, self.memory.slots = Counters.of(n_items), Slots.of(users)
        first, last = offset + start, offset + stop
        neighbours, weights, lengths = (part[start:stop] for part in found)
        choose(self.xt, self.of, self.sums, self.memory.counters, neighbours, lengths, first, last)
        singular = solve_columns(
            self.xt,
            self.data.gram_diagonal,
            self.penalty,
            self.memory.slots,
            neighbours,
            lengths,
            weights,
            first,
            last,
        )
        if singular >= 0:
            raise Unsolvable(
                f"G + Λ̃ is not positive definite among the neighbours of item {singular}: use a "
                "larger λ or dropout p"
            )
        return stop - start


def transposed(x: sp.csr_array, values: Array) -> Csr:
    """CSR arrays of X' with unsigned indices; its data are empty if `values` is."""
    data = values if values.size else np.ones(x.nnz, np.int8)
    xt = sp.csr_array((data, x.indices, x.indptr), shape=x.shape).tocsc()
    return unsigned(xt.indptr), unsigned(xt.indices), xt.data if values.size else values


def joined(parts: list[Columns], items: int) -> SparseItems:
    """The model of columns that were solved in consecutive ranges of items."""
    counts = np.zeros(items + 1, np.int64)
    for part in parts:
        count_rows(part.neighbours, part.lengths, counts)
    indptr = np.cumsum(counts)
    indices = np.empty(indptr[-1], np.int32)
    data = np.empty(indptr[-1], parts[0].weights.dtype)
    ends, start = indptr[:-1].copy(), 0
    for part in parts:
        scatter_columns(*part, start, ends, indices, data)
        start += len(part.lengths)
    return SparseItems(indptr, indices, data)


@compiled
def count_rows(neighbours: Array, lengths: Array, counts: Array) -> None:
    """Add to counts[i + 1] the number of columns that have a weight of item i."""
    for j in range(len(lengths)):
        for place in range(lengths[j]):
            counts[neighbours[j, place] + 1] += 1


@compiled
def scatter_columns(
    neighbours: Array,
    weights: Array,
    lengths: Array,
    start: int,
    ends: Array,
    indices: Array,
    data: Array,
) -> None:
    """Append columns from number `start` on to the rows of B, which end at `ends` so far."""
    for j in range(len(lengths)):
        for place in range(lengths[j]):
            i = neighbours[j, place]
            indices[ends[i]], data[ends[i]] = start + j, weights[j, place]
            ends[i] += 1
