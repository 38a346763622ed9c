"""Steck 2020, Table 1: how much of each difference is regularisation, and how much is training.

Rows 1 to 5 are trained by the published procedure and solved exactly, on several splits of a
dataset. This module makes the models and judges them; `figures/attribution.py` compares them.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

from lindrop.base.errors import Unsolvable
from lindrop.base.reporting import Progress, logger
from lindrop.data.interactions import Ids
from lindrop.data.split import Protocol, Split, split
from lindrop.models.base import Fit, LowRank
from lindrop.papers.steck2020.procedures import (
    ROWS,
    SEEDS,
    Data,
    Point,
    Row,
    aim_of_printed_updates,
    printed_point,
    search,
)
from lindrop.ranking.evaluation import Model, evaluate, summary
from lindrop.ranking.grids import rank_of_table, usable_ranks
from lindrop.ranking.metrics import CRITERION, DEFAULT
from lindrop.store.interactions import read_interactions

PUBLISHED = "as published"
SAME = "optimum"  # of the objective at the point of the published procedure
EXACT = "exact"  # the optimum at the point that is tuned for it
AT_REST = "printed updates"  # where the supplement's equations for row 5 lead
STARTS = 3  # random starts of the published procedure
RESTED = 1e-3  # largest gap of a training that is at rest, relative to the optimum
TIGHT = {"edlae": {"iterations": 300, "tolerance": 1e-6}}  # of the optima that gaps refer to


class Held(NamedTuple):
    """Interactions of held-out users: what a model sees, and what it is to predict."""

    fold_in: sp.csr_array
    held_out: sp.csr_array

    def per_user(self, model: Model) -> pd.DataFrame:
        """Metrics of every user; NaN of a training that diverged."""
        try:
            with np.errstate(all="ignore"):
                return evaluate(model, *self).per_user
        except Unsolvable:
            users = pd.RangeIndex(self.fold_in.shape[0])
            return pd.DataFrame(np.nan, users, list(DEFAULT))

    def score(self, model: Model) -> float:
        """The criterion, as a mean over users."""
        return float(summary(self.per_user(model))["mean"][CRITERION])


def another_split(protocol: Protocol, number: int) -> Protocol:
    """Protocol of a split by number; number 0 is the configured one."""
    return replace(protocol, seed=(protocol.seed + number) % SEEDS)


@dataclass(frozen=True)
class Trial:
    """A model on one split: which row it is, how it was made, and at which point."""

    row: Row
    procedure: str
    point: Point
    model: LowRank
    converged: bool = False
    times: int = 1  # the published number of epochs
    seed: int = 0  # number of the random start
    seconds: float = 0.0
    points: int = 0  # that the search tried

    def facts(self) -> dict[str, Any]:
        """What is known of the model without judging it."""
        return {
            "row": self.row.number,
            "procedure": self.procedure,
            "times": self.times,
            "seed": self.seed,
            "p": self.point.p,
            "lambda": self.point.ridge,
            "epochs": self.point.epochs * self.times,
            "converged": self.converged,
            "points": self.points,
            "seconds": round(self.seconds, 2),
        }


@dataclass(frozen=True)
class Study:
    """Models of one split; `paper` is the paper's name of a dataset of the paper."""

    data: Data
    validation: Held
    test: Held
    users: Ids  # raw ids of the test users
    paper: str | None = None

    @classmethod
    def of(
        cls, split: Split, rank: int, ranks: Sequence[int], paper: str | None, seed: int = 1
    ) -> "Study":
        """Study of a split at the rank of Table 1; `seed` is that of the configuration."""
        parts = ("validation/fold_in", "validation/held_out", "test/fold_in", "test/held_out")
        matrices = [split.matrix(part) for part in ("train", *parts)]
        for matrix in matrices:
            matrix.sum_duplicates()
        x, *held = matrices
        usable = usable_ranks([*ranks, rank], min(x.shape))
        data = Data(x, rank_of_table(rank, usable), paper is not None, seed)
        users = split.users[np.array(split.user_range("test/fold_in"))]
        return cls(data, Held(*held[:2]), Held(*held[2:]), users, paper)

    @classmethod
    def read(
        cls,
        interactions: str,
        protocol: Protocol,
        rank: int = 1,
        ranks: Sequence[int] = (),
        paper: str | None = None,
        seed: int = 1,
    ) -> "Study":
        """Study of a split that the protocol makes of a file of interactions."""
        found, _ = read_interactions(interactions)
        return cls.of(split(found, protocol), rank, ranks, paper, seed)

    def trials(self) -> Iterator[Trial]:
        """Every row as published, the optimum at its point, and the optimum at its own point."""
        progress = Progress("attribution", len(ROWS), unit="rows")
        tuned: dict[str, Trial] = {}
        for row in ROWS:
            published = self.tuned_training(row)
            yield published
            yield self._optimum(row, SAME, published.point)
            if row.model == "edlae":
                aim = aim_of_printed_updates(published.point, self.data.omega)
                yield self._optimum(row, AT_REST, aim)
            if row.exact not in tuned:  # the optimum of row 4 is that of row 3
                tuned[row.exact] = self._tuned_optimum(row)
            yield replace(tuned[row.exact], row=row)
            progress.advance(1)

    def longer(self, row: Row, point: Point, times: Sequence[int]) -> Iterator[Trial]:
        """Trainings of one row at one point: other random starts, then more epochs.

        `times`, in ascending order, says how many times the published number of epochs.
        """
        for start in range(STARTS):
            for _, model in self._train(row, point, [point.epochs], start):
                yield Trial(row, PUBLISHED, point, model, seed=start)
        begun = time.perf_counter()
        for epochs, model in self._train(row, point, [point.epochs * n for n in times]):
            seconds = time.perf_counter() - begun
            more = epochs // point.epochs
            yield Trial(row, PUBLISHED, point, model, times=more, seconds=seconds)
        yield self._optimum(row, SAME, point)

    def tuned_training(self, row: Row) -> Trial:
        """The published procedure at the paper's point, or at the one that is tuned for it."""
        start = time.perf_counter()
        best: dict[tuple[float, float], int] = {}

        def score(p: float, ridge: float) -> float:
            trained = self._train(row, Point(p, ridge), row.epochs)
            found = {epochs: self.validation.score(model) for epochs, model in trained}
            usable = {epochs: value for epochs, value in found.items() if np.isfinite(value)}
            best[p, ridge] = max(usable, key=usable.__getitem__, default=row.epochs[0])
            return usable.get(best[p, ridge], np.nan)

        if self.paper:
            point, tried = printed_point(self.paper, row, self.data.x.shape), 0
        else:
            chosen, tried = search(self.data, row, score)
            point = Point(*chosen, best[chosen])
        ((_, model),) = self._train(row, point, [point.epochs])
        seconds = time.perf_counter() - start
        logger.info("%s as published: %s, %d points", row.model, point, tried)
        return Trial(row, PUBLISHED, point, model, seconds=seconds, points=tried)

    def _train(
        self, row: Row, point: Point, epochs: Sequence[int], start: int = 0
    ) -> Iterator[tuple[int, LowRank]]:
        """Models after these numbers of epochs, in ascending order, each with its number.

        `start` is the number of the random start.

        Where a training diverges until its numbers are no more finite, its models are NaN.
        """
        wanted, model, seed = list(epochs), None, self.data.seed_of(start)
        try:
            with np.errstate(all="ignore"):
                for epoch, model in enumerate(self.data.published(row, point, seed), 1):
                    if not np.isfinite(model.decoder[0, 0]):
                        break
                    if epoch == wanted[0]:
                        yield wanted.pop(0), model
                    if not wanted:
                        return
        except (np.linalg.LinAlgError, Unsolvable):
            logger.info("row %d diverges at %s", row.number, point)
        nothing = np.full((self.data.x.shape[1], 1), np.nan, np.float32)
        for left in wanted:
            yield left, LowRank(nothing, nothing)

    def _tuned_optimum(self, row: Row) -> Trial:
        start = time.perf_counter()

        def score(p: float, ridge: float) -> float:
            try:
                model = low_rank(self.data.exact(row, Point(p, ridge)))
            except Unsolvable:
                return np.nan
            return self.validation.score(model) if model.encoder.any() else np.nan

        chosen, tried = search(self.data, row, score)
        found = self._optimum(row, EXACT, Point(*chosen))
        return replace(found, seconds=time.perf_counter() - start, points=tried)

    def _optimum(self, row: Row, procedure: str, point: Point) -> Trial:
        start = time.perf_counter()
        fit = self.data.exact(row, point, **TIGHT.get(row.exact, {}))
        seconds = time.perf_counter() - start
        return Trial(row, procedure, point, low_rank(fit), fit.converged, seconds=seconds)

    def results(self, trials: Iterable[Trial]) -> tuple[pd.DataFrame, pd.DataFrame]:
        """A line for every model, and the criterion of every test user by row and procedure.

        `gap` is how far a training's objective is above the optimum's, relative to the latter; a
        training is called converged where that is at most `RESTED`.
        """
        lines: list[dict[str, Any]] = []
        users: dict[str, Any] = {"user": self.users}
        for trial in trials:
            with np.errstate(all="ignore"):
                value = self.data.objective(trial.row, trial.point, trial.model)
            per_user = self.test.per_user(trial.model)
            lines.append(trial.facts() | {"rank": self.data.rank, "objective": value})
            means = summary(per_user)["mean"]
            lines[-1] |= {metric: float(means[metric]) for metric in DEFAULT}
            if trial.times == 1 and not trial.seed:
                users[column(trial.row.number, trial.procedure)] = per_user[CRITERION]
        found = pd.DataFrame(lines)
        optima = found[found["procedure"] == SAME].set_index("row")["objective"]
        trained = found["procedure"] == PUBLISHED
        found["gap"] = (found["objective"] / found["row"].map(optima) - 1).where(trained)
        found["converged"] |= found["gap"].abs() <= RESTED
        return found, pd.DataFrame(users)


def column(row: int, procedure: str) -> str:
    """Column of the test users' criterion, such as `3 exact`."""
    return f"{row} {procedure}"


def low_rank(fit: Fit) -> LowRank:
    """The model of a fit of rows 1 to 5."""
    assert isinstance(fit.model, LowRank)
    return fit.model
