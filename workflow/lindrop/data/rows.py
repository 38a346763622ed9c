"""Compiled loops over the rows of a dataset, so that a split of very many rows copies few of them.

Tables are indexed by the codes of users and of items. In a table of new numbers, -1 stands for a
user or an item that is left out.
"""

import numpy as np

from lindrop.base.parallel import map_blocks
from lindrop.linalg.kernels import Array, compiled

USERS = 1 << 14  # users whose rows a thread sorts at once


def counted(codes: Array, n_codes: int) -> Array:
    """Number of rows of each code; np.bincount would first copy all codes as int64."""
    counts = np.zeros(n_codes, np.int64)
    add_counts(codes, counts)
    return counts


@compiled
def add_counts(codes: Array, counts: Array) -> None:
    """Count the rows of each code."""
    for code in codes:
        counts[code] += 1


@compiled
def add_counts_of_kept(codes: Array, other: Array, kept: Array, counts: Array) -> None:
    """Count the rows of each code whose other code is kept."""
    for row in range(len(codes)):
        counts[codes[row]] += kept[other[row]]


@compiled
def number_items(
    user: Array, item: Array, uid_of: Array, kept: Array, n_train: int, sid_of: Array, items: Array
) -> tuple[int, int]:
    """Number the kept items of training users, whose uid is below `n_train`, as they first appear.

    The numbers go to `sid_of`, which holds -1 everywhere, and the items to `items`. Returns how
    many items and how many rows of training users there are.
    """
    found, rows = 0, 0
    for row in range(len(user)):
        uid, code = uid_of[user[row]], item[row]
        if 0 <= uid < n_train and kept[code]:
            rows += 1
            if sid_of[code] < 0:
                sid_of[code] = found
                items[found] = code
                found += 1
    return found, rows


@compiled
def count_others(user: Array, item: Array, uid_of: Array, sid_of: Array, n_train: int) -> int:
    """Number of rows of users whose uid is `n_train` or more, with items that have a number."""
    rows = 0
    for row in range(len(user)):
        if uid_of[user[row]] >= n_train and sid_of[item[row]] >= 0:
            rows += 1
    return rows


@compiled
def divide(
    user: Array,
    item: Array,
    uid_of: Array,
    sid_of: Array,
    n_train: int,
    uid: Array,
    sid: Array,
    others: Array,
) -> None:
    """Write uid and sid of the rows of training users, and the numbers of all others' rows."""
    trained, other = 0, 0
    for row in range(len(user)):
        new, number = uid_of[user[row]], sid_of[item[row]]
        if new < 0 or number < 0:
            continue
        if new < n_train:
            uid[trained], sid[trained] = new, number
            trained += 1
        else:
            others[other] = row
            other += 1


def rows_by_user(uid: Array, first: int, n_users: int) -> tuple[Array, Array]:
    """Row numbers of each user, ascending, one user after the other, and where each one starts.

    The users are first, first + 1, …; the second array has one more entry than there are users.
    """
    starts = _starts(counted(uid - first if first else uid, n_users))
    rows = np.empty(len(uid), np.int32)
    _place_rows(uid, first, starts[:-1].copy(), rows)
    return rows, starts


def _starts(counts: Array) -> Array:
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


@compiled
def _place_rows(uid: Array, first: int, place: Array, rows: Array) -> None:
    for row in range(len(uid)):
        user = uid[row] - first
        rows[place[user]] = row
        place[user] += 1


def duplicates(user: Array, item: Array, uid_of: Array, kept: Array, counts: Array) -> int:
    """Number of rows of kept users and items that repeat an earlier pair of user and item.

    `counts` holds the number of these rows by uid.
    """
    starts = _starts(counts)
    items = np.empty(int(starts[-1]), np.int32)
    _place_items(user, item, uid_of, kept, starts[:-1].copy(), items)
    return sum(map_blocks(lambda a, b: int(_repeats(items, starts, a, b)), len(counts), USERS))


@compiled
def _place_items(
    user: Array, item: Array, uid_of: Array, kept: Array, place: Array, items: Array
) -> None:
    for row in range(len(user)):
        uid = uid_of[user[row]]
        if uid >= 0 and kept[item[row]]:
            items[place[uid]] = item[row]
            place[uid] += 1


@compiled
def _repeats(items: Array, starts: Array, first: int, last: int) -> int:
    """Number of repeated items of users first to last - 1, whose items are sorted in place."""
    found = 0
    for user in range(first, last):
        mine = items[starts[user] : starts[user + 1]]
        mine.sort()
        for place in range(1, len(mine)):
            found += mine[place] == mine[place - 1]
    return found
