"""Splits in which the users of training are tested as well (weak generalisation).

A user's training items are the fold-in, and later or given items are held out: the training items
are masked, all others ranked (docs/protocol.md).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from lindrop.base.errors import UserError
from lindrop.base.reporting import logger
from lindrop.base.times import time_of_date
from lindrop.data.interactions import TEST, TRAIN, VALIDATION, Codes, Interactions
from lindrop.data.repeats import DROP, counted_rows, first_of_pairs, settled, tell_repeats
from lindrop.data.split import (
    MIN_ROWS_TO_HOLD_OUT,
    ByTime,
    Counts,
    Events,
    Given,
    Holdout,
    LeaveLast,
    Split,
    WeakProtocol,
    by_first_appearance,
    count_duplicates,
)

Rows = npt.NDArray[np.int64]  # numbers of rows of the interactions, ascending
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Roles:
    """What each row is for: `tuned` and `validated` rows train the tested model together.

    `history` are given rows of users without training rows, `tested` rows are to be found.
    """

    tuned: Mask
    validated: Mask
    history: Mask
    tested: Mask


def weak_split(interactions: Interactions, protocol: WeakProtocol) -> Split:
    """Split by time, by each user's last rows or by files (docs/protocol.md)."""
    if interactions.min_rating != protocol.min_rating:
        raise UserError(
            f"the interactions were read with min_rating {interactions.min_rating}, the protocol "
            f"says {protocol.min_rating}: read them with the min_rating of the protocol"
        )
    data, repeats_dropped = settled(interactions, protocol.repeats)
    data, items_dropped = _without_rare(data, protocol, "item", protocol.min_item_users)
    data, users_dropped = _without_rare(data, protocol, "user", protocol.min_user_interactions)
    if len(data) == 0:
        raise UserError("the protocol leaves no interaction: lower its filters")
    roles = ROLES[type(protocol)](data, protocol)
    split = _assembled(data, protocol, roles, items_dropped, users_dropped)
    if protocol.repeats == DROP:
        tell_repeats(DROP, repeats_dropped, len(interactions))
    else:
        tell_repeats(protocol.repeats, int(np.sum(~first_of_pairs(data))), len(data))
    return replace(split, counts=replace(split.counts, repeats_dropped=repeats_dropped))


def by_time(data: Interactions, protocol: WeakProtocol) -> Roles:
    """Rows before the cut train; rows from then on test, those of new users after their first ones.

    Validation has the last share of the rows before the cut.
    """
    assert isinstance(protocol, ByTime)
    if data.time is None:
        raise UserError("the split by time needs the times of the interactions")
    cut = _cut(data.time, protocol.cut)
    before = data.time < cut
    if before.all() or not before.any():
        first, last = (_day(time) for time in (data.time.min(), data.time.max()))
        where = "after" if before.all() else "before"
        raise UserError(
            f"cut {protocol.cut}: no interaction is {where} it; the times go from {first} to {last}"
        )
    validated = before & (data.time >= _after(data.time[before], 1 - protocol.validation_fraction))
    if not (before & ~validated).any():
        raise UserError(
            "all interactions before the cut would be for validation, as they are few or of one "
            "time: lower validation_fraction or change the cut"
        )
    known_users, known_items = (_has(codes, before) for codes in (data.user, data.item))
    new = ~before & ~known_users & known_items
    units = counted_rows(data, protocol.repeats)
    history = _first_rows(data, units, new, protocol.test_fraction)
    return Roles(before & ~validated, validated, history, ~before & ~history)


def leave_last(data: Interactions, protocol: WeakProtocol) -> Roles:
    """The last rows of each user test, those before them validate, all others train."""
    assert isinstance(protocol, LeaveLast)
    if data.time is None:
        logger.warning("there are no times: the order of the file says which rows are the last")
    units = counted_rows(data, protocol.repeats)
    last, n = protocol.last, np.bincount(data.user[units])[data.user]
    from_end = n - 1 - _place(data, units)
    tested = (from_end < last) & (n > last)
    validated = ~tested & (from_end < 2 * last) & (n > 2 * last)
    return Roles(~tested & ~validated, validated, np.zeros_like(tested), tested)


def given(data: Interactions, protocol: WeakProtocol) -> Roles:
    """Rows by their files; without a file for it, validation gets a random share of each user's."""
    assert isinstance(protocol, Given)
    if data.part is None:
        raise UserError("the split by files needs to know the file of each row: use `joined`")
    train, validated = data.part == TRAIN, data.part == VALIDATION
    if not validated.any():
        rows = np.flatnonzero(train & counted_rows(data, protocol.repeats))
        draws = np.random.RandomState(protocol.seed).random_sample(len(rows))
        order = np.lexsort((draws, data.user[rows]))
        user = data.user[rows][order]
        n = np.bincount(user)[user]
        size = np.maximum((protocol.validation_fraction * n).astype(np.int64), 1) * (n > 1)
        validated[rows[order]] = _place_in_groups(user) < size
        if len(rows) < train.sum():  # the repeats of a pair go where it goes
            validated = train & _among(_pairs(data), validated)
    return Roles(train & ~validated, validated, np.zeros_like(train), data.part == TEST)


ROLES: dict[type[WeakProtocol], Callable[[Interactions, WeakProtocol], Roles]] = {
    ByTime: by_time,
    LeaveLast: leave_last,
    Given: given,
}


def _without_rare(
    data: Interactions, protocol: WeakProtocol, name: str, least: int
) -> tuple[Interactions, int]:
    """Rows whose user or item has at least `least` rows, and the number of users or items dropped.

    These are the filters of the published protocol, step 2 (docs/protocol.md).
    """
    if not least:
        return data, 0
    codes = data.columns()[name]
    count = np.bincount(codes[counted_rows(data, protocol.repeats)])
    kept = np.flatnonzero(count[codes] >= least)
    return data.rows(kept), int(np.sum((count > 0) & (count < least)))


def _assembled(
    data: Interactions,
    protocol: WeakProtocol,
    roles: Roles,
    items_dropped: int,
    users_dropped: int,
) -> Split:
    """The split of rows with these roles, without what cannot be found or judged."""
    train, history = roles.tuned | roles.validated, roles.history
    known = train | history
    n_items = len(data.item_ids)
    tested = _judged(data, roles.tested, train, known, "test")
    if not tested.any():
        raise UserError(
            "no test interaction is left: the items and users of the test set must be among those "
            "of training, and not the same pairs"
        )
    validated = _judged(data, roles.validated, roles.tuned, roles.tuned, "validation")
    if roles.validated.any() and not validated.any():
        logger.warning("no validation interaction is left: models cannot be tuned")

    users = _users(data, train, history)
    uid_of = np.full(len(data.user_ids), -1, np.int32)
    uid_of[users] = np.arange(len(users), dtype=np.int32)
    sid_of, items = by_first_appearance(data.item[train], n_items)

    def events(rows: Mask) -> Events:
        return Events(uid_of[data.user[rows]], sid_of[data.item[rows]])

    without = len(users) - len(np.unique(data.user[tested]))
    if without:
        logger.warning("%d of %d users have no test item and are not counted", without, len(users))
    kept = known | tested
    # under `drop`, a repeat is left only where a given test file has a pair of training
    more = ~kept & (protocol.repeats != DROP)
    return Split(
        users=data.user_ids[users],
        items=data.item_ids[items],
        protocol=protocol,
        train=events(train),
        validation=Holdout(events(roles.tuned), events(validated)),
        test=Holdout(events(known), events(tested)),
        counts=Counts(
            users=len(users),
            items=len(items),
            interactions=int(kept.sum()),
            users_dropped=users_dropped,
            items_dropped=items_dropped,
            duplicate_rows=count_duplicates(events(kept), n_items),
        ),
        beside=events(more & (uid_of[data.user] >= 0) & (sid_of[data.item] >= 0)),
    )


def _judged(data: Interactions, rows: Mask, train: Mask, known: Mask, part: str) -> Mask:
    """Those of these rows that a model can find; the log says why the others are left out.

    The model is fitted to the rows `train` and is given the rows `known`.
    """
    pair, kept = _pairs(data), rows.copy()
    for what, unknown in (
        ("of items without training interactions", ~_has(data.item, train)),
        ("of users without any history", ~_has(data.user, known)),
        ("that repeat an item of the user's history, which is masked", _among(pair, known)),
        (f"that repeat another {part} interaction", ~_firsts(pair, rows)),
    ):
        if number := int(np.sum(kept & unknown)):
            # what does not validate still trains the tested model
            say = logger.warning if part == "test" else logger.info
            say("%d %s interactions %s are left out", number, part, what)
        kept &= ~unknown
    return kept


def _pairs(data: Interactions) -> Rows:
    """A number of each row's pair of user and item."""
    numbers: Rows = data.user.astype(np.int64) * len(data.item_ids) + data.item
    return numbers


def _users(data: Interactions, train: Mask, history: Mask) -> Rows:
    """Codes of the users by ascending raw id, those with training rows first."""
    known = np.unique(data.user[train])
    others = np.setdiff1d(np.unique(data.user[history]), known)
    return np.concatenate([known, others])


def _has(codes: Codes, rows: Mask) -> Mask:
    """For each row, whether its code occurs in any of these rows."""
    present = np.zeros(int(codes.max()) + 1, bool)
    present[codes[rows]] = True
    return present[codes]


def _among(pair: Rows, rows: Mask) -> Mask:
    """For each row, whether its pair of user and item occurs in any of these rows."""
    return np.isin(pair, pair[rows])


def _firsts(pair: Rows, rows: Mask) -> Mask:
    """For each of these rows, whether it is the first one with its pair of user and item."""
    first = np.zeros(len(pair), bool)
    chosen = np.flatnonzero(rows)
    first[chosen[np.unique(pair[rows], return_index=True)[1]]] = True
    return first


def _place(data: Interactions, units: Mask) -> Rows:
    """Place of each row among its user's `units` by time, or by the file if there is none.

    Any other row repeats an earlier one, and has the place of the unit before it.
    """
    by = () if data.time is None else (data.time,)
    order = np.lexsort((np.arange(len(data)), *by, data.user))
    units_until, in_group = np.cumsum(units[order]), _place_in_groups(data.user[order])
    # a user's first row is a unit: all those before it are other users'
    before = (units_until - 1)[np.arange(len(data)) - in_group]
    place = np.empty(len(data), np.int64)
    place[order] = units_until - 1 - before
    return place


def _place_in_groups(codes: Codes) -> Rows:
    """Place of each entry, from 0, among its equals, which stand together."""
    starts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
    lengths = np.diff([*starts, len(codes)])
    return np.arange(len(codes)) - np.repeat(starts, lengths)


def _first_rows(data: Interactions, units: Mask, rows: Mask, fraction: float) -> Mask:
    """Rows of new users that are given to the models: all but the last `fraction` of each user's.

    A user with fewer than MIN_ROWS_TO_HOLD_OUT rows keeps them all.
    """
    chosen = np.flatnonzero(rows)
    part, units = data.rows(chosen), units[chosen]
    n = np.bincount(part.user[units])[part.user] if len(part) else np.zeros(0, np.int64)
    held = np.where(n < MIN_ROWS_TO_HOLD_OUT, 0, (fraction * n).astype(np.int64))
    history = np.zeros(len(data), bool)
    if len(part):
        history[chosen[_place(part, units) < n - held]] = True
    return history


def _cut(times: npt.NDArray[np.float64], cut: float | str) -> float:
    """The time of a cut: of a date, of a time itself, or after a fraction of the rows."""
    if isinstance(cut, str):
        return time_of_date(cut)
    if cut >= 1:
        return float(cut)
    return _after(times, cut)


def _after(times: npt.NDArray[np.float64], share: float) -> float:
    """The time before which this share of the rows is, at most the last time."""
    place = min(int(share * len(times)), len(times) - 1)
    return float(np.partition(times, place)[place])


def _day(time: float) -> str:
    """A time with its date if it is one of the years from 1970 on."""
    if 0 < time < 1e11:
        return f"{time:.0f} ({datetime.fromtimestamp(time, UTC):%Y-%m-%d})"
    return f"{time:g}"
