"""Seconds of one core that jobs take: their work, divided by the rate at which it was measured."""

import csv
import itertools
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from lindrop.models.catalogue import CATALOGUE
from lindrop.models.entry import Ranks
from lindrop.planning import work
from lindrop.planning.sizes import DataSize
from lindrop.planning.work import Options
from lindrop.ranking.grids import axes, grid, rank_of_table

RATES = Path(__file__).parent / "rates.csv"
JOBS = Path(__file__).parent / "jobs.csv"
CLIMBS = {1: 3, 2: 8}  # fits of a search after its coarse ones, by the number of axes
RESTARTS = {1: 3, 2: 5}  # fits at each further rank
EVEN = {"wmf"}  # whose operations on rows of factors are as fast for any number of items
ROUGH = 0.6  # share of the iterations that a fit of a search takes, mean over rough and full ones


@cache
def rates() -> Mapping[str, Sequence[tuple[int, float]]]:
    """Measured rates by name: pairs of a number of items and the work done in a second there."""
    found: dict[str, list[tuple[int, float]]] = {}
    with RATES.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rate = float(row["work"]) / max(float(row["seconds"]), 1e-6)
            found.setdefault(row["name"], []).append((int(row["items"]), rate))
    return {name: sorted(pairs) for name, pairs in found.items()}


def rate(name: str, items: int) -> float:
    """Work per second at a number of items: between two measured ones on the line of logarithms.

    The least measured one where it does not depend on the number of items.
    """
    pairs = rates()[name]
    if name in EVEN:
        return min(each for _, each in pairs)
    if items <= pairs[0][0]:
        return pairs[0][1]
    for (left, low), (right, high) in itertools.pairwise(pairs):
        if items <= right:
            share = math.log(items / left) / math.log(right / left)
            return float(low * (high / low) ** share)
    return pairs[-1][1]


@cache
def job_seconds() -> Mapping[str, float]:
    """Measured seconds of the jobs without data, by rule, and `start` of a job's process."""
    with JOBS.open(encoding="utf-8") as file:
        return {row["job"]: float(row["seconds"]) for row in csv.DictReader(file)}


def fit_seconds(model: str, size: DataSize, ranks: Sequence[int], options: Options) -> float:
    """One core's seconds for a fit of one point at all ranks."""
    done = rate(work.rate_name(model, size), size.items)
    return work.FITS[model](size, ranks, options) / done


def evaluation_seconds(model: str, size: DataSize, ranks: Sequence[int], options: Options) -> float:
    """One core's seconds for the metrics of a fit at all ranks."""
    return work.evaluation(model, size, ranks, options) / rate("evaluation", size.items)


def tuning_fits(options: Options, tuning: str, ranks: int = 1, each: bool = False) -> int:
    """Number of fits that tuning makes: all points and, of a search, about as many as it needs.

    `each` says that a fit has the model of one rank only.
    """
    points = len(grid(options))
    if tuning == "grid" or points < 2:
        return points * (ranks if each else 1)
    lengths = [len(values) for values in axes(options).values() if len(values) > 1]
    coarse = math.prod(length // 2 for length in lengths)
    first = coarse + CLIMBS.get(len(lengths), 14)
    return first + (ranks - 1) * (1 + RESTARTS.get(len(lengths), 8)) * each


def tuning_seconds(
    model: str, size: DataSize, ranks: Sequence[int], rank: int, options: Options, tuning: str
) -> float:
    """One core's seconds of all tuning of a model, without the start of its jobs."""
    entry = CATALOGUE[model]
    each = entry.ranks is Ranks.EACH
    if tuning == "grid":
        one = fit_seconds(model, size, ranks, options)
        one += evaluation_seconds(model, size, ranks, options)
        return one * len(grid(options))
    first = rank_of_table(rank, list(ranks))
    looser = ROUGH if "tolerance" in options and each else 1.0
    if not each:
        one = fit_seconds(model, size, ranks, options)
        one += evaluation_seconds(model, size, ranks, options)
        return tuning_fits(options, tuning) * one
    total = 0.0
    for own in ranks:
        one = looser * fit_seconds(model, size, [own], options)
        one += evaluation_seconds(model, size, [own], options)
        fits = tuning_fits(options, tuning)
        total += one * (fits if own == first else tuning_fits(options, tuning, 2, True) - fits)
    return total


def stage_seconds(stage: str, size: DataSize, rank: int) -> float:
    """One core's seconds of `read`, `generate`, `split`, `gram` or `spectrum`."""
    amount: Mapping[str, Any] = {
        "read": size.rows,
        "generate": size.rows,
        "split": size.rows,
        "gram": work.gram(size),
        "spectrum": work.spectrum(size, rank),
    }
    return float(amount[stage]) / rate(stage, size.items)
