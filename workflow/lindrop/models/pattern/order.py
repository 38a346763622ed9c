"""An order in which items that the same users have, and users of the same items, are neighbours.

With millions of items and users, what a column of B needs is spread over all memory if their
numbers say nothing about them, and most of the time is spent waiting for it. In this order columns
that are solved one after the other need the same few megabytes, which stay in the cache.

Items get labels by propagation: each starts with a label of its own, and in every round a user
takes the most frequent label of its items, then an item that of its users. Items are sorted by
their label, those of one label by falling popularity. The order changes how fast a model is
computed, but not the model, up to rounding if entries of X are not whole numbers.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from lindrop.base.parallel import over_blocks
from lindrop.base.reporting import logger
from lindrop.linalg.kernels import Array, Csr, compiled, unsigned

SMALL = 1 << 22  # entries of X below which all fits into the cache
ROUNDS = 4  # of propagation
LOOKED_AT = 128  # most entries of a user or an item that are counted
TABLE = 4 * LOOKED_AT  # places of the table in which they are counted, a power of 2
ROWS = 4096  # users or items per task of a thread
FREE = np.uint32(2**32 - 1)


class Near(NamedTuple):
    """X with its users and items at places where those that belong together are near each other.

    The row at place r is that of user user_of[r], with items[first[r]:first[r + 1]], which are
    places, too, and their entries in `values`, which is empty if all are 1. `item_of` gives the
    item of a place, `place_of` the place of an item.
    """

    first: Array
    items: Array
    values: Array
    item_of: Array
    place_of: Array
    user_of: Array


def renamed(x: sp.csr_array, values: Array) -> Near:
    """X in the order of its labels, or as it is, if it is small.

    Its entries are `values`, or all 1 if that is empty.
    """
    if x.nnz < SMALL:
        users, items = (np.arange(n, dtype=np.int32) for n in x.shape)
        return Near(x.indptr, x.indices, values, items, items, users)
    logger.info("putting users and items that belong together near each other")
    users, items = order_together(x)
    place_of = np.empty_like(items)
    place_of[items] = np.arange(len(items), dtype=np.int32)
    first = np.zeros_like(x.indptr)
    np.cumsum(np.diff(x.indptr)[users], out=first[1:])
    near = Near(first, np.empty_like(x.indices), np.empty_like(values), items, place_of, users)

    def rows(start: int, stop: int) -> None:
        rename_rows((unsigned(x.indptr), x.indices, values), near, start, stop)

    over_blocks(rows, len(users), ROWS)
    return near


@compiled
def rename_rows(x: Csr, near: Near, start: int, stop: int) -> None:
    """Write rows start to stop - 1 of X at their places, each in the order that it has in X."""
    first, items, values = x
    for row in range(start, stop):
        to = near.first[row]
        user = near.user_of[row]
        for entry in range(first[user], first[user + 1]):
            near.items[to] = near.place_of[items[entry]]
            if len(values):
                near.values[to] = values[entry]
            to += 1


def transposed(first: Array, items: Array, values: Array, n_items: int) -> Csr:
    """CSR arrays of X' with unsigned indices; its data are empty if `values` is."""
    data = values if values.size else np.ones(len(items), np.int8)
    xt = sp.csr_array((data, items, first), shape=(len(first) - 1, n_items)).tocsc()
    return unsigned(xt.indptr), unsigned(xt.indices), xt.data if values.size else values


def order_together(x: sp.csr_array) -> tuple[Array, Array]:
    """The users and the items of X in an order in which those that belong together are near."""
    first, users, _ = transposed(x.indptr, x.indices, np.empty(0, np.float32), x.shape[1])
    popular = np.argsort(-np.diff(first.view(f"i{first.itemsize}")), kind="stable")
    of_items = np.empty(x.shape[1], np.uint32)
    of_items[popular] = np.arange(x.shape[1], dtype=np.uint32)  # of equals the most popular wins
    of_users = np.zeros(x.shape[0], np.uint32)
    rows, items = unsigned(x.indptr), unsigned(x.indices)
    for _ in range(ROUNDS):
        take(rows, items, of_items, of_users)
        take(first, users, of_users, of_items)
    in_order = popular[np.argsort(of_items[popular], kind="stable")]
    return np.argsort(of_users, kind="stable").astype(np.int32), in_order.astype(np.int32)


def take(first: Array, members: Array, of_members: Array, labels: Array) -> None:
    """Give each row the most frequent label of its members, of equally frequent ones the lowest."""

    def rows(start: int, stop: int) -> None:
        take_labels(first, members, of_members, labels, start, stop)

    over_blocks(rows, len(labels), ROWS)


@compiled
def take_labels(
    first: Array, members: Array, of_members: Array, labels: Array, start: int, stop: int
) -> None:
    """Give rows start to stop - 1 the most frequent label of their first members.

    A row without members keeps its own. Labels are counted in a table with open addressing.
    """
    keys, counts = np.full(TABLE, FREE), np.zeros(TABLE, np.int32)
    places = np.empty(LOOKED_AT, np.int64)
    step, shift = np.uint32(0x9E3779B1), np.uint32(8)
    mask = np.uint32(TABLE - 1)
    for row in range(start, stop):
        used, most = 0, 0
        end = min(np.int64(first[row + 1]), np.int64(first[row]) + LOOKED_AT)
        for entry in range(np.int64(first[row]), end):
            label = of_members[members[entry]]
            place = (np.uint32(label * step) >> shift) & mask
            while keys[place] != label and keys[place] != FREE:
                place = np.uint32(place + np.uint32(1)) & mask
            if keys[place] == FREE:
                keys[place] = label
                places[used] = place
                used += 1
            counts[place] += 1
            count = counts[place]
            if count > most or (count == most and label < labels[row]):
                most = count
                labels[row] = label
        for one in range(used):
            keys[places[one]], counts[places[one]] = FREE, 0
