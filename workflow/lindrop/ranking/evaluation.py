"""Evaluate the rankings of held-out users, as published (docs/protocol.md)."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from lindrop.base.errors import Unsolvable, UserError
from lindrop.base.parallel import over_blocks
from lindrop.base.reporting import logger
from lindrop.linalg.interactions import interactions
from lindrop.linalg.kernels import Array, gains_of_ranks, top_k
from lindrop.linalg.sparse_ranking import gains_of_lists
from lindrop.ranking.metrics import DEFAULT, Metric, metric

if TYPE_CHECKING:
    import pandas as pd

BLOCK_BYTES = 128 << 20  # of scores computed at once
ITEMS = ("popular", "middle", "rare")  # groups of items, each with a third of the interactions
USERS_BY = ("least active", "middle", "most active")  # groups of users, about a third each
ROUNDED = 1e-9  # more than the rounding of a sum of shares
USERS = 32  # rows of scores that a thread ranks per task


class Model(Protocol):
    """A model that scores items from users' interactions."""

    def scores(self, x: sp.csr_array) -> Array:
        """A new array, users × items: the scores that the model predicts from each row of X."""


@runtime_checkable
class Lister(Model, Protocol):
    """A model that finds the best items of a user faster than the scores of all items."""

    def best(
        self,
        x: sp.csr_array,
        k: int,
        allowed: npt.NDArray[np.bool_] | None = None,
        keep_seen: bool = False,
    ) -> tuple[Array, Array]:
        """Item numbers and scores, users × k each, of the k best items as in `ranked`.

        The result is that of `scores`; if these hold a NaN, it is the user's first one.
        """


@dataclass(frozen=True)
class Ranking:
    """The ranking of a block of users: scores of all items, or lists of the best ones, if given."""

    scores: Array | None
    ids: npt.NDArray[np.int32] | None = None
    values: Array | None = None

    def gains(self, held_out: sp.csr_array, depth: int) -> npt.NDArray[np.float64]:
        """Users × depth: the held-out entry of the item at each rank of each user, 0 if none.

        NaN is the first one of a user whose scores have a NaN.
        """
        gains = np.empty((held_out.shape[0], depth))
        arrays = (held_out.indptr, held_out.indices, held_out.data)
        if self.scores is not None:
            rows = partial(gains_of_ranks, self.scores, arrays, gains)
        else:
            rows = partial(gains_of_lists, self.best(depth)[0], arrays, gains)
        over_blocks(rows, len(gains), USERS)
        if self.values is not None:
            gains[np.isnan(self.values[:, 0]), 0] = np.nan
        return gains

    def best(self, k: int) -> tuple[npt.NDArray[np.int32], Array]:
        """The k best items of each user, -1 where fewer are left, and their scores."""
        if self.scores is None:
            assert self.ids is not None
            assert self.values is not None
            return self.ids[:, :k], self.values[:, :k]
        ids = np.empty((len(self.scores), k), np.int32)
        values = np.empty(ids.shape, self.scores.dtype)
        over_blocks(partial(top_k, self.scores, ids, values), len(ids), USERS)
        return ids, values


@dataclass(frozen=True)
class Evaluation:
    """Metrics of a model on a set of users.

    `per_user` has a row per user and a column per metric, NaN if nothing of the user is held out.
    `overall` has the metrics that only the whole model has, such as `coverage@100`. `groups`, if it
    is asked for, has the metrics of accuracy by popularity of the items to be found and by activity
    of the users: columns of (items or users), group, metric, mean, stderr, n_users.
    """

    per_user: pd.DataFrame
    overall: Mapping[str, float]
    groups: pd.DataFrame = field(default_factory=lambda: _empty())


def evaluate(
    model: Model,
    fold_in: sp.csr_array,
    held_out: sp.csr_array,
    metrics: Sequence[str] = DEFAULT,
    shares: npt.NDArray[np.float64] | None = None,
    by_groups: bool = False,
) -> Evaluation:
    """Rank all items outside each user's fold-in and judge the ranking by the named metrics.

    An entry of `held_out` is the number of times that the item counts if it is found, usually 1.
    `shares` is the share of the training users that have each item, which `novelty` and the groups
    of items need.
    """
    import pandas as pd  # slow; a model that only recommends needs no tables

    if fold_in.shape != held_out.shape:
        raise ValueError(f"fold-in is {fold_in.shape}, held-out {held_out.shape}")
    held_out, items = interactions(held_out, "held-out"), fold_in.shape[1]
    if (held_out.data < 0).any():
        raise UserError("held-out holds negative entries; remove them")
    weighted = int((held_out.data != 1).sum())
    _warn_of_held_out(int(held_out.nnz), weighted, _masked(fold_in, held_out))
    named = {name: metric(name) for name in metrics}
    accuracy = {name: each for name, each in named.items() if each.of_accuracy}
    lists = {name: each for name, each in named.items() if not each.of_accuracy}
    if shares is None and (by_groups or any(each.of.of_lists for each in lists.values())):
        raise ValueError("novelty and groups need the shares of the training users")
    shares = None if shares is None else _shares(shares, items)
    depth = min(max((each.k for each in accuracy.values()), default=1), items)
    length = min(max((each.k for each in lists.values()), default=0), items)
    values = {name: np.full(fold_in.shape[0], np.nan) for name in named}
    group_of = popularity_groups(shares) if by_groups and shares is not None else None
    parts = [] if group_of is None else [_only(held_out, group_of == g) for g in range(len(ITEMS))]
    found = [{name: np.full(fold_in.shape[0], np.nan) for name in accuracy} for _ in parts]
    times = {each.k: np.zeros(items, np.int64) for each in lists.values() if each.of.overall}
    for users, ranking in _rankings(model, fold_in, max(depth, length)):
        gains = ranking.gains(held_out[users], depth)
        _refuse_nan(gains[:, 0], users, model)
        wanted = np.diff(held_out[users].indptr)
        _judge(accuracy, gains, wanted, values, users)
        for part, of_part in zip(parts, found, strict=True):
            gains = ranking.gains(part[users], depth)
            _judge(accuracy, gains, np.diff(part[users].indptr), of_part, users)
        if lists:
            counted = wanted > 0
            best = ranking.best(length)[0][counted]
            for k, often in times.items():
                first = best[:, :k]
                often += np.bincount(first[first >= 0], minlength=items)
            for name, each in lists.items():
                if each.of.of_lists:
                    assert shares is not None
                    values[name][users][counted] = each.of.of_lists(best, shares, each.k)
        del ranking  # or it would stay in memory beside the next block
    overall = {
        name: each.of.overall(times[each.k]) for name, each in lists.items() if each.of.overall
    }
    columns = {name: column for name, column in values.items() if name not in overall}
    per_user = pd.DataFrame(columns, pd.RangeIndex(fold_in.shape[0]))
    groups = _tables("items", ITEMS, [pd.DataFrame(part) for part in found])
    if by_groups and accuracy:
        activity = _activity_groups(np.diff(interactions(fold_in, "fold-in").indptr), held_out)
        of_users = [per_user.loc[activity == g, list(accuracy)] for g in range(len(USERS_BY))]
        groups = pd.concat([groups, _tables("users", USERS_BY, of_users)], ignore_index=True)
    return Evaluation(per_user, overall, groups)


def _masked(fold_in: sp.csr_array, held_out: sp.csr_array) -> int:
    """How many held-out pairs are in the fold-in as well."""
    given = interactions(fold_in, "fold-in")
    both = given.astype(bool).multiply(held_out.astype(bool))
    return int(both.nnz)


@functools.cache  # once per process: tuning evaluates the same users again and again
def _warn_of_held_out(pairs: int, weighted: int, masked: int) -> None:
    """Warn of held-out pairs that count more than once, and of those that no model can find."""
    faults = []
    if weighted:
        faults.append(
            f"{weighted:,} of {pairs:,} held-out entries are not 1: they count as often as they "
            "say, so a metric may be above 1; if they are ratings, make them ones"
        )
    if masked:
        faults.append(
            f"{masked:,} of {pairs:,} held-out pairs are also in the fold-in, where they are "
            "masked: no model can find them; split after repeats are dropped"
        )
    if faults:
        logger.warning("%s", "; ".join(faults))


def _shares(shares: npt.ArrayLike, items: int) -> npt.NDArray[np.float64]:
    """Shares of the training users, one per item, as an array; UserError if they are none."""
    found = np.asarray(shares, np.float64)
    if found.shape != (items,) or not ((found > 0) & (found <= 1)).all():
        raise UserError(
            f"shares must be one number per item ({items:,}), above 0 and at most 1; the shape "
            f"given is {found.shape}"
        )
    return found


def _judge(
    accuracy: Mapping[str, Metric],
    gains: npt.NDArray[np.float64],
    wanted: npt.NDArray[np.int64],
    values: Mapping[str, npt.NDArray[np.float64]],
    users: slice,
) -> None:
    """Write the metrics of a block of users into `values`."""
    with np.errstate(invalid="ignore"):
        for name, each in accuracy.items():
            assert each.of.of_users
            values[name][users] = each.of.of_users(gains, wanted, each.k)


def _only(held_out: sp.csr_array, items: npt.NDArray[np.bool_]) -> sp.csr_array:
    """The held-out entries of these items alone."""
    part = held_out.copy()
    part.data = part.data * items[part.indices]
    part.eliminate_zeros()
    return part


def popularity_groups(shares: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Group of each item: 0 for the most popular ones, which have a third of the interactions.

    Items of group 1 have another third, and those of group 2, most items, the rest.
    """
    order = np.argsort(-shares, kind="stable")
    before = np.cumsum(shares[order]) - shares[order]
    groups = np.empty(len(shares), np.int64)
    # a sum of shares that is exactly a third may be rounded to less
    groups[order] = np.minimum(3 * before / shares.sum() + ROUNDED, 2).astype(np.int64)
    return groups


def _activity_groups(given: npt.NDArray[np.int64], held_out: sp.csr_array) -> npt.NDArray[np.int64]:
    """Group of each user: 0 for the third who are given fewest items, 2 for the third given most.

    Users who are given equally many are of one group; those with nothing held out have none, -1.
    """
    counted = np.diff(held_out.indptr) > 0
    groups = np.full(len(given), -1)
    if counted.any():
        ends = np.quantile(given[counted], [1 / 3, 2 / 3], method="lower")
        groups[counted] = np.searchsorted(ends, given[counted], side="left")
    return groups


def _tables(of: str, names: Sequence[str], parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Rows of `Evaluation.groups` from the metrics of each group's users."""
    import pandas as pd

    tables = []
    for name, part in zip(names, parts, strict=False):
        table = summary(part).reset_index()
        table["n_users"] -= table.pop("n_nan")
        table.insert(0, "of", of)
        table.insert(1, "group", name)
        tables.append(table)
    return pd.concat(tables, ignore_index=True) if tables else _empty()


def _empty() -> pd.DataFrame:
    """A table without rows and columns."""
    import pandas as pd

    return pd.DataFrame()


def places(k: Any, items: int) -> int:
    """The number k of recommendations that are asked for, at most as many as there are items.

    More places would only take memory. UserError if k is no whole number from 1 on.
    """
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise UserError(f"k is {k!r}; it must be a whole number, at least 1")
    return min(int(k), items)


def top_items(
    model: Model, history: sp.csr_array, k: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """Item numbers and scores, users × k each, of the k best items not in each user's history.

    The best item is first; of equal scores, the lower number is first. If fewer than k items are
    left, the remaining ids are -1 and their scores -inf.
    """
    if k < 1:
        raise ValueError(f"k is {k}")
    ids = np.empty((history.shape[0], k), np.int32)
    scores = np.empty(ids.shape)
    ids[:], scores[:] = -1, -np.inf
    most = min(k, history.shape[1])  # the heap of a larger k would be as large
    for users, best, values in ranked(model, history, most):
        ids[users, :most], scores[users, :most] = best, values
    return ids, scores


def summary(per_user: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard error (std / √n, as published) of each metric over the users.

    Only users with held-out items count; `n_nan` of the `n_users` have none. The error is NaN if
    fewer than two users count, as nothing tells then how much users differ.
    """
    import pandas as pd

    values = np.ascontiguousarray(per_user.to_numpy(np.float64))  # in rows: sums are in this order
    nan = np.isnan(values)
    counted = np.sum(~nan, axis=0)
    with np.errstate(invalid="ignore"):  # 0 / 0 if no user has held-out items
        mean = np.sum(values, axis=0, where=~nan) / counted
        spread = np.sqrt(np.sum((values - mean) ** 2, axis=0, where=~nan) / counted)
    columns = {
        "mean": mean,
        "stderr": np.where(counted > 1, spread / np.sqrt(np.maximum(counted, 1)), np.nan),
        "n_users": np.full(len(mean), len(values)),
        "n_nan": np.sum(nan, axis=0),
    }
    return pd.DataFrame(columns, index=per_user.columns.rename("metric"))


def paired(a: pd.DataFrame, b: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard error of the differences a - b between two models for the same users.

    Users differ far more than models do, so whether two models differ shows only in the standard
    error of their difference, not in those of the two means. The format is that of `summary`.
    """
    if a.shape != b.shape:
        raise ValueError(f"metrics of the same users and models are compared: {a.shape}, {b.shape}")
    return summary(a - b)


def ranked(
    model: Model,
    history: sp.csr_array,
    k: int,
    allowed: npt.NDArray[np.bool_] | None = None,
    keep_seen: bool = False,
) -> Iterator[tuple[slice, npt.NDArray[np.int32], Array]]:
    """Yield blocks of users with their k best items, -1 where fewer are left, and the scores.

    Items of a user's history are left out unless `keep_seen`, those that are not `allowed` always.
    """
    for users, ranking in _rankings(model, history, k, allowed, keep_seen):
        ids, values = ranking.best(k)
        _refuse_nan(values[:, 0], users, model)
        del ranking  # or it would stay in memory beside the next block
        yield users, ids, values


def _rankings(
    model: Model,
    history: sp.csr_array,
    k: int,
    allowed: npt.NDArray[np.bool_] | None = None,
    keep_seen: bool = False,
) -> Iterator[tuple[slice, Ranking]]:
    """Yield blocks of users with the ranking of items as in `ranked`; a block has bounded memory.

    At least the k best items of each user are ranked.
    """
    history = interactions(history, "the users' history")
    n_users, n_items = history.shape
    lists = isinstance(model, Lister)
    step = max(1, BLOCK_BYTES // (8 * max(min(2 * k, n_items) if lists else n_items, 1)))
    step *= getattr(model, "blocks", 1)
    for start in range(0, n_users, step):
        users = slice(start, min(start + step, n_users))
        seen = history[users]
        if isinstance(model, Lister):
            yield users, Ranking(None, *model.best(seen, k, allowed, keep_seen))
            continue
        scores = np.require(_floating(model.scores(seen), model), requirements=["C", "W"])
        if scores.shape != seen.shape:
            raise ValueError(f"scores are {scores.shape} for users and items {seen.shape}")
        if not keep_seen:
            scores[seen.nonzero()] = -np.inf
        if allowed is not None and not allowed.all():
            scores[:, ~allowed] = -np.inf
        yield users, Ranking(scores)
        del scores  # or it would stay in memory beside the next block


def _floating(scores: Array, model: Model) -> Array:
    """Scores in a type that can hold the -inf of masked items, in which True would be the best."""
    scores = np.asarray(scores)
    if scores.dtype in (np.float32, np.float64):
        return scores
    if scores.dtype.kind not in "biuf":
        raise UserError(f"{type(model).__name__}: its scores are {scores.dtype}, not real numbers")
    return scores.astype(np.float64)


def _refuse_nan(first: Array, users: slice, model: Model) -> None:
    """Raise Unsolvable if `first`, each user's first result from a compiled loop, has a NaN."""
    if (wrong := np.flatnonzero(np.isnan(first))).size:
        raise Unsolvable(
            f"{type(model).__name__}: the scores of user {users.start + wrong[0]} hold NaN, the "
            "fit has failed; regularise it more"
        )
