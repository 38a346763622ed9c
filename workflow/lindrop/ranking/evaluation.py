"""Evaluate the rankings of held-out users, as published (docs/protocol.md)."""

from collections.abc import Iterator
from functools import partial
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from lindrop.base.errors import Unsolvable, UserError
from lindrop.base.parallel import over_blocks
from lindrop.linalg.interactions import interactions
from lindrop.linalg.kernels import Array, gains_of_ranks, top_k
from lindrop.ranking.metrics import DEPTH, METRICS, of_users

BLOCK_BYTES = 128 << 20  # of scores computed at once
USERS = 32  # rows of scores that a thread ranks per task


class Model(Protocol):
    """A model that scores items from users' interactions."""

    def scores(self, x: sp.csr_array) -> Array:
        """A new array, users × items: the scores that the model predicts from each row of X."""


def evaluate(
    model: Model, fold_in: sp.csr_array, held_out: sp.csr_array
) -> npt.NDArray[np.float64]:
    """Users × METRICS: the ranking metrics of each user, NaN if nothing of the user is held out."""
    if fold_in.shape != held_out.shape:
        raise ValueError(f"fold-in is {fold_in.shape}, held-out {held_out.shape}")
    held_out = interactions(held_out, "held-out")
    if (held_out.data < 0).any():
        raise UserError("held-out holds negative entries; remove them")
    per_user = np.empty((fold_in.shape[0], len(METRICS)))
    for users, scores in _scored(model, fold_in):
        gains = _gains(scores, held_out[users])
        _refuse_nan(gains[:, 0], users, model)
        per_user[users] = of_users(gains, np.diff(held_out[users].indptr))
        del scores  # or it would stay in memory beside the next block
    return per_user


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
    for users, best, values in _ranked(model, history, most):
        ids[users, :most], scores[users, :most] = best, values
    return ids, scores


def summary(per_user: npt.NDArray[np.float64]) -> pd.DataFrame:
    """Mean and standard error (std / √n, as published) of each metric over the users.

    Only users with held-out items count; `n_nan` of the `n_users` have none.
    """
    nan = np.isnan(per_user)
    counted = np.sum(~nan, axis=0)
    with np.errstate(invalid="ignore"):  # 0 / 0 if no user has held-out items
        mean = np.sum(per_user, axis=0, where=~nan) / counted
        spread = np.sqrt(np.sum((per_user - mean) ** 2, axis=0, where=~nan) / counted)
    columns = {
        "mean": mean,
        "stderr": spread / np.sqrt(np.maximum(counted, 1)),
        "n_users": np.full(len(METRICS), len(per_user)),
        "n_nan": np.sum(nan, axis=0),
    }
    return pd.DataFrame(columns, index=pd.Index(METRICS, name="metric"))


def paired(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> pd.DataFrame:
    """Mean and standard error of the differences a - b between two models for the same users.

    Users differ far more than models do, so whether two models differ shows only in the standard
    error of their difference, not in those of the two means. The format is that of `summary`.
    """
    if a.shape != b.shape:
        raise ValueError(f"metrics of the same users and models are compared: {a.shape}, {b.shape}")
    return summary(a - b)


def _ranked(
    model: Model, history: sp.csr_array, k: int
) -> Iterator[tuple[slice, npt.NDArray[np.int32], Array]]:
    """Yield blocks of users with their k best items outside their history, and the scores."""
    for users, scores in _scored(model, history):
        ids = np.empty((len(scores), k), np.int32)
        values = np.empty(ids.shape, scores.dtype)
        rows = partial(top_k, scores, ids, values)
        over_blocks(rows, len(scores), USERS)
        _refuse_nan(values[:, 0], users, model)
        del scores, rows  # or they would stay in memory beside the next block
        yield users, ids, values


def _scored(model: Model, history: sp.csr_array) -> Iterator[tuple[slice, Array]]:
    """Yield blocks of users with their scores of all items, -inf for items of their history."""
    history = interactions(history, "the users' history")
    n_users, n_items = history.shape
    step = max(1, BLOCK_BYTES // (8 * max(n_items, 1)))
    for start in range(0, n_users, step):
        users = slice(start, min(start + step, n_users))
        seen = history[users]
        scores = np.require(model.scores(seen), requirements=["C", "W"])
        if scores.shape != seen.shape:
            raise ValueError(f"scores are {scores.shape} for users and items {seen.shape}")
        scores[seen.nonzero()] = -np.inf
        yield users, scores
        del scores  # or it would stay in memory beside the next block


def _refuse_nan(first: Array, users: slice, model: Model) -> None:
    """Raise Unsolvable if `first`, each user's first result from a compiled loop, has a NaN."""
    if (wrong := np.flatnonzero(np.isnan(first))).size:
        raise Unsolvable(
            f"{type(model).__name__}: the scores of user {users.start + wrong[0]} hold NaN, the "
            "fit has failed; regularise it more"
        )


def _gains(scores: Array, held_out: sp.csr_array) -> npt.NDArray[np.float64]:
    """Users × DEPTH: the held-out entry of the item at each rank of each user, 0 if none."""
    gains = np.empty((len(scores), DEPTH))
    arrays = (held_out.indptr, held_out.indices, held_out.data)
    rows = partial(gains_of_ranks, scores, arrays, gains)
    over_blocks(rows, len(scores), USERS)
    return gains
