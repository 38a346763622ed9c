"""Split by strong generalisation, exactly as in Liang et al. 2018 and Steck 2020.

Whole users are held out. The order of all random calls is part of the protocol (docs/protocol.md),
so the loop that draws held-out rows user by user is not vectorised. The module `weak` makes the
splits in which training users are tested as well.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from lindrop.base.errors import UserError
from lindrop.base.reporting import logger
from lindrop.base.times import time_of_date
from lindrop.data.interactions import Codes, Ids, Interactions
from lindrop.data.repeats import (
    DROP,
    KEEP,
    REPEATS,
    SUM,
    counted_rows,
    first_of_pairs,
    settled,
    tell_masked,
    tell_repeats,
)
from lindrop.data.rows import (
    add_counts_of_kept,
    count_others,
    counted,
    divide,
    duplicates,
    number_items,
)

MIN_ROWS_TO_HOLD_OUT = 5  # a user with fewer rows keeps them all as fold-in


@dataclass(frozen=True)
class Protocol:
    """Parameters of a split. `min_rating` is applied while reading, the others by `split`.

    `repeats` is `keep`, as published, or `drop` or `sum`, for logs in which pairs are repeated.
    """

    heldout_users: int
    min_rating: float | None = None
    min_user_interactions: int = 0
    min_item_users: int = 0
    test_fraction: float = 0.2
    seed: int = 98765
    repeats: str = KEEP

    def __post_init__(self) -> None:
        _require_known(self.repeats)
        if self.heldout_users < 1 or not 0 < self.test_fraction < 1:
            raise UserError(
                f"heldout_users must be 1 or more (is {self.heldout_users}), test_fraction between "
                f"0 and 1 (is {self.test_fraction})"
            )


@dataclass(frozen=True)
class WeakProtocol:
    """Parameters that the splits with test users among the training users share."""

    heldout_users: ClassVar[None] = None
    min_rating: float | None = None
    min_user_interactions: int = 0
    min_item_users: int = 0
    repeats: str = KEEP

    def __post_init__(self) -> None:
        _require_known(self.repeats)


@dataclass(frozen=True)
class ByTime(WeakProtocol):
    """Split by time: rows before `cut` train, the others test.

    `cut` is a date, a time, or the fraction of the rows that train. `validation_fraction` is the
    share of the training rows that validate, `test_fraction` that of a new user's rows that test.
    """

    cut: float | str = 0.8
    validation_fraction: float = 0.1
    test_fraction: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_share("validation_fraction", self.validation_fraction)
        _require_share("test_fraction", self.test_fraction)
        if isinstance(self.cut, str):
            time_of_date(self.cut)
        elif not 0 < self.cut < math.inf:
            raise UserError(f"cut must be a date, or a finite number above 0 (is {self.cut})")


@dataclass(frozen=True)
class LeaveLast(WeakProtocol):
    """Split that tests each user's last rows, `last` in number, and validates those before them."""

    last: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.last >= 1 and self.last % 1 == 0):
            raise UserError(f"last must be a whole number of 1 or more (is {self.last})")


@dataclass(frozen=True)
class Given(WeakProtocol):
    """Split that is given as files; where no file validates, a share of each user's rows does."""

    validation_fraction: float = 0.1
    seed: int = 98765

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_share("validation_fraction", self.validation_fraction)


def _require_share(name: str, value: float) -> None:
    """Raise UserError unless a setting is a share between 0 and 1."""
    if not 0 < value < 1:
        raise UserError(f"{name} must be between 0 and 1 (is {value})")


def _require_known(repeats: str) -> None:
    """Raise UserError unless this is a way to treat repeats."""
    if repeats not in REPEATS:
        raise UserError(f"repeats must be one of {', '.join(REPEATS)} (is {repeats})")


AnyProtocol = Protocol | WeakProtocol
WEAK: dict[str, type[WeakProtocol]] = {"time": ByTime, "leave_last": LeaveLast, "given": Given}


def protocol_of(settings: Mapping[str, Any]) -> AnyProtocol:
    """The protocol of a configuration or a file; without the key `split`, the published one."""
    rest = {key: value for key, value in settings.items() if key != "split"}
    made: AnyProtocol = WEAK.get(settings.get("split", "users"), Protocol)(**rest)
    return made


def settings_of(protocol: AnyProtocol) -> dict[str, Any]:
    """Settings from which `protocol_of` makes the protocol again; those of the published one alone
    are as they were published.
    """
    named = {name: kind for name, kind in WEAK.items() if type(protocol) is kind}
    settings = asdict(protocol)
    if settings["repeats"] == KEEP:
        del settings["repeats"]
    return settings | ({"split": next(iter(named))} if named else {})


@dataclass(frozen=True)
class Events:
    """Rows (user, item) in the order of the published csv files."""

    uid: Codes
    sid: Codes

    def __len__(self) -> int:
        return len(self.uid)

    def __getitem__(self, keep: npt.NDArray[np.bool_]) -> "Events":
        return Events(self.uid[keep], self.sid[keep])

    @classmethod
    def joined(cls, parts: Sequence["Events"] = ()) -> "Events":
        """Rows of several parts one after the other; none without a part."""
        none = np.empty(0, np.int32)
        uids, sids = ([none, *(getattr(part, name) for part in parts)] for name in ("uid", "sid"))
        return cls(np.concatenate(uids), np.concatenate(sids))


@dataclass(frozen=True)
class Holdout:
    """Rows of users not used in training: models see `fold_in` and must rank `held_out` high."""

    fold_in: Events
    held_out: Events


@dataclass(frozen=True)
class Counts:
    """Size of a dataset after the filters, what the filters dropped, and duplicate rows left.

    `repeats_dropped` counts the rows that were dropped as repeats, before the filters, and
    `test_masked` the test rows whose pair is in the fold-in as well, where it is masked.
    """

    users: int
    items: int
    interactions: int
    users_dropped: int
    items_dropped: int
    duplicate_rows: int
    repeats_dropped: int = 0
    test_masked: int = 0


@dataclass(frozen=True)
class Split:
    """A split dataset. `users[uid]` and `items[sid]` are raw ids.

    Training users have the first uids, then come validation and test users. In a weak split, the
    users of training and validation are the same and among those of test: `validation.fold_in` is
    what tuning fits to, `train` what the tested model is fitted to, and `test.fold_in` adds to it
    what is given of users without training interactions. `beside` has the rows that are in no part,
    as they repeat a pair that is tested: only what users have altogether counts them.
    """

    users: Ids
    items: Ids
    protocol: AnyProtocol
    train: Events
    validation: Holdout
    test: Holdout
    counts: Counts
    beside: Events = field(default_factory=Events.joined)

    @property
    def n_train_users(self) -> int:
        """Number of training users."""
        if isinstance(self.protocol, Protocol):
            return len(self.users) - 2 * self.protocol.heldout_users
        return int(self.train.uid.max()) + 1

    def user_range(self, part: str) -> range:
        """Uids of the users (rows of `matrix`) of a part: `train`, `validation/…` or `test/…`."""
        held, first = self.protocol.heldout_users, self.n_train_users
        if held is None:
            return range(len(self.users) if part.startswith("test/") else first)
        return {
            "train": range(first),
            "validation": range(first, first + held),
            "test": range(first + held, first + 2 * held),
        }[part.partition("/")[0]]

    def matrix(self, part: str) -> sp.csr_array:
        """X of one part (`train`, `validation/fold_in`, …) as float32; duplicate rows add up."""
        if part not in self.parts():
            raise UserError(f"no part {part!r}; the parts are {', '.join(self.parts())}")
        events, rows = self.parts()[part], self.user_range(part)
        ones = np.ones(len(events), dtype=np.float32)
        shape = (len(rows), len(self.items))
        return sp.coo_array((ones, (events.uid - rows.start, events.sid)), shape=shape).tocsr()

    def disjoint(self) -> list[Events]:
        """Events of the parts without those that a weak split has in two of them."""
        if isinstance(self.protocol, Protocol):
            return [*self.parts().values()]
        given = self.test.fold_in
        return [self.train, given[given.uid >= self.n_train_users], self.test.held_out]

    def parts(self) -> dict[str, Events]:
        """Events of every part by its name in split.h5, in the order of the published csv files."""
        return {
            "train": self.train,
            "validation/fold_in": self.validation.fold_in,
            "validation/held_out": self.validation.held_out,
            "test/fold_in": self.test.fold_in,
            "test/held_out": self.test.held_out,
        }


def split(interactions: Interactions, protocol: AnyProtocol) -> Split:
    """Filter, permute users, number items and hold out rows: docs/protocol.md, steps 2 to 8."""
    if isinstance(protocol, WeakProtocol):
        from lindrop.data.weak import weak_split

        return weak_split(interactions, protocol)
    if interactions.min_rating != protocol.min_rating:
        raise UserError(
            f"the interactions were read with min_rating {interactions.min_rating}, the protocol "
            f"says {protocol.min_rating}: read them with the min_rating of the protocol"
        )
    read, repeats = len(interactions), protocol.repeats
    interactions, dropped = settled(interactions, repeats)
    units = counted_rows(interactions, repeats)
    user, item = interactions.user, interactions.item
    kept = _filter(interactions, protocol, units)
    present = np.flatnonzero(kept.rows)
    if not len(present):
        raise _nothing_left(interactions)
    n_users, held = len(present), protocol.heldout_users
    if 2 * held >= n_users:
        remedy = at_most_a_tenth(n_users) if n_users > 2 else "at least 3 are needed"
        raise UserError(
            f"heldout_users is {held:,} for validation and again for test, but only {n_users:,} "
            f"users are left by the protocol: {remedy}"
        )
    # codes are ranks of raw ids, so sorted codes are the published order before the permutation
    permuted = present[np.random.RandomState(protocol.seed).permutation(n_users)]
    uid_of = np.full(len(interactions.user_ids), -1, dtype=np.int32)
    uid_of[permuted] = np.arange(n_users, dtype=np.int32)
    repeated = duplicates(user, item, uid_of, kept.items, kept.rows[permuted])
    n_train = n_users - 2 * held

    sid_of = np.full(len(interactions.item_ids), -1, dtype=np.int32)
    items = np.empty(len(interactions.item_ids), dtype=np.int32)
    n_items, n_rows = number_items(user, item, uid_of, kept.items, n_train, sid_of, items)
    train = Events(np.empty(n_rows, np.int32), np.empty(n_rows, np.int32))
    others = np.empty(count_others(user, item, uid_of, sid_of, n_train), np.int64)
    divide(user, item, uid_of, sid_of, n_train, train.uid, train.sid, others)
    raw, unit = user[others], units[others]
    rest = Events(uid_of[raw], sid_of[item[others]])

    def hold_out(first: int) -> tuple[Holdout, Events]:
        mine = np.flatnonzero((rest.uid >= first) & (rest.uid < first + held))
        mine = mine[np.argsort(raw[mine], kind="stable")]
        rows, drawn = Events(rest.uid[mine], rest.sid[mine]), unit[mine]
        chosen = np.zeros(len(rows), bool)
        chosen[drawn] = _draw_held_out(rows.uid[drawn], protocol)
        taken = _among(rows, rows[chosen]) if repeats == SUM else chosen
        return Holdout(rows[~taken], rows[chosen]), rows[taken & ~chosen]

    (validation, beside), (test, more) = hold_out(n_train), hold_out(n_train + held)
    for name, part in {"validation": validation, "test": test}.items():
        if not len(part.held_out):
            logger.warning(
                "none of the %s users has an item to find: of n items, %g n are held out, rounded "
                "down, and none if n is below %d; raise heldout_users, or use split: leave_last",
                *(name, protocol.test_fraction, MIN_ROWS_TO_HOLD_OUT),
            )
    masked = int(np.sum(_among(test.held_out, test.fold_in))) if repeated else 0
    if repeats == KEEP:
        tell_repeats(repeats, repeated, int(kept.rows.sum()))
    else:
        tell_repeats(repeats, dropped or int(np.sum(~units)), read)
    tell_masked(masked, len(test.held_out))
    return Split(
        users=interactions.user_ids[permuted],
        items=interactions.item_ids[items[:n_items]],
        protocol=protocol,
        train=train,
        validation=validation,
        test=test,
        counts=Counts(
            users=n_users,
            items=n_items,
            interactions=int(kept.rows.sum()),
            users_dropped=kept.users_dropped,
            items_dropped=kept.items_dropped,
            duplicate_rows=repeated,
            repeats_dropped=dropped,
            test_masked=masked,
        ),
        beside=Events.joined([beside, more]),
    )


def at_most_a_tenth(users: int) -> str:
    """Advice for `heldout_users` that leaves most of the users for training."""
    return f"set heldout_users to a tenth of the users at most, {max(users // 10, 1):,}"


@dataclass(frozen=True)
class Kept:
    """What the filters of step 2 keep (docs/protocol.md), by code, without a copy of the rows.

    `items` says of each item whether it is kept, `rows` how many rows of each user are kept.
    """

    items: npt.NDArray[np.bool_]
    rows: npt.NDArray[np.int64]
    items_dropped: int
    users_dropped: int


def all_kept(
    interactions: Interactions, protocol: AnyProtocol, tell: bool = False
) -> tuple[Ids, Ids, sp.csr_array]:
    """Raw ids of the users and of the items that the filters keep, and all of their interactions.

    The matrix is that of `Split.matrix`, without a part for validation or testing. With `tell`,
    rows that repeat a pair are told, as `split` does.
    """
    data, kept = _kept_of(interactions, protocol)
    if not kept.rows.any():
        raise _nothing_left(interactions)
    if tell:
        read = len(interactions)
        repeated = read - len(data) or int(np.sum(~first_of_pairs(data)))
        tell_repeats(protocol.repeats, repeated, read)
    users, of_user = np.flatnonzero(kept.rows), np.full(len(kept.rows), -1, np.int32)
    of_user[users] = np.arange(len(users), dtype=np.int32)
    rows = kept.items[data.item] & (of_user[data.user] >= 0)
    user, item = of_user[data.user[rows]], data.item[rows]
    of_item, items = by_first_appearance(item, len(data.item_ids))
    ones, shape = np.ones(len(user), np.float32), (len(users), len(items))
    x = sp.coo_array((ones, (user, of_item[item])), shape=shape).tocsr()
    if protocol.repeats == DROP:  # a given split may have a pair in training and in the test file
        x.data[:] = 1
    return data.user_ids[users], data.item_ids[items], x


def users_left(interactions: Interactions, protocol: AnyProtocol) -> int:
    """Number of users whom the filters keep."""
    return int(np.count_nonzero(_kept_of(interactions, protocol)[1].rows))


def _nothing_left(interactions: Interactions) -> UserError:
    return UserError(
        "the protocol leaves no interaction: lower min_rating, min_item_users or "
        f"min_user_interactions (read {interactions.raw.rows:,} rows, "
        f"{len(interactions):,} above the rating threshold)"
    )


def _kept_of(interactions: Interactions, protocol: AnyProtocol) -> tuple[Interactions, Kept]:
    """The rows that a protocol splits, and what its filters keep of them."""
    data, _ = settled(interactions, protocol.repeats)
    return data, _filter(data, protocol, counted_rows(data, protocol.repeats))


def _filter(
    interactions: Interactions, protocol: AnyProtocol, units: npt.NDArray[np.bool_]
) -> Kept:
    """What the filters of step 2 keep (docs/protocol.md): of items first, then of users.

    They count the rows `units`; the result has the number of all rows.
    """
    user, item = interactions.user, interactions.item
    every = units.all()
    counted_user, counted_item = (user, item) if every else (user[units], item[units])
    n_users, n_items = len(interactions.user_ids), len(interactions.item_ids)
    items, items_dropped = np.ones(n_items, bool), 0
    if protocol.min_item_users > 0:
        items, items_dropped = _enough(counted(counted_item, n_items), protocol.min_item_users)
    rows = np.zeros(n_users, np.int64)
    add_counts_of_kept(counted_user, counted_item, items, rows)
    users, users_dropped = rows > 0, 0
    if protocol.min_user_interactions > 0:
        users, users_dropped = _enough(rows, protocol.min_user_interactions)
    if not every:
        rows[:] = 0
        add_counts_of_kept(user, item, items, rows)
    rows[~users] = 0
    return Kept(items, rows, items_dropped, users_dropped)


def _enough(count: npt.NDArray[np.int64], least: int) -> tuple[npt.NDArray[np.bool_], int]:
    """Which codes occur at least `least` times, and the number of those that occur less often."""
    return count >= least, int(np.sum((count > 0) & (count < least)))


def by_first_appearance(codes: Codes, n_codes: int) -> tuple[Codes, npt.NDArray[np.int64]]:
    """Number of each code in the order of first appearance (-1: never), and codes in that order."""
    first = np.full(n_codes, len(codes), dtype=np.int64)
    # reversed assignment: the earliest position is written last and stays
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    order = np.argsort(first, kind="stable")[: int(np.sum(first < len(codes)))]
    number = np.full(n_codes, -1, dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    return number, order


def _draw_held_out(uid: Codes, protocol: Protocol) -> npt.NDArray[np.bool_]:
    """Which rows are held out (docs/protocol.md, step 7); rows of a user are consecutive in `uid`.

    `choice(n, size, replace=False)` of a RandomState equals `permutation(n)[:size]`, which consumes
    a varying number of random words, so users must be processed one after another.
    """
    chosen = np.zeros(len(uid), dtype=bool)
    random = np.random.RandomState(protocol.seed)
    ends = np.flatnonzero(uid[1:] != uid[:-1]) + 1
    for start, stop in itertools.pairwise([0, *ends.tolist(), len(uid)]):
        rows = stop - start
        if rows >= MIN_ROWS_TO_HOLD_OUT:
            size = int(protocol.test_fraction * rows)
            chosen[start + random.permutation(rows)[:size]] = True
    return chosen


def _among(rows: Events, others: Events) -> npt.NDArray[np.bool_]:
    """Whether the pair of each row is also one of the others."""
    pairs, known = (each.uid.astype(np.int64) << 32 | each.sid for each in (rows, others))
    return np.isin(pairs, known)


def count_duplicates(data: Events, n_items: int) -> int:
    """Number of rows that repeat an earlier user-item pair; such rows are kept in the split."""
    n_users = int(data.uid.max()) + 1 if len(data) else 0
    every = np.arange(n_users, dtype=np.int32), np.ones(n_items, bool)
    return duplicates(data.uid, data.sid, *every, counted(data.uid, n_users))
