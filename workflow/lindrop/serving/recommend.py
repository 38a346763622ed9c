"""Recommendations: the best items for many users, items like an item, and the reasons."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lindrop.base.errors import UserError
from lindrop.base.reporting import logger
from lindrop.data.interactions import Ids, as_texts, listed
from lindrop.models.base import Additive
from lindrop.ranking.evaluation import places, ranked
from lindrop.serving.histories import (
    Histories,
    as_rated,
    columns_of_model,
    positions,
    read_histories,
    user_ids,
)
from lindrop.store.model import SavedModel

MODEL, POPULARITY = "model", "popularity"  # values of the column `by`


def recommend(
    model: SavedModel,
    interactions: Any,
    k: int = 10,
    *,
    users: Sequence[Any] | None = None,
    allow: Iterable[Any] | None = None,
    block: Iterable[Any] = (),
    keep_seen: bool = False,
    columns: tuple[str, str] | None = None,
) -> pd.DataFrame:
    """The k best items of every user: columns user, item, rank (from 1), score and by.

    `interactions` is any of the forms of `lindrop.serving.histories`. `columns` names those of a
    table, by default as in the data of the model, else user and item. Of a table with ratings, only
    rows above the min_rating that the model was fitted with count. Items of a user's history are
    left out unless `keep_seen`; only items of `allow` are recommended, if it is given, and none of
    `block`. `by` is `model`, or `popularity` for a user with no item that the model knows: the
    score is then the share of the training users who have the item. A user for whom fewer than k
    items are left has fewer rows.
    """
    columns = columns or columns_of_model(interactions, model.source)
    rated = as_rated(interactions, model.source)
    if users is None and rated is not interactions:  # nobody without good ratings is lost
        users = list(user_ids(interactions, columns))
    found = read_histories(rated, model.items, users, columns, model.weighted)
    if found.unknown:
        logger.warning("%d items of the histories are not known to the model", found.unknown)
    parts = [*recommended(model, found, k, allow, block, keep_seen)]
    return pd.concat(parts, ignore_index=True) if parts else _table(found.users[:0], *_NOTHING)


_NOTHING: Any = ([], np.zeros((0, 1), np.int32), np.zeros((0, 1)), "")


def recommended(
    model: SavedModel,
    found: Histories,
    k: int,
    allow: Iterable[Any] | None = None,
    block: Iterable[Any] = (),
    keep_seen: bool = False,
) -> Iterator[pd.DataFrame]:
    """Recommendations of `recommend`, block of users by block: memory does not grow with users."""
    k = places(k, len(model.items))
    allowed = _allowed(model.items, allow, block)
    empty = np.diff(found.x.indptr) == 0
    popular = np.array([], np.int64)
    if empty.any():
        shares = model.popularity()
        order = np.argsort(-shares, kind="stable")
        popular = order[allowed[order]][:k]
    for rows, best, scores in ranked(model.fit.model, found.x, k, allowed, keep_seen):
        without = empty[rows]
        best[without], scores[without] = -1, -np.inf
        best[without, : len(popular)] = popular
        if without.any():
            scores[without, : len(popular)] = shares[popular]
        by = np.where(without, POPULARITY, MODEL)
        yield _table(found.users[rows], model.items, best, scores, by)


def similar(model: SavedModel, item: Any, k: int = 10) -> pd.DataFrame:
    """The k items that the model recommends to a user who has this item alone: item, rank, score.

    For a model that scores by XB these are the largest entries of row `item` of B.
    """
    positions([item], model.items, "similar")
    return recommend(model, [item], k)[["item", "rank", "score"]]


def because(model: SavedModel, history: Sequence[Any], item: Any) -> pd.DataFrame:
    """What each item of a history adds to the score of `item`: item, score, largest first.

    The scores add up to the item's score, as a user's scores are x B: item i adds x_i B_ij, where
    x_i is 1 or, if the model is `weighted`, how often the history has it. UserError for a model
    whose scores are no such sum.
    """
    additive = model.fit.model
    if not isinstance(additive, Additive):
        raise UserError(f"{model.name}: its scores are no sum over the items of a history")
    (column,) = positions([item], model.items, "because")
    had = listed(history, "history").to_pylist()
    x = read_histories(had, model.items, weighted=model.weighted).x
    known = x.indices
    parts = x.data * additive.contributions(known, int(column)).astype(np.float64)
    order = np.argsort(-parts, kind="stable")
    return pd.DataFrame({"item": as_texts(model.items[known[order]]), "score": parts[order]})


def _allowed(
    items: Ids, allow: Iterable[Any] | None, block: Iterable[Any]
) -> npt.NDArray[np.bool_]:
    """Whether each item may be recommended."""
    allowed = np.full(len(items), allow is None)
    if allow is not None:
        allowed[positions(allow, items, "allow")] = True
    allowed[positions(block, items, "block")] = False
    return allowed


def _table(
    users: Ids,
    items: Ids,
    best: npt.NDArray[np.int32],
    scores: npt.NDArray[np.floating[Any]],
    by: npt.ArrayLike,
) -> pd.DataFrame:
    """A row per user and recommended item."""
    user, place = np.nonzero(best >= 0)
    return pd.DataFrame(
        {
            "user": as_texts(users[user]),
            "item": as_texts(np.asarray(items)[best[user, place]]),
            "rank": place.astype(np.int32) + 1,
            "score": scores[user, place].astype(np.float64),
            "by": np.broadcast_to(by, len(best))[user],
        }
    )
