"""Rows 1 to 5 of Table 1 of Steck 2020 trained as published, and the optima of their objectives.

What the paper and its notebook state for its three datasets is taken as it is. On any other dataset
there is nothing to state, and this rule holds:

- Both the published procedure and the exact optimum are tuned alike, by `search`: λ runs over
  half decades times the mean of diag(X'X), p over `P`. The search starts at the middle of the
  published values and walks to the best neighbour until none is better on the validation users;
  then it walks on among quarter decades of λ, since half a decade can hide a gain as large as
  those that Table 1 compares.
- The number of epochs is one of those printed for the row, chosen by the validation users.
- An epoch of Adam has as many batches as on ML-20M, `BATCHES`: the printed 4,096 users would
  leave a small dataset with hardly a step.
- ω over the mean of diag(X'X) is that of MSD, `OMEGA_SHARE`, the middle of the three datasets: ω is
  a penalty like λ, and 500 would be sixteen times the mean on MovieLens 100K.
- Adam's rate is as printed, and so are all random starts, with the configuration's default `seed`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from lindrop.base.arrays import Matrix, Vector
from lindrop.linalg.gram import gram_matrix
from lindrop.models.adam_as_published import BATCH, Penalties, train
from lindrop.models.base import Fit, LowRank, Training, dropout_penalty
from lindrop.models.catalogue import CATALOGUE
from lindrop.models.edlae.as_published import (
    START_SCALE,
    notebook_start,
    quick_alternation,
    ridge_solver,
)
from lindrop.models.edlae.objective import Problem, row_products

OMEGA = 500.0  # of row 5, on the paper's datasets
OMEGA_SHARE = 0.74  # of the mean of diag(X'X) of MSD: 33.6 million interactions, of which the
# 471,355 training users of 571,355 have as large a share, on 41,140 items: 500 / 674
BATCHES = 29  # of an epoch on ML-20M: 116,677 training users by 4,096
P = (0.05, 0.1, 0.15, 0.33, 0.5, 0.67, 0.75, 0.85)
STEPS = 2  # values of λ in a decade, before they are halved once
FINEST = 0.5  # last step of the search
FARTHEST = 6  # steps of the search from its start, in each direction
SEEDS = 1 << 32  # number of seeds that NumPy's legacy generator knows


class Row(NamedTuple):
    """A row of Table 1: how it is named, trained and solved, and where its search starts."""

    model: str  # name of the row in Table 1
    exact: str  # the model of the catalogue with the minimum of its objective
    epochs: tuple[int, ...]  # printed numbers of epochs
    p: float | None  # start of the search: the middle one of the published values
    share: float  # the same of λ over the mean of diag(X'X), as a power of ten

    @property
    def number(self) -> int:
        """Number of the row."""
        return ROWS.index(self) + 1


ROWS = (
    Row("weight_decay", "weight_decay", (5,), None, 1.0),
    Row("product_l2", "product_l2", (5,), None, 1.5),
    Row("dropout_l2", "dropout_l2", (5,), 0.67, -0.5),
    Row("sampled_dropout", "dropout_l2", (10,), 0.67, -2.5),
    Row("edlae", "edlae", (5, 10, 20), 0.15, -0.5),
)
# The curve of Eq. 11 in Figure 1: Table 1 has no row of it. Its search starts at Netflix's share.
CONSTRAINED = Row("zero_diagonal_l2", "zero_diagonal_l2", (10,), None, -0.5)
BY_ADAM = ("weight_decay", "sampled_dropout")


class Point(NamedTuple):
    """Hyper-parameters: p, λ of the objective as a sum over users and items, and epochs."""

    p: float
    ridge: float
    epochs: int = 0


# As printed by the notebook; of rows 1 and 4 the weights of a mean of squares (`Penalties`).
PRINTED: Mapping[str, Mapping[str, Point]] = {
    "ML-20M": {
        "weight_decay": Point(0.0, 8e-6, 5),
        "product_l2": Point(0.0, 10_000, 5),
        "dropout_l2": Point(0.67, 200, 5),
        "sampled_dropout": Point(0.67, 3e-9, 10),
        "edlae": Point(0.33, 400, 5),
        "zero_diagonal_l2": Point(0.0, 500, 10),
    },
    "Netflix": {
        "weight_decay": Point(0.0, 8e-6, 5),
        "product_l2": Point(0.0, 100_000, 5),
        "dropout_l2": Point(0.67, 500, 5),
        "sampled_dropout": Point(0.67, 2e-9, 10),
        "edlae": Point(0.15, 500, 10),
        "zero_diagonal_l2": Point(0.0, 1_000, 10),
    },
    "MSD": {
        "weight_decay": Point(0.0, 2e-7, 5),
        "product_l2": Point(0.0, 30_000, 5),
        "dropout_l2": Point(0.75, 20, 5),
        "sampled_dropout": Point(0.67, 1e-14, 10),
        "edlae": Point(0.1, 10, 20),
        "zero_diagonal_l2": Point(0.0, 200, 10),
    },
}


def printed_point(paper: str, row: Row, shape: tuple[int, ...]) -> Point:
    """Published hyper-parameters of a row on one of the paper's datasets, with λ as a sum."""
    point = PRINTED[paper][row.model]
    if row.model not in BY_ADAM:
        return point
    return point._replace(ridge=point.ridge * shape[0] * shape[1] / 2)


def aim_of_printed_updates(point: Point, omega: float) -> Point:
    """The p' and λ' at whose Eq. 10 the supplement's updates for row 5 are at rest.

    They penalise with 2Λ̃ + ωI in place of Λ̃ (erratum E3), and 2p/(1 − p) is p'/(1 − p') of
    p' = 2p/(1 + p).
    """
    return Point(2 * point.p / (1 + point.p), 2 * point.ridge + omega)


@dataclass(frozen=True)
class Data:
    """Training users X of one split, the rank of the models, and what their solvers share."""

    x: sp.csr_array
    rank: int
    of_paper: bool = False  # whether the dataset is one of the paper's
    seed: int = 1  # that of the configuration

    @cached_property
    def gram(self) -> Matrix:
        """The matrix X'X in float64, as in the notebook."""
        return gram_matrix(self.x, np.float64)

    @cached_property
    def diagonal(self) -> Vector:
        """The diagonal of X'X."""
        return self.gram.diagonal().copy()

    @cached_property
    def training(self) -> Training:
        """Training data of the exact solvers, with a spectrum of X'X that they share."""
        data = Training(self.x, self.gram.astype, self.seed, dtype=np.dtype(np.float32))
        return replace(data, spectrum=data.top_spectrum(self.rank))

    @property
    def batch(self) -> int:
        """Users in a batch of Adam."""
        return BATCH if self.of_paper else min(BATCH, -(-self.x.shape[0] // BATCHES))

    @property
    def omega(self) -> float:
        """ω of row 5."""
        return OMEGA if self.of_paper else OMEGA_SHARE * float(self.diagonal.mean())

    def ridge(self, step: float) -> float:
        """λ a number of steps above the mean of diag(X'X)."""
        return float(self.diagonal.mean() * 10 ** (step / STEPS))

    def seed_of(self, start: int) -> int:
        """Seed of a random start by number; start 0 of the default seed is the notebook's."""
        return (self.seed - 1 + start) % SEEDS

    def published(self, row: Row, point: Point, seed: int) -> Iterator[LowRank]:
        """Model after each epoch of the published procedure, without end."""
        if row.model in BY_ADAM:
            sampled = row.model == "sampled_dropout"
            weights = Penalties.of(point.ridge, self.x.shape, product=sampled)
            factors = train(self.x, self.rank, point.p, weights, self.batch, seed)
        elif row.model == "edlae":
            factors = self._admm(point, notebook_start(len(self.gram), self.rank, seed))
        else:
            start = np.random.RandomState(seed).randn(self.rank, len(self.gram)).T
            start = np.ascontiguousarray(start) * START_SCALE
            zero_diagonal = row.model == CONSTRAINED.model
            factors = quick_alternation(self.gram, self._penalty(point), start, zero_diagonal)
        return (LowRank(u, v) for u, v in factors)

    def exact(self, row: Row, point: Point, **options: float) -> Fit:
        """Minimum of the row's objective."""
        entry = CATALOGUE[row.exact]
        p = {} if row.p is None else {"p": point.p}
        ((_, fit),) = entry.fits(self.training, [self.rank], ridge=point.ridge, **p, **options)
        return fit

    def objective(self, row: Row, point: Point, model: LowRank) -> float:
        """The row's objective as a sum of squares over users and items, in float64.

        Row 4 is judged by the mean over its masks, which is the objective of row 3.
        """
        u, v = (part.astype(np.float64) for part in (model.encoder, model.decoder))
        gu = self.gram @ u
        if row.model == "edlae":
            return Problem(self.diagonal, self._penalty(point)).objective(u, v, gu)
        inner, vv = u.T @ gu, v.T @ v
        if row.model == "weight_decay":
            penalty = point.ridge * (np.sum(u**2) + np.trace(vv))
        else:
            penalty = np.vdot(u.T @ (self._penalty(point)[:, None] * u), vv)
        misfit = self.diagonal.sum() - 2 * np.vdot(gu, v) + np.vdot(inner, vv)
        return float(misfit + penalty)

    def _penalty(self, point: Point) -> Vector:
        return dropout_penalty(self.diagonal, point.p, point.ridge)

    def _admm(self, point: Point, u: Matrix) -> Iterator[tuple[Matrix, Matrix]]:
        """Iterates of `notebook_admm`, with products in an order that forms no such matrix."""
        penalty = self._penalty(point)
        weight, solved = penalty + self.omega, ridge_solver(self.gram, penalty)
        gu = self.gram @ u
        beta, gamma = np.zeros((2, len(u)))
        while True:
            stretch, pull = 1.0 + beta[:, None], (weight * (beta - gamma))[:, None]
            left = u.T @ (gu + (penalty + weight)[:, None] * u)
            v = (stretch * gu + pull * u) @ np.linalg.inv(left).T
            dual = v @ np.linalg.inv(v.T @ v)
            stretched = stretch * dual
            u = stretched - solved(penalty[:, None] * stretched - pull * dual)
            gu = self.gram @ u
            diagonal = row_products(u, v)
            beta = row_products(gu, v) - self.diagonal + weight * (diagonal + gamma)
            beta = np.maximum(beta / (self.diagonal + self.omega), 0.0)
            gamma = gamma + diagonal - beta
            yield u, v


Score = Callable[[float, float], float]  # of p and λ; NaN for a model that cannot be judged
Found = tuple[tuple[float, float], int]  # the best p and λ, and the number of points tried


def search(data: Data, row: Row, score: Score) -> Found:
    """Best p and λ on a lattice without ends, found by walking to the best neighbour.

    The last walk goes in half the steps of λ from the best point of the first.
    """
    start = round(row.share * STEPS / FINEST) * FINEST
    first = P.index(row.p) if row.p is not None else -1, start
    scores: dict[tuple[int, float], float] = {}

    def at(place: tuple[int, float]) -> float:
        if place not in scores:
            p = P[place[0]] if row.p is not None else 0.0
            found = score(p, data.ridge(place[1]))
            scores[place] = found if np.isfinite(found) else -np.inf
        return scores[place]

    def around(place: tuple[int, float], step: float) -> list[tuple[int, float]]:
        i, j = place
        found = [(i, j - step), (i, j + step)]
        found += [(i + d, j) for d in (-1, 1) if row.p is not None and 0 <= i + d < len(P)]
        return [place for place in found if abs(place[1] - first[1]) <= FARTHEST]

    here = first
    for step in (1.0, FINEST):
        while (best := max([here, *around(here, step)], key=at)) != here:
            here = best
    return (P[here[0]] if row.p is not None else 0.0, data.ridge(here[1])), len(scores)
