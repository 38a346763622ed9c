"""Grids of hyper-parameters, and how jobs share them; light, since the rules need them too."""

import itertools
from collections.abc import Mapping
from typing import Any

Point = dict[str, float]


def grid(options: Mapping[str, Any]) -> list[Point]:
    """Every combination of the values that a model's options list (one empty point if none do)."""
    searched = axes(options)
    return [
        dict(zip(searched, values, strict=True)) for values in itertools.product(*searched.values())
    ]


def axes(options: Mapping[str, Any]) -> dict[str, list[float]]:
    """What is searched: the options that list values, in their order."""
    return {name: values for name, values in options.items() if isinstance(values, list)}


def symbol(axis: str) -> str:
    """As papers write it."""
    return "λ" if axis == "lambda" else axis


def chunks(n_points: int, per_job: int) -> list[range]:
    """Which points each tuning job takes."""
    starts = range(0, n_points, per_job)
    return [range(start, min(start + per_job, n_points)) for start in starts]
