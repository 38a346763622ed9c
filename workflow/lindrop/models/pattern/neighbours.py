"""Choice of the neighbours of an item: the items with the largest penalised correlation.

The score of item i as a neighbour of item j is |G_ij - s_i s_j / n| / √(H_ii H_jj), with H = G + Λ̃,
the sums s of the columns of X and the number n of users with items. One row of G at a time is
counted, over the users of j and their items, in an array with a number for every item; nothing of G
is kept. Users with very many items would take most of the time, so each counts by at most `cap` of
its items, a seeded sample, in G_ij and s_i alike. Scores are computed in float32.
"""

from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Vector
from lindrop.linalg.kernels import Array, Csr, compiled, unsigned
from lindrop.models.pattern.order import Near

BUCKETS = 1 << 11  # of scores, by their exponent and three bits of their mantissa
SHIFT = 20  # number of bits of a float32 below these
ENTRIES = 1 << 22  # of X, summed at once
LAST = np.uint32(2**32 - 1)
HALF = np.uint64(32)


class Candidates(NamedTuple):
    """Arrays by which compiled loops score the candidates of any item.

    A user's items are items[first[u]:first[u + 1]], and with `values` their entries of X, empty if
    all are 1. `mean` is s_i / n, `scale` is 1 / √H_ii, 0 for an item that nobody has, and `order`
    lists the items by falling mean × scale. Users and items have their places (`order.Near`), and
    `item_of` gives the item of a place.
    """

    first: Array
    items: Array
    values: Array
    mean: Array
    scale: Array
    order: Array
    item_of: Array


def candidates(
    near: Near, gram_diagonal: Vector, penalty: Vector, cap: int, seed: int
) -> Candidates:
    """Candidates of all items of X. `penalty` is the diagonal of Λ̃."""
    first, items, values = _capped(near, cap, seed)
    n_items = len(gram_diagonal)
    mean = column_sums(items, values, n_items) / max(np.count_nonzero(np.diff(near.first)), 1)
    regularised = np.where(gram_diagonal > 0, gram_diagonal + penalty, np.inf)
    scale = 1.0 / np.sqrt(regularised)
    mean, scale = mean.astype(np.float32), scale.astype(np.float32)
    falling = -np.abs(mean * scale)[near.place_of]
    order = near.place_of[np.argsort(falling, kind="stable")].astype(np.uint32)
    return Candidates(unsigned(first), unsigned(items), values, mean, scale, order, near.item_of)


def column_sums(items: Array, values: Array, n_items: int) -> Vector:
    """Sums of the columns of X from its items and entries, which are all 1 if `values` is empty."""
    total = np.zeros(n_items)
    for start in range(0, len(items), ENTRIES):  # NumPy would copy all items as 64-bit integers
        part = slice(start, start + ENTRIES)
        total += np.bincount(items[part], values[part] if values.size else None, n_items)
    return total


def _capped(near: Near, cap: int, seed: int) -> tuple[Array, Array, Array]:
    """CSR arrays of X with a sample of the items of each user who has more than `cap`.

    A user's sample depends on the seed and on the user's number alone.
    """
    first, items, values = near.first, near.items, near.values
    counts = np.diff(first)
    heavy = np.flatnonzero(counts > cap)
    if heavy.size == 0:
        return first, items, values
    kept = np.ones(len(items), bool)
    for row in heavy:
        start, stop, user = first[row], first[row + 1], int(near.user_of[row])
        sample = np.random.default_rng([seed, user]).permutation(stop - start)[:cap]
        kept[start:stop] = False
        kept[start + sample] = True
    capped = np.concatenate([[0], np.cumsum(np.minimum(counts, cap))]).astype(first.dtype)
    return capped, items[kept], values[kept] if values.size else values


class Counters(NamedTuple):
    """Memory of one thread, for every item: zeros between two rows of G, scores, and a list."""

    counts: Array
    scores: Array
    found: Array

    @classmethod
    def of(cls, items: int) -> "Counters":
        """Memory for this number of items; a list may be overwritten one place beyond its end."""
        return cls(
            np.zeros(items, np.float32),
            np.empty(items + 1, np.float32),
            np.empty(items + 1, np.uint32),
        )


@compiled
def choose(
    xt: Csr,
    of: Candidates,
    sums: Vector,
    memory: Counters,
    places: Array,
    columns: Array,
    neighbours: Array,
    starts: Array,
    lengths: Array,
) -> None:
    """Write the neighbours of the items at `places` to the columns with the numbers `columns`.

    `neighbours`, `starts` and `lengths` are those of `rows.Columns`. A column is filled, unless too
    few other items have users; it is empty if its item shares no user with another one. `xt` holds
    X', with empty data if all entries of X are 1, and `sums` the sums of the columns of X; in both,
    users and items are in the order of places.
    """
    first, users, entries = xt
    for number in range(len(columns)):
        j, column = places[number], columns[number]
        own, values = users[first[j] : first[j + 1]], entries
        if len(entries):
            values = entries[first[j] : first[j + 1]]
        chosen = neighbours[starts[column] : starts[column + 1]]
        lengths[column] = nearest(j, own, values, sums[j], of, memory, chosen)


@compiled
def nearest(
    j: int,
    users: Array,
    entries: Array,
    sum_of_j: float,
    of: Candidates,
    memory: Counters,
    chosen: Array,
) -> int:
    """Write the nearest neighbours of the item at place j to `chosen`; returns how many there are.

    `users` has the users of j, `entries` their entries of X (empty if all are 1), and `sum_of_j`
    their sum. There are as many neighbours as `chosen` has places, unless too few other items have
    users, and none if no item shares a user with j.
    """
    counters, scores, found = memory
    shared = 0
    for place in range(_count_row(users, entries, of, counters, found)):
        i = found[place]
        if i != j:
            found[shared] = i
            scores[shared] = abs(counters[i] - np.float32(sum_of_j) * of.mean[i]) * of.scale[i]
            shared += 1
    total = shared
    if shared > 0:
        total = _add_others(j, sum_of_j, of, counters, scores, found, shared, len(chosen))
    for place in range(shared):
        counters[found[place]] = 0
    counters[j] = 0
    return _best(scores[:total], found[:total], of.item_of, chosen)


@compiled
def _count_row(users: Array, entries: Array, of: Candidates, counters: Array, found: Array) -> int:
    """Add row j of G to `counters` and list its items in `found`; returns their number.

    An item whose counter is 0 is listed and cannot be listed twice: if entries of X cancel, its
    counter is set to a tiny number.
    """
    n = 0
    if len(entries) == 0:
        one = np.float32(1)
        for u in users:
            for place in range(of.first[u], of.first[u + 1]):
                i = of.items[place]
                counted = counters[i]
                found[n] = i
                n += counted == 0
                counters[i] = counted + one
        return n
    for e in range(len(users)):
        u = users[e]
        for place in range(of.first[u], of.first[u + 1]):
            i = of.items[place]
            counted = counters[i]
            found[n] = i
            n += counted == 0
            counted = np.float32(counted + entries[e] * of.values[place])  # may be rounded to 0
            counters[i] = counted if counted != 0 else np.float32(1e-30)
    return n


@compiled
def _add_others(
    j: int,
    sum_of_j: float,
    of: Candidates,
    counters: Array,
    scores: Array,
    found: Array,
    n: int,
    k: int,
) -> int:
    """Add to the n candidates those that share no user with j and may be among the k best.

    Their score is s_i s_j / n / √(H_ii H_jj), so they are the first ones of `order`, of which at
    most k are taken. Returns the new number of candidates.
    """
    bits = scores.view(np.uint32)
    least = _bucket(bits[:n], k)[0] if n > k else 0
    counters[j] = 1
    total = n
    for i in of.order:
        scores[total] = abs(np.float32(sum_of_j) * of.mean[i]) * of.scale[i]
        if total - n == k or of.scale[i] == 0 or bits[total] >> SHIFT < least:
            break
        if counters[i] == 0:
            found[total] = i
            total += 1
    return total


@compiled
def _bucket(bits: Array, k: int) -> tuple[int, int]:
    """Bucket of the k-th largest score, and the number of scores in higher buckets.

    Floating-point numbers that are not negative have the order of their bits.
    """
    counts = np.zeros(BUCKETS, np.int64)
    for place in range(len(bits)):
        counts[bits[place] >> SHIFT] += 1
    bucket, above = BUCKETS - 1, 0
    while above + counts[bucket] < k:
        above += counts[bucket]
        bucket -= 1
    return bucket, above


@compiled
def _best(scores: Array, found: Array, item_of: Array, chosen: Array) -> int:
    """Write the items whose places in `found` have the largest scores; returns their number.

    Of equal scores the item with the lower number is taken. Items are sorted by their numbers, so
    that sums over them do not depend on the places.
    """
    k = len(chosen)
    if len(scores) <= k:
        for place in range(len(scores)):
            chosen[place] = item_of[found[place]]
        chosen[: len(scores)].sort()
        return len(scores)
    bits = scores.view(np.uint32)
    bucket, above = _bucket(bits, k)
    same = np.empty(len(bits) + 1, np.uint32)
    taken = equal = 0
    for place in range(len(bits)):
        of_score = np.int64(bits[place] >> SHIFT)
        chosen[taken] = found[place]
        same[equal] = place
        taken += int(of_score > bucket)
        equal += int(of_score == bucket)
    for place in range(taken):
        chosen[place] = item_of[chosen[place]]
    keys = np.empty(equal, np.uint64)
    for one in range(equal):
        number = np.uint64(LAST - np.uint32(item_of[found[same[one]]]))
        keys[one] = (np.uint64(bits[same[one]]) << HALF) | number
    for key in np.partition(keys, equal - (k - above))[equal - (k - above) :]:
        chosen[taken] = LAST - np.uint32(key & np.uint64(LAST))
        taken += 1
    chosen.sort()
    return taken
