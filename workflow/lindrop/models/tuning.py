"""Grid search: fits at every point, validation metrics, the choice of a point, the final test."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from lindrop.base.errors import Unsolvable, UserError
from lindrop.base.reporting import Progress, logger
from lindrop.base.stopwatch import Cost, Stopwatch
from lindrop.models.base import Fit, LowRank, SparseItems, Training
from lindrop.models.catalogue import CATALOGUE
from lindrop.models.entry import Entry
from lindrop.models.memory import Size
from lindrop.ranking.evaluation import evaluate, summary
from lindrop.ranking.grids import Point, axes, grid, rank_of_table, symbol, usable_ranks
from lindrop.ranking.metrics import CRITERION, METRICS

NOTHING = dict.fromkeys(METRICS, float("nan"))


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
    entry = models[name]
    return pd.DataFrame(_trials(data, name, entry, points, ranks, options, fold_in, held_out))


def _trials(
    data: Training,
    name: str,
    entry: Entry,
    points: Sequence[Point],
    ranks: Sequence[int],
    options: Mapping[str, Any],
    fold_in: sp.csr_array,
    held_out: sp.csr_array,
) -> Iterator[dict[str, Any]]:
    entry.require_memory(Size.of(data, fold_in.shape[0]), ranks, **options)
    progress = Progress(name, len(points) * len(ranks), unit="fits")
    last = None
    for point in points:
        start, done = time.perf_counter(), []
        warm = {"start": last} if entry.warm else {}
        try:
            for rank, fit in entry.fits(data, ranks, **parameters(point, options), **warm):
                seconds = fit.earlier.seconds + time.perf_counter() - start
                last = fit.model if entry.warm else None
                row: dict[str, Any] = {"model": name, "rank": rank, **point}
                row |= _means(fit, fold_in, held_out)
                row |= {"iterations": len(fit.history), "converged": fit.converged}
                row |= {"precision": fit.precision}
                del fit  # or its matrix would stay in memory beside the next point's
                done.append(rank)
                yield row | {"seconds": round(seconds, 3)}
                progress.advance(1)
                start = time.perf_counter()
        except Unsolvable as error:  # the other points of the grid may still succeed
            failed = [rank for rank in ranks if rank not in done]
            logger.warning("%s at rank %s, %s: left out: %s", name, failed, point, error)
            yield from ({"model": name, "rank": rank, **point} | NOTHING for rank in failed)
    logger.info("%s", progress)


def _means(fit: Fit, fold_in: sp.csr_array, held_out: sp.csr_array) -> dict[str, float]:
    """Mean of every metric over the users; NaN for a model that is zero, since all scores tie."""
    if _is_zero(fit):
        logger.warning("the model is zero (its penalty is too large): left out")
        return NOTHING
    result = summary(evaluate(fit.model, fold_in, held_out))
    return {metric: float(mean) for metric, mean in zip(METRICS, result["mean"], strict=True)}


def _is_zero(fit: Fit) -> bool:
    model = fit.model
    return (isinstance(model, LowRank) and not model.encoder.any()) or (
        isinstance(model, SparseItems) and not model.data.any()
    )


def only_choice(options: Mapping[str, Any], ranks: Sequence[int]) -> pd.DataFrame:
    """Table of choices for a grid of a single point, which needs no validation."""
    (point,) = grid(options)
    return pd.DataFrame([{"rank": rank, **point, "edge": ""} for rank in ranks])


def choose(trials: pd.DataFrame, options: Mapping[str, Any]) -> pd.DataFrame:
    """Table with the best point of each rank by the metric `CRITERION`.

    Its column `edge` names the axes of the grid on which a point has the smallest or largest value.
    Ranks at which no point gave a usable model are left out.
    """
    # the tables of several jobs were joined, so row numbers repeat
    finite = trials.dropna(subset=[CRITERION]).reset_index(drop=True)
    if finite.empty:
        raise UserError(
            "no point of the grid gave a usable model (see the logs of its tuning), or no "
            "validation user has held-out items"
        )
    best = finite.loc[finite.groupby("rank")[CRITERION].idxmax()].reset_index(drop=True)
    edges = [edge_of_grid(dict(row), options) for _, row in best.iterrows()]
    for rank, edge in zip(best["rank"], edges, strict=True):
        if edge:
            logger.warning("rank %d: the chosen %s is on the edge of its grid", rank, edge)
    return best.assign(edge=edges)


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
    per_user: npt.NDArray[np.float64]
    cost: Cost


def refit(
    data: Training,
    name: str,
    chosen: pd.DataFrame,
    options: Mapping[str, Any],
    fold_in: sp.csr_array,
    held_out: sp.csr_array,
    models: Mapping[str, Entry] = CATALOGUE,
) -> dict[int, tuple[Tested, Fit]]:
    """Fit the chosen point of every rank and evaluate it on the test users; results are by rank.

    Ranks that share a point are fitted in one call.
    """
    searched, entry = list(axes(options)), models[name]
    edges = dict(zip(chosen["rank"], chosen["edge"], strict=True))
    entry.require_memory(Size.of(data, fold_in.shape[0]), list(edges), **options)
    results = {}
    for values in chosen[searched].drop_duplicates().to_numpy():
        point = dict(zip(searched, map(float, values), strict=True))
        ranks = [int(r) for r in chosen["rank"][(chosen[searched] == values).all(axis=1)]]
        watch = Stopwatch()
        timed = replace(data, read_gram=watch.paused(data.read_gram))
        for rank, fit in entry.fits(timed, ranks, **parameters(point, options)):
            if _is_zero(fit):
                raise UserError(f"{name} at {point}: the model is zero (its penalty is too large)")
            cost = watch.cost(fit.earlier)
            per_user = watch.paused(evaluate)(fit.model, fold_in, held_out)
            tested = Tested(rank, point, str(edges[rank]), fit.converged, per_user, cost)
            results[rank] = tested, fit
    return dict(sorted(results.items()))
