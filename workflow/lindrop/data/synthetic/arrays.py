"""Small array functions of the sampler."""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

# A sort key packs a user of a block (15 bits), an order (24 bits) and an item (24 bits).
ITEM_BITS = 24
ORDER_BITS = 24


def mask(bits: int) -> int:
    """Integer whose lowest `bits` bits are 1."""
    return (1 << bits) - 1


def running_share(weight: Floats) -> Floats:
    """Cumulative sums of the weights, divided by their total."""
    total: Floats = np.cumsum(weight)
    return total / float(total[-1])


def find(cdf: Floats, value: Floats) -> Ints:
    """Index of the entry of the cumulative sum `cdf` that each value falls into."""
    return np.minimum(np.searchsorted(cdf, value, side="right"), len(cdf) - 1)


def rank_in_run(values: npt.NDArray[np.integer]) -> Ints:
    """Position (0, 1, 2, …) of each value within its run of equal values."""
    index = np.arange(len(values))
    start = np.ones(len(values), dtype=bool)
    start[1:] = values[1:] != values[:-1]
    return index - np.maximum.accumulate(np.where(start, index, 0))


def is_first(values: Ints) -> Flags:
    """Whether each value is the first of its kind in the array."""
    first = np.zeros(len(values), dtype=bool)
    first[np.unique(values, return_index=True)[1]] = True
    return first


def sorted_by_user_and(order: Ints, owner: Ints, position: Ints) -> tuple[Ints, Ints]:
    """The arrays `owner` and `position`, sorted by owner, then by `order`."""
    key = np.sort((owner << ORDER_BITS | order) << ITEM_BITS | position)
    return key >> (ORDER_BITS + ITEM_BITS), key & mask(ITEM_BITS)


def first_distinct(owner: Ints, position: Ints, order: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """The first `wanted[user]` distinct positions of each user, sorted by user and `order`."""
    key = np.sort((owner << ITEM_BITS | position) << ORDER_BITS | order)
    pair = key >> ORDER_BITS
    key = key[np.concatenate(([True], pair[1:] != pair[:-1]))]
    pair = key >> ORDER_BITS
    owner, position = sorted_by_user_and(
        key & mask(ORDER_BITS), pair >> ITEM_BITS, pair & mask(ITEM_BITS)
    )
    keep = rank_in_run(owner) < wanted[owner]
    return owner[keep], position[keep]
