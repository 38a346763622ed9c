"""Columns of B with k neighbours per item, for any range of items.

Each column of B is the exact optimum on its support (`columns`), which is chosen beforehand
(`neighbours`). Columns are independent, and nothing of the size of X'X is kept: millions of items
need memory for X, X' and the weights.
"""

from threading import local

import numpy as np

from lindrop.base.errors import Unsolvable, UserError
from lindrop.base.parallel import map_blocks
from lindrop.base.reporting import Progress, logger
from lindrop.linalg.kernels import Array, canonical
from lindrop.models.base import ENTRIES, Training, dropout_penalty
from lindrop.models.pattern.columns import ALONE, Beside, Slots, solve_columns
from lindrop.models.pattern.neighbours import Counters, candidates, choose, column_sums
from lindrop.models.pattern.order import renamed, transposed
from lindrop.models.pattern.rows import Columns, Part, cut, cuts_of, in_rows

COLUMNS = 64  # columns per task of a thread
TASKS = 64  # of consecutive columns, after which others follow that may be far away
WEIGHTS = 1 << 26  # of the columns that are solved before they are put in rows
ROUNDED = 1e-9  # by which a whole number of neighbours may be computed too low
LONGEST = 4  # largest number of neighbours with `spread`, in multiples of their mean
USER_CAP = 100  # items of a user that count in the choice of neighbours


class Solver:
    """Solves columns of B for any range of items; what the ranges share is computed once."""

    def __init__(
        self,
        data: Training,
        neighbours: float,
        p: float,
        ridge: float,
        user_cap: float = USER_CAP,
        spread: float = 0.0,
    ) -> None:
        self.penalty = dropout_penalty(data.gram_diagonal, p, ridge)
        k = int(neighbours)
        if not (k >= 1 and user_cap >= 1):
            raise UserError(f"neighbours = {neighbours}, user_cap = {user_cap}: must be at least 1")
        if not 0 <= spread < 1:
            raise UserError(f"spread = {spread}: must be at least 0, below 1")
        if k > data.items - 1:
            logger.info("%d neighbours of %d items: takes all others", k, data.items)
            k = max(data.items - 1, 1)
        self.data = data
        x = canonical(data.x)
        values = np.empty(0, np.float32) if all_ones(x.data) else x.data
        near = renamed(x, values)  # not kept: a sample of its users' items may take its place
        self.place_of = near.place_of
        self.xt = transposed(near.first, near.items, near.values, data.items)
        diagonals = data.gram_diagonal[near.item_of], self.penalty[near.item_of]
        self.most = numbers_by_users(np.diff(self.xt[0]), k, spread)[self.place_of]
        self.sums = column_sums(near.items, near.values, data.items)
        self.of = candidates(near, *diagonals, int(user_cap), data.seed)
        self.diagonals = diagonals
        self.memory = local()
        self.told = False  # whether the number of empty columns was logged

    def parts(self, items: range, beside: Beside = ALONE) -> list[Part]:
        """Columns of B of consecutive items, in rows, with their progress in the log.

        A part has the columns of items that belong together. Popular items take longest: as parts
        and what threads take of them are solved in a random order, the first ones tell how much
        time is left. The order changes no result.
        """
        progress, empty = Progress("columns", len(items), unit="columns"), 0
        near = self.in_order(np.arange(items.start, items.stop, dtype=np.int32))
        span_of = (np.cumsum(self.most[near]) - 1) // WEIGHTS
        spans = [np.sort(own) for own in np.split(near, np.flatnonzero(np.diff(span_of)) + 1)]
        parts: list[Part] = []
        for number in map(int, np.random.default_rng(0).permutation(len(spans))):
            columns = self.columns(spans[number], progress, beside)
            empty += int(np.count_nonzero(columns.lengths == 0))
            rows = in_rows(columns, spans[number], self.data.items)
            del columns
            if not parts:
                cuts = cuts_of(rows) if len(spans) > 1 else [0, self.data.items]
            parts.append(cut(rows, cuts))
        logger.info("%s", progress)
        if empty and not self.told:
            self.told = True
            logger.info("%d items share no user with another item: their columns are empty", empty)
        return parts

    def in_order(self, items: Array) -> Array:
        """These items, those that belong together one after the other."""
        return items[np.argsort(self.place_of[items])]

    def columns(
        self, items: Array, progress: Progress | None = None, beside: Beside = ALONE
    ) -> Columns:
        """Columns of B of rising items, solved in threads, those of similar items together."""
        found = Columns.empty(self.most[items], self.data.dtype)
        near = np.argsort(self.place_of[items])  # numbers of columns of `found`
        blocks = -(-len(items) // COLUMNS)
        run = max(1, min(TASKS, blocks // TASKS))
        runs = np.random.default_rng(0).permutation(-(-blocks // run))
        order = (runs[:, None] * run + np.arange(run)).ravel()
        order = order[order < blocks]

        def block(number: int, _: int) -> int:
            start = int(order[number]) * COLUMNS
            return self.write_columns(items, near[start : start + COLUMNS], found, beside)

        for done in map_blocks(block, blocks, 1):
            if progress:
                progress.advance(done)
        return found

    def write_columns(
        self, items: Array, columns: Array, found: Columns, beside: Beside = ALONE
    ) -> int:
        """Compute these columns of `found`, column c for items[c]; returns how many they are."""
        if not hasattr(self.memory, "counters"):
            users, n_items = self.data.x.shape
            self.memory.counters = Counters.of(n_items)
            self.memory.slots = Slots.of(users, n_items)
        self.choose_neighbours(items, columns, found)
        places, memory = self.place_of[items[columns]], self.memory.slots
        system = self.xt, *self.diagonals, self.place_of, memory, places, columns
        singular = solve_columns(*system, *found, beside)
        if singular >= 0:
            raise Unsolvable(
                f"G + Λ̃ is not positive definite among the neighbours of item {items[singular]}: "
                "use a larger λ or dropout p"
            )
        return len(columns)

    def choose_neighbours(self, items: Array, columns: Array, found: Columns) -> None:
        """Write the neighbours of these columns of `found`, column c for items[c]."""
        places, counters = self.place_of[items[columns]], self.memory.counters
        arrays = found.neighbours, found.starts, found.lengths
        choose(self.xt, self.of, self.sums, counters, places, columns, *arrays)


def numbers_by_users(users: Array, k: int, spread: float) -> Array:
    """The number of neighbours of each item, in proportion to (users + 1) ** spread.

    `users` has the number of users of each item. A number is at least 1 and at most `LONGEST` times
    k, and the mean is at most k, apart from the items that are raised to 1.
    """
    share = (users + 1.0) ** spread
    numbers = np.floor(k * (len(users) * share / share.sum()) + ROUNDED)
    most: Array = np.clip(numbers, 1, min(LONGEST * k, max(len(users) - 1, 1))).astype(np.int32)
    return most


def all_ones(entries: Array) -> bool:
    """Whether all entries of X are 1; one number that stands for all of them is looked at once."""
    if entries.strides == (0,):
        entries = entries[:1]
    parts = range(0, len(entries), ENTRIES)  # a comparison of all would be as long as X
    return all((entries[start : start + ENTRIES] == 1).all() for start in parts)
