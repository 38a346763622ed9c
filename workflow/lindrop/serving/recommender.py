"""Fit a model of the catalogue to all interactions, without a split: for final models."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from lindrop.base.errors import UserError
from lindrop.data.repeats import SUM
from lindrop.models.base import Training
from lindrop.models.catalogue import fit
from lindrop.ranking.evaluation import evaluate, summary
from lindrop.ranking.metrics import CRITERION
from lindrop.serving.histories import (
    COLUMNS,
    Histories,
    as_rated,
    columns_of_model,
    item_ids,
    read_histories,
)
from lindrop.serving.recommend import because, recommend, recommended, similar
from lindrop.store.model import SavedModel


class Recommender:
    """A model with its parameters, to be fitted to interactions: an estimator as of scikit-learn.

    `Recommender("edlae", rank=100, p=0.3, ridge=100).fit(table).recommend(k=20)`. The parameters
    are those of the model in the catalogue; `lambda` may be given as `ridge`, since it is a keyword
    of Python. scikit-learn's `clone` and `GridSearchCV` take it, with a users × items matrix as X.
    """

    def __init__(self, model: str = "ease", seed: int = 1, **parameters: Any) -> None:
        self.model, self.seed = model, seed
        self.parameters = parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor by name; `deep` has no effect, as none is nested."""
        return {"model": self.model, "seed": self.seed, **self.parameters}

    def set_params(self, **changed: Any) -> Self:
        """Change arguments of the constructor; the fitted model stays until the next `fit`."""
        self.model = changed.pop("model", self.model)
        self.seed = changed.pop("seed", self.seed)
        self.parameters = {**self.parameters, **changed}
        return self

    def __repr__(self) -> str:
        named = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"Recommender({named})"

    def fit(
        self,
        interactions: Any,
        y: None = None,
        columns: tuple[str, str] = COLUMNS,
        weighted: bool = False,
    ) -> Self:
        """Fit to a table of interactions, or any other form of `lindrop.serving.histories`.

        Repeated pairs count once, or with `weighted` as often as they are there, in the histories
        that the model is given later as well. The items are those of the table in the order of
        their first appearance; those of a matrix are named by the numbers of its columns.
        """
        shape = getattr(interactions, "shape", None)
        is_matrix = not hasattr(interactions, "columns") and shape is not None and len(shape) == 2
        if (
            isinstance(interactions, np.ndarray)
            and interactions.shape[1:] == (2,)
            and not np.isin(interactions, (0, 1)).all()
        ):
            raise UserError(
                "a matrix of two columns looks like pairs of ids: give a DataFrame with columns "
                f"{columns[0]!r} and {columns[1]!r}, or a matrix of users × items with ones"
            )
        items = (
            np.arange(shape[1]).astype(str).astype(object)
            if is_matrix and shape is not None
            else item_ids(interactions, columns)
        )
        histories = read_histories(interactions, items, columns=columns, weighted=weighted)
        if histories.x.nnz == 0:
            raise UserError("there is no interaction to fit to")
        data = Training.of(histories.x, self.seed, keep=False)
        found = fit(self.model, data, **self.parameters)
        # both at the end: an estimator that was fitted before stays so if this fit fails
        self.histories_: Histories = histories
        self.model_ = SavedModel(
            *(self.model, found, items, dict(self.parameters), "", data.shares),
            source={"repeats": SUM} if weighted else {},
        )
        return self

    def recommend(self, interactions: Any = None, k: int = 10, **options: Any) -> pd.DataFrame:
        """As `lindrop.recommend`; without interactions, for the users that the model is fitted to.

        Only `interactions` may come with further users; `options` are those of `recommend`.
        """
        if interactions is not None:
            return recommend(self._fitted(), interactions, k, **options)
        parts = recommended(self._fitted(), self.histories_, k, **options)
        return pd.concat(list(parts), ignore_index=True)

    def similar(self, item: Any, k: int = 10) -> pd.DataFrame:
        """As `lindrop.similar`."""
        return similar(self._fitted(), item, k)

    def because(self, history: Any, item: Any) -> pd.DataFrame:
        """As `lindrop.because`."""
        return because(self._fitted(), history, item)

    def score(self, interactions: Any, y: None = None, metric: str = CRITERION) -> float:
        """A metric for users of whom a fifth of the items is held out, at random.

        The users should be others than those that the model is fitted to, as in a fold of
        scikit-learn's `GridSearchCV`. A user with fewer than five known items is not counted.
        """
        model = self._fitted()
        x = read_histories(interactions, model.items, weighted=model.weighted).x
        held = _a_fifth(x, self.seed)
        given, wanted = (_only(x, rows) for rows in (~held, held))
        found = evaluate(model.fit.model, given, wanted, [metric], model.shares)
        mean = {**summary(found.per_user)["mean"], **found.overall}[metric]
        if np.isnan(mean):
            raise UserError("no user has five items that the model knows: nothing to hold out")
        return float(mean)

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of an estimator: this one takes sparse matrices and no target."""
        from sklearn.utils import InputTags, Tags, TargetTags

        inputs = InputTags(sparse=True)
        return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=inputs)

    def _fitted(self) -> SavedModel:
        """The fitted model; UserError before `fit`."""
        if not hasattr(self, "model_"):
            raise UserError(f"{self!r} is not fitted yet: call fit(interactions)")
        return self.model_


def _only(x: sp.csr_array, entries: npt.NDArray[np.bool_]) -> sp.csr_array:
    """These entries of X alone."""
    part = x.copy()
    part.data = x.data * entries
    part.eliminate_zeros()
    return part


def _a_fifth(x: sp.csr_array, seed: int) -> npt.NDArray[np.bool_]:
    """Which entries are held out: the first fifth of each row in a random order."""
    number = np.diff(x.indptr)
    row = np.repeat(np.arange(len(number)), number)
    order = np.lexsort((np.random.default_rng(seed).random(x.nnz), row))
    held = np.zeros(x.nnz, bool)
    held[order] = np.arange(x.nnz) - np.repeat(x.indptr[:-1], number) < (number // 5)[row]
    return held


def refit(
    model: SavedModel,
    interactions: Any,
    columns: tuple[str, str] | None = None,
    seed: int = 1,
) -> SavedModel:
    """Fit the model with its chosen parameters to all interactions, held-out users included.

    `columns` are those of a table, as in `lindrop.recommend`.
    """
    columns = columns or columns_of_model(interactions, model.source)
    again = Recommender(model.name, seed, **model.parameters)
    again.fit(as_rated(interactions, model.source), None, columns, model.weighted)
    return replace(again.model_, source=model.source)
