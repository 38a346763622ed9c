"""Grids of hyper-parameters, and their distribution over jobs; imported by the rules, too."""

import itertools
from collections.abc import Mapping
from typing import Any

Point = dict[str, float]


def grid(options: Mapping[str, Any]) -> list[Point]:
    """All combinations of the values that a model's options list; one empty point if none do."""
    searched = axes(options)
    return [
        dict(zip(searched, values, strict=True)) for values in itertools.product(*searched.values())
    ]


def axes(options: Mapping[str, Any]) -> dict[str, list[float]]:
    """Options of a model that list values, which are the axes of its grid, in order."""
    return {name: values for name, values in options.items() if isinstance(values, list)}


def symbol(axis: str) -> str:
    """Name of an axis as papers write it: λ for `lambda`."""
    return "λ" if axis == "lambda" else axis


def chunks(n_points: int, per_job: int) -> list[range]:
    """Indices of the grid points that each tuning job evaluates, `per_job` at most."""
    starts = range(0, n_points, per_job)
    return [range(start, min(start + per_job, n_points)) for start in starts]
