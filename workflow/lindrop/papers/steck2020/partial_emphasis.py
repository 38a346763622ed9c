"""Steck 2020, Section 4: full-rank models with weights b from 0 (full emphasis) to a = 1 (none).

One inverse C = (X'X + Λ̃)⁻¹ serves every b: a column of the model off its diagonal is that of
Eq. 8 times a factor. The diagonal never matters to a ranking, which leaves out a user's own items.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from lindrop.base.arrays import Matrix, Vector
from lindrop.base.reporting import logger
from lindrop.linalg.kernels import sparse_times_dense
from lindrop.models.base import Training, dropout_penalty
from lindrop.models.full_rank import emphasised_matrix
from lindrop.models.precision import inverted
from lindrop.papers.steck2020.attribution import Study
from lindrop.papers.steck2020.procedures import Row, search
from lindrop.ranking.metrics import CRITERION

BS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)  # at a = 1
INSIDE = "λ in Eq. 6"  # Λ̃ = Λ + λI in place of Λ
BESIDE = "λ‖B‖² beside the loss"
RIDGES = (INSIDE, BESIDE)  # where λ stands; at b = 0 both are Eq. 8
START = Row("full_edlae", "full_edlae", (), 0.33, -0.5)  # of the search for p and λ
POPULAR = 30  # items on which the identities are tested
EMPHASES = ((0.33, 0.1), (0.5, 0.5), (0.8, 1.0))  # p and b of these tests
Kind = tuple[str, float]  # where λ stands, and b
KINDS: tuple[Kind, ...] = tuple((ridge, b) for ridge in RIDGES for b in BS if b or ridge == INSIDE)


@dataclass(frozen=True)
class Columns:
    """Full-rank model −C dMat(scale) with an empty diagonal."""

    inverse: Matrix
    scale: Vector

    def scores(self, x: sp.csr_array) -> Matrix:
        """X B, users × items, but for what an item adds to its own score."""
        scores: Matrix = sparse_times_dense(x, self.inverse)
        scores *= (-self.scale).astype(scores.dtype)
        return scores


def scale(kind: Kind, gram: Vector, p: float, ridge: float, inverse: Vector) -> Vector:
    """Factors of the columns of −C in the minimum off its diagonal, at a = 1.

    `gram` and `inverse` are the diagonals of X'X and of C. With λ inside of Eq. 6, C and these are
    those of `fit_emphasised`. Beside the loss, λ is that of the C given, so that the weight of
    ‖B‖² is λ(p + bq): each column is Eq. 8 times what b leaves to predict of its feature,
    1 − bq t/(p + bq), with t its own entry of B/q.
    """
    where, b = kind
    q = 1 - p
    penalty = dropout_penalty(gram, p, ridge)
    if where == INSIDE:
        return np.asarray(penalty / (b + (1 - b) * penalty * inverse))
    mean = p + b * q
    predicted = gram + penalty - 1 / inverse  # x_j'X times the column of Eq. 8
    share = b * q / mean
    own = share * (gram - predicted) / (ridge * q**2 + share * (gram - share * predicted))
    return np.asarray((1 - share * own) / inverse)


def normal_equations(
    gram: Matrix, p: float, weights: tuple[float, float], ridge: float, zero: bool = False
) -> Matrix:
    """Minimiser of the mean emphasised loss + ridge‖B‖² over all masks, before it is rescaled.

    `weights` are (a, b) of Eq. 1. With `zero`, the diagonal of B is to be zero. Each column is the
    solution of its own linear system; no formula of the paper enters.
    """
    (a, b), q, items = weights, 1 - p, len(gram)
    mean, found = a * p + b * q, np.zeros_like(gram)
    for j in range(items):
        left = mean * (q * q * gram + p * q * np.diag(gram.diagonal()))
        right = mean * q * gram[:, j]
        left[j], left[:, j] = b * q * q * gram[j], b * q * q * gram[:, j]
        left[j, j], right[j] = b * q * gram[j, j], b * q * gram[j, j]
        left += ridge * np.eye(items)
        free = np.arange(items) != j if zero else np.full(items, True)
        found[free, j] = np.linalg.solve(left[np.ix_(free, free)], right[free])
    return found


def identities(x: sp.csr_array) -> Mapping[str, float]:
    """Largest relative errors of what b > 0 is at full rank, on the most popular items of X.

    Minima are those of `normal_equations`; Eq. 8 and Eq. 6 are the closed forms.
    """
    order = np.argsort(-np.asarray(x.sum(axis=0)).ravel(), kind="stable")[:POPULAR]
    part = x[:, order].toarray().astype(np.float64)
    gram = part.T @ part
    off, size = 1 - np.eye(len(gram)), float(gram.diagonal().mean())
    errors: dict[str, list[float]] = {name: [] for name in ("equation_6", "beside", "zero")}
    for p, b in EMPHASES:
        q, mean = 1 - p, p + b * (1 - p)
        found = normal_equations(gram, p, (1, b * b), 0.0)
        errors["equation_6"].append(_apart(found, emphasised_matrix(gram, p, 0, 1, b * b) / q))
        ridge = size / 10
        inverse = np.linalg.inv(gram + np.diag(dropout_penalty(gram.diagonal(), p, ridge)))
        scales = scale((BESIDE, b), gram.diagonal(), p, ridge, inverse.diagonal())
        found = normal_equations(gram, p, (1, b), ridge * q * q * mean)
        errors["beside"].append(_apart(found * off, -inverse * scales * off / q))
        found = normal_equations(gram, p, (1, b), ridge * q * q * mean, zero=True)
        errors["zero"].append(_apart(found, -inverse / inverse.diagonal() * off / q))
    return {name: max(values) for name, values in errors.items()}


def _apart(found: Matrix, wanted: Matrix) -> float:
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))


@dataclass
class Emphases:
    """Models of every kind on one split, judged by the validation users at every p and λ."""

    study: Study
    scores: dict[tuple[float, float], dict[Kind, float]] = field(default_factory=dict)

    def models(self, p: float, ridge: float) -> Mapping[Kind, Columns]:
        """Every kind at p and λ, from one inverse."""
        data = self.study.data
        training = Training(data.x, data.gram.astype)
        gram = inverted(training, dropout_penalty(data.diagonal, p, ridge))
        own, inverse = gram.inverse_diagonal.astype(np.float64), gram.take_inverse()
        np.fill_diagonal(inverse, 0.0)
        return {kind: Columns(inverse, scale(kind, data.diagonal, p, ridge, own)) for kind in KINDS}

    def score(self, kind: Kind, p: float, ridge: float) -> float:
        """The criterion on the validation users."""
        if (p, ridge) not in self.scores:
            models = self.models(p, ridge)
            held = self.study.validation
            self.scores[p, ridge] = {key: held.score(model) for key, model in models.items()}
        return self.scores[p, ridge][kind]

    def tuned(self) -> Mapping[Kind, tuple[float, float]]:
        """Best p and λ of each kind among all that the search of any kind has tried.

        Each search begins there anew until no neighbour is better for any kind.
        """
        chosen: dict[Kind, tuple[float, float]] = {}
        while True:
            for kind in KINDS:
                search(self.study.data, self._start(kind), partial(self.score, kind))
            found = {kind: self._best(kind) for kind in KINDS}
            logger.info("%d inverses for %d weights b", len(self.scores), len(KINDS))
            if found == chosen:
                return found
            chosen = found

    def _best(self, kind: Kind) -> tuple[float, float]:
        return max(self.scores, key=lambda point: self.scores[point][kind])

    def _start(self, kind: Kind) -> Row:
        if not self.scores:
            return START
        p, ridge = self._best(kind)
        return START._replace(p=p, share=np.log10(ridge / self.study.data.ridge(0)))

    def results(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """A line for every kind at its p and λ, and the criterion of every test user by kind."""
        chosen = self.tuned()
        lines: list[dict[str, Any]] = []
        users: dict[str, Any] = {"user": self.study.users}
        for point in dict.fromkeys(chosen.values()):
            models = self.models(*point)
            for kind in (kind for kind in KINDS if chosen[kind] == point):
                per_user = self.study.test.per_user(models[kind])[CRITERION]
                users[column(kind)] = per_user
                facts = {"ridge": kind[0], "b": kind[1], "p": point[0], "lambda": point[1]}
                tested = {"validation": self.scores[point][kind], "test": per_user.mean()}
                lines.append(facts | tested | {"points": len(self.scores)})
        return pd.DataFrame(lines), pd.DataFrame(users)


def column(kind: Kind) -> str:
    """Column of the test users' criterion, such as `b = 0.5, λ in Eq. 6`."""
    return f"b = {kind[1]:g}, {kind[0]}"
