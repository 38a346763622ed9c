"""Small sets of interactions and their splits."""

import numpy as np
import pyarrow as pa

from lindrop.data.interactions import RawCounts, from_codes
from lindrop.data.split import Protocol, split


def interactions_of(rows):
    users, items = ([row[k] for row in rows] for k in (0, 1))
    user, item = (pa.array(ids).dictionary_encode() for ids in (users, items))
    return from_codes(
        user.indices.to_numpy(),
        user.dictionary,
        item.indices.to_numpy(),
        item.dictionary,
        None,
        RawCounts(len(rows), len(user.dictionary), len(item.dictionary)),
    )


def random_split(seed=0):
    random = np.random.default_rng(seed)
    rows = [
        (str(user), str(item))
        for user in range(80)
        for item in random.integers(0, 30, size=random.integers(1, 20))
    ]
    return split(interactions_of(rows), Protocol(20))
