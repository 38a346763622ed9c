"""Full-rank EDLAE restricted to k neighbours per item: sparse_edlae, and with p = 0 sparse_ease.

Each column of B is the exact optimum on its support (`columns`), which is chosen beforehand
(`neighbours`). Columns are independent, and nothing of the size of X'X is kept: millions of items
need memory for X, X' and the weights. With k = items - 1 the model is the full-rank EDLAE.
"""

from threading import local

import numpy as np
import scipy.sparse as sp

from lindrop.base.errors import Unsolvable, UserError
from lindrop.base.parallel import map_blocks
from lindrop.base.reporting import Progress, logger
from lindrop.linalg.kernels import Array, Csr, canonical, unsigned
from lindrop.models.base import ENTRIES, Fit, SparseItems, Training, dropout_penalty
from lindrop.models.pattern.columns import Slots, solve_columns
from lindrop.models.pattern.neighbours import Counters, candidates, choose, column_sums
from lindrop.models.pattern.rows import Columns, Part, cut, cuts_of, in_rows, joined

COLUMNS = 64  # columns per task of a thread
WEIGHTS = 1 << 26  # of the columns that are solved before they are put in rows
USER_CAP = 100  # items of a user that count in the choice of neighbours


def fit_sparse_edlae(
    data: Training, neighbours: float, p: float, ridge: float, user_cap: float = USER_CAP
) -> Fit:
    """Fit B with `neighbours` weights per column: ‖X - XB‖² + ‖Λ̃^½ B‖² is least on this pattern.

    An item whose users have no other item gets an empty column. In the choice of neighbours, users
    with more than `user_cap` items count by a sample of them.
    """
    parts = Solver(data, neighbours, p, ridge, user_cap).parts(range(data.items))
    return Fit(joined(parts))  # X' is freed before


def fit_columns(
    data: Training,
    items: range,
    neighbours: float,
    p: float,
    ridge: float,
    user_cap: float = USER_CAP,
) -> SparseItems:
    """Columns of the B of `fit_sparse_edlae` for a range of items; all others are empty."""
    return joined(Solver(data, neighbours, p, ridge, user_cap).parts(items))


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
        values = np.empty(0, np.float32) if all_ones(x.data) else x.data
        self.xt = transposed(x, values)
        self.of = candidates(x, values, data.gram_diagonal, self.penalty, int(user_cap), data.seed)
        self.sums = column_sums(x.indices, values, data.items)
        self.memory = local()

    def parts(self, items: range) -> list[Part]:
        """Columns of B of consecutive items, in rows, with their progress in the log.

        Popular items often come first in the data and take longest. As parts and their blocks of
        items are solved in a random order, the first ones tell how much time is left. The order
        changes no result.
        """
        progress, empty = Progress("columns", len(items), unit="columns"), 0
        step = max(1, WEIGHTS // self.k)
        spans = [items[a : a + step] for a in range(0, max(len(items), 1), step)]
        order = np.random.default_rng(0).permutation(len(spans))
        parts: dict[int, Part] = {}
        for number in map(int, order):
            columns = self.columns(spans[number], progress)
            empty += int(np.count_nonzero(columns.lengths == 0))
            rows = in_rows(columns, spans[number].start, self.data.items)
            del columns
            if not parts:
                cuts = cuts_of(rows) if len(spans) > 1 else [0, self.data.items]
            parts[number] = cut(rows, cuts)
        logger.info("%s", progress)
        if empty:
            logger.info("%d items share no user with another item: their columns are empty", empty)
        return [parts[number] for number in sorted(parts)]

    def columns(self, items: range, progress: Progress | None = None) -> Columns:
        """Columns of B of consecutive items, solved in threads."""
        found = Columns.empty(len(items), self.k, self.data.dtype)
        blocks = -(-len(items) // COLUMNS)
        order = np.random.default_rng(0).permutation(blocks)

        def block(number: int, _: int) -> int:
            start = int(order[number]) * COLUMNS
            return self._solve(items.start, start, min(start + COLUMNS, len(items)), found)

        for done in map_blocks(block, blocks, 1):
            if progress:
                progress.advance(done)
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


def all_ones(entries: Array) -> bool:
    """Whether all entries of X are 1; one number that stands for all of them is looked at once."""
    if entries.strides == (0,):
        entries = entries[:1]
    parts = range(0, len(entries), ENTRIES)  # a comparison of all would be as long as X
    return all((entries[start : start + ENTRIES] == 1).all() for start in parts)


def transposed(x: sp.csr_array, values: Array) -> Csr:
    """CSR arrays of X' with unsigned indices; its data are empty if `values` is."""
    data = values if values.size else np.ones(x.nnz, np.int8)
    xt = sp.csr_array((data, x.indices, x.indptr), shape=x.shape).tocsc()
    return unsigned(xt.indptr), unsigned(xt.indices), xt.data if values.size else values
