"""Conditions on arrays read from a file, without which compiled loops would leave their memory."""

from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.integer[Any]]
ENTRIES = 1 << 22  # that are compared at once: a comparison of all would be as long as they are


def within(codes: Integers, stop: int) -> bool:
    """Whether every code is at least 0 and less than `stop`."""
    return not len(codes) or (int(codes.min()) >= 0 and int(codes.max()) < stop)


def divides(indptr: Integers, entries: int) -> bool:
    """Whether a CSR indptr divides this number of entries into rows."""
    return bool(
        len(indptr) and indptr[0] == 0 and indptr[-1] == entries and (np.diff(indptr) >= 0).all()
    )


def ascending_in_rows(indices: Integers, indptr: Integers) -> bool:
    """Whether the indices of every row of a CSR matrix rise; `divides` holds for its indptr."""
    starts = np.unique(indptr[1:-1])  # where a row starts, the index may fall
    for first in range(1, len(indices), ENTRIES):
        last = min(first + ENTRIES, len(indices))
        rises = indices[first:last] > indices[first - 1 : last - 1]
        rises[starts[slice(*np.searchsorted(starts, (first, last)))] - first] = True
        if not rises.all():
            return False
    return True


def is_permutation(values: Integers) -> bool:
    """Whether the values are 0, 1, …, each once, in any order."""
    if not within(values, len(values)):
        return False
    seen = np.zeros(len(values), bool)
    seen[values] = True
    return bool(seen.all())
