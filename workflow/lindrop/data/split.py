"""Split by strong generalisation, exactly as in Liang et al. 2018 and Steck 2020.

Whole users are held out. The order of all random calls is part of the protocol (docs/protocol.md),
so the loop that draws held-out rows user by user is not vectorised.
"""

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from lindrop.base.errors import UserError
from lindrop.data.interactions import Codes, Ids, Interactions

MIN_ROWS_TO_HOLD_OUT = 5  # a user with fewer rows keeps them all as fold-in


@dataclass(frozen=True)
class Protocol:
    """Parameters of a split. `min_rating` is applied while reading, the others by `split`."""

    heldout_users: int
    min_rating: float | None = None
    min_user_interactions: int = 0
    min_item_users: int = 0
    test_fraction: float = 0.2
    seed: int = 98765

    def __post_init__(self) -> None:
        if self.heldout_users < 1 or not 0 < self.test_fraction < 1:
            raise UserError(
                f"heldout_users must be 1 or more (is {self.heldout_users}), test_fraction between "
                f"0 and 1 (is {self.test_fraction})"
            )


@dataclass(frozen=True)
class Events:
    """Rows (user, item) in the order of the published csv files."""

    uid: Codes
    sid: Codes

    def __len__(self) -> int:
        return len(self.uid)

    def __getitem__(self, keep: npt.NDArray[np.bool_]) -> "Events":
        return Events(self.uid[keep], self.sid[keep])


@dataclass(frozen=True)
class Holdout:
    """Rows of users not used in training: models see `fold_in` and must rank `held_out` high."""

    fold_in: Events
    held_out: Events


@dataclass(frozen=True)
class Counts:
    """Size of a dataset after the filters, what the filters dropped, and duplicate rows left."""

    users: int
    items: int
    interactions: int
    users_dropped: int
    items_dropped: int
    duplicate_rows: int


@dataclass(frozen=True)
class Split:
    """A split dataset. `users[uid]` and `items[sid]` are raw ids.

    Training users have the first uids, then come validation and test users.
    """

    users: Ids
    items: Ids
    protocol: Protocol
    train: Events
    validation: Holdout
    test: Holdout
    counts: Counts

    @property
    def n_train_users(self) -> int:
        """Number of training users."""
        return len(self.users) - 2 * self.protocol.heldout_users

    def user_range(self, part: str) -> range:
        """Uids of the users (rows of `matrix`) of a part: `train`, `validation/…` or `test/…`."""
        held, first = self.protocol.heldout_users, self.n_train_users
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

    def parts(self) -> dict[str, Events]:
        """Events of every part by its name in split.h5, in the order of the published csv files."""
        return {
            "train": self.train,
            "validation/fold_in": self.validation.fold_in,
            "validation/held_out": self.validation.held_out,
            "test/fold_in": self.test.fold_in,
            "test/held_out": self.test.held_out,
        }


def split(interactions: Interactions, protocol: Protocol) -> Split:
    """Filter, permute users, number items and hold out rows: docs/protocol.md, steps 2 to 8."""
    if interactions.min_rating != protocol.min_rating:
        raise UserError(
            f"the interactions were read with min_rating {interactions.min_rating}, the protocol "
            f"says {protocol.min_rating}: read them with the min_rating of the protocol"
        )
    data, items_dropped, users_dropped = _filter(interactions, protocol)
    if len(data) == 0:
        raise UserError(
            "the protocol leaves no interaction: lower min_rating, min_item_users or "
            f"min_user_interactions (read {interactions.raw.rows:,} rows, "
            f"{len(interactions):,} above the rating threshold)"
        )
    present = np.unique(data.uid)
    n_users, held = len(present), protocol.heldout_users
    if 2 * held >= n_users:
        most = (n_users - 1) // 2
        remedy = f"set heldout_users to {most:,} or less" if most else "at least 3 are needed"
        raise UserError(
            f"heldout_users is {held:,} for validation and again for test, but only {n_users:,} "
            f"users are left by the protocol: {remedy}"
        )
    # codes are ranks of raw ids, so sorted codes are the published order before the permutation
    permutation = np.random.RandomState(protocol.seed).permutation(n_users)
    uid_of = np.full(len(interactions.user_ids), -1, dtype=np.int32)
    uid_of[present[permutation]] = np.arange(n_users, dtype=np.int32)
    uid = uid_of[data.uid]
    n_train = n_users - 2 * held

    in_train = uid < n_train
    sid_of, items = _by_first_appearance(data.sid[in_train], len(interactions.item_ids))
    sid = sid_of[data.sid]
    train = Events(uid[in_train], sid[in_train])

    def hold_out(first: int) -> Holdout:
        mine = (uid >= first) & (uid < first + held) & (sid >= 0)
        by_raw_id = np.argsort(data.uid[mine], kind="stable")
        rows = Events(uid[mine][by_raw_id], sid[mine][by_raw_id])
        chosen = _draw_held_out(rows.uid, protocol)
        return Holdout(fold_in=rows[~chosen], held_out=rows[chosen])

    return Split(
        users=interactions.user_ids[present[permutation]],
        items=interactions.item_ids[items],
        protocol=protocol,
        train=train,
        validation=hold_out(n_train),
        test=hold_out(n_train + held),
        counts=Counts(
            users=n_users,
            items=len(items),
            interactions=len(data),
            users_dropped=users_dropped,
            items_dropped=items_dropped,
            duplicate_rows=count_duplicates(data, len(interactions.item_ids)),
        ),
    )


def _filter(interactions: Interactions, protocol: Protocol) -> tuple[Events, int, int]:
    """Events that pass the filters of step 2 (docs/protocol.md), items and users dropped."""
    data = Events(interactions.user, interactions.item)
    items_dropped = users_dropped = 0
    if protocol.min_item_users > 0:
        data, items_dropped = _drop_rare(data, data.sid, protocol.min_item_users)
    if protocol.min_user_interactions > 0:
        data, users_dropped = _drop_rare(data, data.uid, protocol.min_user_interactions)
    return data, items_dropped, users_dropped


def _drop_rare(data: Events, code: Codes, least: int) -> tuple[Events, int]:
    """Events whose `code` occurs at least `least` times, and the number of codes dropped."""
    count = np.bincount(code)
    return data[count[code] >= least], int(np.sum((count > 0) & (count < least)))


def _by_first_appearance(codes: Codes, n_codes: int) -> tuple[Codes, npt.NDArray[np.int64]]:
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


def count_duplicates(data: Events, n_items: int) -> int:
    """Number of rows that repeat an earlier user-item pair; such rows are kept in the split."""
    pair = data.uid.astype(np.int64) * n_items + data.sid
    pair.sort()
    return int(np.sum(pair[1:] == pair[:-1]))
