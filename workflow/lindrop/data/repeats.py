"""Rows that repeat a pair of a user and an item, as logs of events have them (docs/protocol.md).

A repeat that is held out while its pair is given to the model is masked, so that no model finds it.
"""

import numpy as np
import numpy.typing as npt

from lindrop.base.parallel import over_blocks
from lindrop.base.reporting import tell
from lindrop.data.interactions import TEST, Codes, Interactions
from lindrop.data.rows import USERS, rows_by_user
from lindrop.linalg.kernels import Array, compiled

Mask = npt.NDArray[np.bool_]

DROP, KEEP, SUM = "drop", "keep", "sum"
REPEATS = (DROP, KEEP, SUM)  # values of `protocol.repeats`
TREATED = {
    DROP: "the first row of each pair stays",
    KEEP: "they are split as separate interactions, as published splits have it",
    SUM: "a pair is one interaction that weighs as much as its rows",
}


def counted_rows(data: Interactions, repeats: str) -> Mask:
    """Rows that a protocol counts: all of them, or with `sum` the first one of each pair."""
    return first_of_pairs(data) if repeats == SUM else np.ones(len(data), bool)


def settled(data: Interactions, repeats: str) -> tuple[Interactions, int]:
    """The rows that a protocol splits, and how many were dropped as repeats."""
    if repeats != DROP or (first := first_of_pairs(data)).all():
        return data, 0
    return data.rows(first), int(np.sum(~first))


def tell_repeats(repeats: str, number: int, rows: int) -> None:
    """Tell how many rows repeat a pair, if any do, and what becomes of them."""
    if number:
        tell(
            "%s of %s rows (%.0f %%) repeat a pair of user and item: %s (protocol.repeats: %s)",
            *(f"{number:,}", f"{rows:,}", 100 * number / rows, TREATED[repeats], repeats),
        )


def tell_masked(masked: int, rows: int) -> None:
    """Warn if test interactions cannot be found, as the models are given their pairs."""
    if masked:
        tell(
            "%s of %s test interactions are also in the fold-in, where they are masked: no model "
            "can find them, and every metric is too low; set protocol.repeats to drop or sum",
            *(f"{masked:,}", f"{rows:,}"),
            warning=True,
        )


def first_of_pairs(data: Interactions) -> Mask:
    """Whether each row is the first of its pair: by time if there are times, else in the file.

    A test file (Interactions.part) has pairs of its own: those that training has as well are left
    out of the test by the split, which says how many they are.
    """
    if data.part is not None and (tested := data.part == TEST).any() and not tested.all():
        first = np.zeros(len(data), bool)
        for rows in (np.flatnonzero(~tested), np.flatnonzero(tested)):
            first[rows] = _first_of_pairs(data.rows(rows))
        return first
    return _first_of_pairs(data)


def _first_of_pairs(data: Interactions) -> Mask:
    first = np.zeros(len(data), bool)
    rows, starts = rows_by_user(data.user, 0, len(data.user_ids))
    if data.time is not None or data.part is not None:
        earliest = [by for by in (data.time, data.part) if by is not None]
        rows = np.lexsort((np.arange(len(data)), *earliest, data.user)).astype(rows.dtype)

    def block(start: int, stop: int) -> None:
        last_user = np.full(len(data.item_ids), -1, np.int32)
        _mark_first(rows, starts, data.item, last_user, first, start, stop)

    over_blocks(block, len(data.user_ids), USERS)
    return first


@compiled
def _mark_first(
    rows: Array, starts: Array, item: Codes, last_user: Array, first: Mask, start: int, stop: int
) -> None:
    """Mark the first row of each pair of users start to stop - 1; `last_user` holds -1 by item."""
    for user in range(start, stop):
        for place in range(starts[user], starts[user + 1]):
            row = rows[place]
            if last_user[item[row]] != user:
                last_user[item[row]] = user
                first[row] = True
