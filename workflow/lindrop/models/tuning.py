"""Grid search: fits at every point, validation metrics, the choice of a point, the final test."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any

import pandas as pd
import scipy.sparse as sp

from lindrop.base.arrays import Vector
from lindrop.base.errors import Unsolvable, UserError
from lindrop.base.reporting import Progress, logger
from lindrop.base.stopwatch import Cost, Stopwatch
from lindrop.models.base import Fit, Training, Validation, bytes_of, is_zero
from lindrop.models.catalogue import CATALOGUE
from lindrop.models.entry import Entry
from lindrop.models.memory import Size
from lindrop.ranking.evaluation import evaluate, summary
from lindrop.ranking.grids import Point, axes, grid, rank_of_table, symbol, usable_ranks
from lindrop.ranking.metrics import CRITERION

ROUGH = "rough"  # column of the trials of a search: whether the fit was a rough one


def solver_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that are passed on to the solver (iterations, tolerance, …), not axes of the grid."""
    return {key: value for key, value in options.items() if key not in axes(options)}


def parameters(point: Mapping[str, float], options: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments of a fit; the axis `lambda`, a keyword of Python, is named `ridge`."""
    named = {"ridge" if axis == "lambda" else axis: value for axis, value in point.items()}
    return named | solver_options(options)


def ranks_of(name: str, rank: int, ranks: Sequence[int], data: Training) -> list[int]:
    """Ranks at which a model is fitted; for one without a rank, the number of items."""
    if not CATALOGUE[name].low_rank:
        return [data.items]
    usable = usable_ranks([*ranks, rank], data.largest_rank)
    return [rank_of_table(rank, usable)] if CATALOGUE[name].one_rank else usable


def tune(
    data: Training,
    name: str,
    points: Sequence[Point],
    ranks: Sequence[int],
    options: Mapping[str, Any],
    fold_in: sp.csr_array,
    held_out: sp.csr_array,
    models: Mapping[str, Entry] = CATALOGUE,
) -> pd.DataFrame:
    """Table of validation metrics, one row for every point of the grid and every rank."""
    trials = Trials(data, name, ranks, options, Validation(fold_in, held_out), models)
    progress = Progress(name, len(points) * len(ranks), unit="fits")
    rows = []
    for point in points:
        for row in trials.of(point, ranks, options):
            rows.append(row)
            progress.advance(1)
    logger.info("%s", progress)
    return pd.DataFrame(rows)


class Trials:
    """Fits of a model at points of its grid, each judged by the validation users."""

    def __init__(
        self,
        data: Training,
        name: str,
        ranks: Sequence[int],
        options: Mapping[str, Any],
        users: Validation,
        models: Mapping[str, Entry] = CATALOGUE,
    ):
        self.data, self.name, self.entry, self.users = data, name, models[name], users
        self.entry.require_memory(Size.of(data, users.fold_in.shape[0]), ranks, **options)
        self.last: Any = None  # model of the last fit, from which the next one starts

    def of(
        self, point: Point, ranks: Sequence[int], options: Mapping[str, Any]
    ) -> Iterator[dict[str, Any]]:
        """Rows of the table of trials: this point at each of the ranks."""
        data, entry = self.data, self.entry
        start, done = time.perf_counter(), []
        warm = {"start": self.last} if entry.warm else {}
        try:
            for rank, fit in entry.fits(data, ranks, **parameters(point, options), **warm):
                seconds = fit.earlier.seconds + time.perf_counter() - start
                self.last = fit.model if entry.warm else None
                row: dict[str, Any] = {"model": self.name, "rank": rank, **point}
                row |= _means(fit, data, *self.users)
                row |= {"iterations": len(fit.history), "converged": fit.converged}
                row |= {"precision": fit.precision}
                del fit  # or its matrix would stay in memory beside the next point's
                done.append(rank)
                yield row | {"seconds": round(seconds, 3)}
                start = time.perf_counter()
        except Unsolvable as error:  # the other points of the grid may still succeed
            failed = [rank for rank in ranks if rank not in done]
            logger.warning("%s at rank %s, %s: left out: %s", self.name, failed, point, error)
            nothing = dict.fromkeys(data.metrics, float("nan"))
            yield from ({"model": self.name, "rank": rank, **point} | nothing for rank in failed)


def _means(
    fit: Fit, data: Training, fold_in: sp.csr_array, held_out: sp.csr_array
) -> dict[str, float]:
    """Every metric, as a mean over the users; NaN for a zero model, since all its scores tie."""
    if is_zero(fit.model, data.items):
        logger.warning("the model is zero (its penalty is too large): left out")
        return dict.fromkeys(data.metrics, float("nan"))
    result = evaluate(fit.model, fold_in, held_out, data.metrics, data.shares)
    found = {str(name): float(mean) for name, mean in summary(result.per_user)["mean"].items()}
    found |= result.overall
    return {name: found[name] for name in data.metrics}


def only_choice(options: Mapping[str, Any], ranks: Sequence[int]) -> pd.DataFrame:
    """Table of choices for a grid of a single point, which needs no validation."""
    (point,) = grid(options)
    return pd.DataFrame([{"rank": rank, **point, "edge": ""} for rank in ranks])


def choose(
    trials: pd.DataFrame, options: Mapping[str, Any], criterion: str = CRITERION
) -> pd.DataFrame:
    """Table with the best point of each rank by the metric `criterion`.

    Its column `edge` names the axes on which a point has the smallest or largest value of the grid
    and of the points that were tried at its rank. Where a search fitted the best points again, only
    these are compared. Ranks at which no point gave a usable model are left out.
    """
    # the tables of several jobs were joined, so row numbers repeat
    finite = trials.dropna(subset=[criterion]).reset_index(drop=True)
    if finite.empty:
        raise UserError(
            "no point of the grid gave a usable model (see the logs of its tuning), or no "
            "validation user has held-out items"
        )
    if ROUGH in finite:
        again = finite.groupby("rank")[ROUGH].transform("min")
        finite = finite[finite[ROUGH] == again].reset_index(drop=True)
    best = finite.loc[finite.groupby("rank")[criterion].idxmax()].reset_index(drop=True)
    edges = []
    for _, row in best.iterrows():
        tried = trials[trials["rank"] == row["rank"]]
        wider = {
            axis: [*values, *tried[axis]] if len(values) > 1 else values
            for axis, values in axes(options).items()
        }
        edges.append(edge_of_grid(dict(row), wider))
    for rank, edge in zip(best["rank"], edges, strict=True):
        if edge:
            logger.warning("rank %d: the chosen %s is on the edge of its grid", rank, edge)
    return best.drop(columns=ROUGH, errors="ignore").assign(edge=edges)


def chosen_text(name: str, result: "Tested") -> str:
    """Chosen parameters and warnings, such as `rank=150 p=0.35 λ=100 (edge: λ)`."""
    values = {"rank": result.rank} if CATALOGUE[name].low_rank else {}
    values |= {symbol(axis): value for axis, value in result.parameters.items()}
    parts = [f"{axis}={value:g}" for axis, value in values.items()]
    if result.edge:
        parts.append(f"(edge: {result.edge})")
    if not result.converged:
        parts.append("(not converged)")
    return " ".join(parts)


def number_of(chosen: Mapping[str, Any], options: Mapping[str, Any]) -> int:
    """Index of the chosen point in the grid, counted from 0."""
    return grid(options).index({axis: chosen[axis] for axis in axes(options)})


def edge_of_grid(point: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """Axes on which a point has the smallest or largest value, comma-separated.

    The value 0 is never an edge, since no smaller value exists.
    """
    return ", ".join(
        symbol(axis)
        for axis, values in axes(options).items()
        if len(values) > 1 and point[axis] in (min(values), max(values)) and point[axis] > 0
    )


@dataclass(frozen=True)
class Tested:
    """Chosen point of a model at one rank, its test metrics per user, and the cost of the fit."""

    rank: int
    parameters: dict[str, Any]
    edge: str
    converged: bool
    per_user: pd.DataFrame  # users × metrics
    cost: Cost
    overall: Mapping[str, float] = field(default_factory=dict)  # metrics of the whole model
    groups: pd.DataFrame = field(default_factory=pd.DataFrame)  # of ranking.evaluation.Evaluation
    model_megabytes: float = nan  # of its arrays


def refit(
    data: Training,
    name: str,
    chosen: pd.DataFrame,
    options: Mapping[str, Any],
    fold_in: sp.csr_array,
    held_out: sp.csr_array,
    models: Mapping[str, Entry] = CATALOGUE,
    shares: Vector | None = None,
) -> dict[int, tuple[Tested, Fit]]:
    """Fit the chosen point of every rank and evaluate it on the test users; results are by rank.

    Ranks that share a point are fitted in one call. `shares` is the share of the users that have
    each item, where `data` is not all of the training part by which items are popular.
    """
    searched, entry = list(axes(options)), models[name]
    edges = dict(zip(chosen["rank"], chosen["edge"], strict=True))
    entry.require_memory(Size.of(data, fold_in.shape[0]), list(edges), **options)
    shares = data.shares if shares is None else shares
    results = {}
    for values in chosen[searched].drop_duplicates().to_numpy():
        point = dict(zip(searched, map(float, values), strict=True))
        ranks = [int(r) for r in chosen["rank"][(chosen[searched] == values).all(axis=1)]]
        watch = Stopwatch()
        timed = replace(data, read_gram=watch.paused(data.read_gram))
        if data.read_triangle is not None:
            timed = replace(timed, read_triangle=watch.paused(data.read_triangle))
        for rank, fit in entry.fits(timed, ranks, **parameters(point, options)):
            if is_zero(fit.model, data.items):
                raise UserError(f"{name} at {point}: the model is zero (its penalty is too large)")
            cost = watch.cost(fit.earlier)
            found = watch.paused(evaluate)(
                fit.model, fold_in, held_out, data.metrics, shares, by_groups=True
            )
            tested = Tested(
                *(rank, point, str(edges[rank]), fit.converged),
                *(found.per_user, cost, found.overall, found.groups),
                model_megabytes=bytes_of(fit.model) / 1e6,
            )
            results[rank] = tested, fit
    return dict(sorted(results.items()))
