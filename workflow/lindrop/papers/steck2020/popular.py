"""Steck 2020, Sections 4.1.2, 5 and 6: small experiments on a dataset's most popular items.

They ask what no table of the paper shows: what three other penalties do to embeddings, what becomes
of the diagonal of Eq. 10, how many iterations Eq. 11 takes, and what overfitting towards the
identity costs. Few items keep them exact and short.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from lindrop.base.arrays import Matrix
from lindrop.base.errors import UserError
from lindrop.data.split import WeakProtocol
from lindrop.models.base import Fit, FullRankModel, LowRank, Training
from lindrop.models.closed_form import fit_dropout_l2, fit_product_l2
from lindrop.models.edlae.as_published import notebook_start, printed_alternation
from lindrop.models.edlae.fit import fit_edlae, fit_zero_diagonal
from lindrop.models.full_rank import fit_dlae as fit_full_dlae
from lindrop.models.full_rank import fit_edlae as fit_full_edlae
from lindrop.papers.steck2020.figures.fig1_center import median_cosines, similar_items
from lindrop.papers.steck2020.spread import penalties, train
from lindrop.ranking.evaluation import evaluate, paired, summary
from lindrop.ranking.metrics import CRITERION
from lindrop.store.split import read_split_facts, read_split_matrix

ITEMS, RANK = 200, 20
RIDGES = 0.1, 0.3, 1.0, 3.0, 10.0  # λ over the mean of diag(X'X), chosen by validation
WEIGHTS = 0.1, 1.0, 10.0, 100.0  # weights of a penalty on embeddings
USERS = 2_000  # validation and test users, at most
SHARES = 0.05, 0.1, 0.2, 0.4, 0.6  # ranks of Eq. 10 over the number of items
P = 0.33  # dropout probability of Eq. 10, as in the authors' notebook
OVERFITTED = 1e-3  # λ over the chosen one at which the full-rank model is nearly the identity
LONG, SETTLED = 200, 1e-4  # iterations of Eq. 11, and the relative change that ends them
NONE, CONSTRAINED = "no penalty", "diag(UV') = 0"
EMPHASISED, PLAIN = "full emphasis", "no emphasis"


class Pair(NamedTuple):
    """Interactions of users: what a model sees, and what it is to predict."""

    fold_in: sp.csr_array
    held_out: sp.csr_array


@dataclass(frozen=True)
class Popular:
    """The most popular items of a dataset: training data, validation and test users.

    Of a weak split, the training data are those that tuning fits to, without the interactions by
    which the models are chosen.
    """

    x: sp.csr_array
    validation: Pair
    test: Pair

    @classmethod
    def of(cls, split: str, items: int = ITEMS) -> "Popular":
        """Popular items of a split; users keep what they have of these items."""
        weak = isinstance(read_split_facts(split)[1], WeakProtocol)
        x = read_split_matrix(split, "validation/fold_in" if weak else "train")
        popular = np.sort(np.argsort(-x.sum(axis=0), kind="stable")[:items])
        parts = (
            Pair(
                *(
                    read_split_matrix(split, f"{part}/{side}")[:USERS, popular]
                    for side in Pair._fields
                )
            )
            for part in ("validation", "test")
        )
        found = cls(sp.csr_array(x[:, popular]), *parts)
        for name, pair in (("validation", found.validation), ("test", found.test)):
            if not pair.held_out.nnz:
                raise UserError(
                    f"{split}: no {name} user has a held-out item among the {len(popular)} most "
                    "popular ones, on which the small experiments of Steck 2020 run"
                )
        return found

    @cached_property
    def training(self) -> Training:
        """Training data of the library's models, in float64."""
        return Training.of(self.x, dtype=np.float64)

    @cached_property
    def gram(self) -> Matrix:
        """The matrix X'X."""
        return np.asarray((self.x.T @ self.x).toarray(), dtype=float)

    @property
    def rank(self) -> int:
        """Rank of the low-rank models, at most a tenth of the items."""
        return max(1, min(RANK, len(self.gram) // 10))

    @cached_property
    def ridge(self) -> float:
        """λ of the best model without a penalty on embeddings, by the validation users."""
        grid = [share * float(self.gram.diagonal().mean()) for share in RIDGES]
        return max(grid, key=lambda ridge: self.score(self.free(ridge))[0])

    def free(self, ridge: float) -> LowRank:
        """Row 2 of Table 1."""
        return _low(fit_product_l2(self.training, self.rank, ridge)).balanced()

    def score(self, model: FullRankModel | LowRank) -> tuple[float, float]:
        """The criterion of the validation users and its standard error."""
        found = summary(evaluate(model, *self.validation).per_user)
        mean, error = found.loc[CRITERION, ["mean", "stderr"]].to_numpy(float)
        return float(mean), float(error)

    def spread(self) -> Iterator[tuple[str, float, LowRank]]:
        """Models with their names and the weight of their penalty, all with the same λ.

        Of each penalty, the heaviest weight is taken whose criterion is at least that of the model
        with diag(UV') = 0: no penalty may cost more accuracy than the constraint does. If there is
        none, or if the constraint costs nothing, a standard error of the best weight is allowed.
        """
        free = self.free(self.ridge)
        yield NONE, 0.0, free
        ((_, fit),) = fit_zero_diagonal(self.training, [self.rank], 0.0, self.ridge)
        constrained = _low(fit).balanced()
        yield CONSTRAINED, 0.0, constrained
        allowed = self.score(constrained)[0]
        for name, penalty in penalties(self.gram).items():
            models = {w: train(self.gram, self.ridge, penalty, w, free) for w in WEIGHTS}
            scores = {w: self.score(model) for w, model in models.items()}
            best, error = max(scores.values())
            # the error of a single user is unknown
            least = min(allowed, best - np.nan_to_num(error))
            weight = max(w for w, (mean, _) in scores.items() if mean >= least)
            yield name, weight, models[weight]

    @cached_property
    def similar(self) -> npt.NDArray[np.intp]:
        """Similar items of each item, by the full-rank EDLAE as in Figure 1."""
        return similar_items(_full(fit_full_edlae(self.training, P, self.ridge)).matrix)


def experiments(dataset: str, split: str, items: int = ITEMS) -> pd.DataFrame:
    """Numbers of all small experiments on one dataset, one per line."""
    data = Popular.of(split, items)
    facts = {"dataset": dataset, "items": len(data.gram), "lambda": data.ridge}
    lines = [*_cosines(data), *_own_products(data), *_iterations(data), *_overfitting(data)]
    return pd.DataFrame([facts | line for line in lines])


def _cosines(data: Popular) -> Iterator[dict[str, Any]]:
    """Cosines of similar items and of all pairs, for every penalty."""
    for name, weight, model in data.spread():
        facts = {"model": name, "weight": weight, "rank": data.rank}
        yield facts | {"quantity": "accuracy", "part": "", "value": data.score(model)[0]}
        for part in ("encoder", "decoder"):
            embeddings = getattr(model, part)
            medians = median_cosines(embeddings, data.similar)
            low, middle, high = np.quantile(medians, [0.25, 0.5, 0.75])
            of = facts | {"part": part}
            yield of | {"quantity": "similar items", "value": middle, "low": low, "high": high}
            yield of | {"quantity": "all pairs", "value": _mean_square_cosine(embeddings)}


def _own_products(data: Popular) -> Iterator[dict[str, Any]]:
    """Mean size of the dot products U_i·V_i by rank, with full emphasis and without emphasis.

    With full emphasis also the accuracy by which a rank falls behind full rank, in standard errors.
    """
    full, error = data.score(_full(fit_full_edlae(data.training, P, data.ridge)))
    ranks = sorted({max(1, round(share * len(data.gram))) for share in SHARES})
    emphasised = dict(fit_edlae(data.training, ranks, P, data.ridge))
    for rank in ranks:
        plain = fit_dropout_l2(data.training, rank, P, data.ridge)
        for name, fit in ((EMPHASISED, emphasised[rank]), (PLAIN, plain)):
            model = _low(fit)
            products = np.sum(model.encoder * model.decoder, axis=1)
            facts = {"model": name, "rank": rank, "part": ""}
            yield facts | {"quantity": "diagonal", "value": float(np.abs(products).mean())}
            if name == EMPHASISED:
                behind = full - data.score(model)[0]
                fall = behind / error if error > 0 else math.copysign(math.inf, behind)
                yield facts | {"quantity": "below full rank", "value": fall}


def _iterations(data: Popular) -> Iterator[dict[str, Any]]:
    """Iterations of the printed alternation for Eq. 11 until its value hardly changes."""
    start = notebook_start(len(data.gram), data.rank)
    steps = printed_alternation(data.gram, 0.0, data.ridge, start, zero_diagonal=True)
    values = [_loss(data, u @ v.T) for u, v in islice(steps, LONG)]
    small = [abs(after / before - 1) <= SETTLED for before, after in pairwise(values)]
    count = 2 + int(np.argmax(small)) if any(small) else LONG
    facts = {"model": CONSTRAINED, "rank": data.rank, "part": ""}
    yield facts | {"quantity": "iterations", "value": float(count)}


def _overfitting(data: Popular) -> Iterator[dict[str, Any]]:
    """Diagonal and accuracy on test users of the full-rank model at the chosen λ and a tiny one."""
    chosen, tiny = (
        _full(fit_full_dlae(data.training, 0.0, ridge))
        for ridge in (data.ridge, OVERFITTED * data.ridge)
    )
    facts = {"model": "full rank", "rank": len(data.gram), "part": ""}
    differences = paired(*(evaluate(model, *data.test).per_user for model in (tiny, chosen)))
    loss, error = differences.loc[CRITERION, ["mean", "stderr"]].to_numpy(float)
    for name, model in (("chosen λ", chosen), ("tiny λ", tiny)):
        diagonal = float(model.matrix.diagonal().mean())
        yield facts | {"part": name, "quantity": "identity", "value": diagonal}
        missed = _loss(data, model.matrix, 0.0) / float(np.trace(data.gram))
        yield facts | {"part": name, "quantity": "training error", "value": missed}
    yield facts | {"quantity": "loss of accuracy", "value": float(loss)}
    yield facts | {"quantity": "loss in paired errors", "value": float(loss / error)}


def _mean_square_cosine(embeddings: Matrix) -> float:
    """Root of the mean square of the cosines of all pairs."""
    lengths = np.linalg.norm(embeddings, axis=1, keepdims=True)
    unit = embeddings / np.maximum(lengths, np.finfo(float).tiny)
    pairs = (unit @ unit.T)[np.triu_indices(len(unit), k=1)]
    return float(np.sqrt(np.mean(pairs**2)))


def _loss(data: Popular, b: Matrix, ridge: float | None = None) -> float:
    """‖X − XB‖² + λ‖B‖²."""
    weight = data.ridge if ridge is None else ridge
    rest: Matrix = np.eye(len(b)) - b
    return float(np.vdot(rest, data.gram @ rest) + weight * np.sum(b**2))


def _low(fit: Fit) -> LowRank:
    assert isinstance(fit.model, LowRank)
    return fit.model


def _full(fit: Fit) -> FullRankModel:
    assert isinstance(fit.model, FullRankModel)
    return fit.model
