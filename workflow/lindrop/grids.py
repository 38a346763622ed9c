"""Grids of hyper-parameters, and how jobs share them; light, since the rules need them too."""

import itertools
from collections.abc import Mapping
from typing import Any

AXES = ("p", "lambda")

Point = dict[str, float]


def grid(options: Mapping[str, Any]) -> list[Point]:
    """Every combination of a model's values of p and λ (one empty point if it has neither)."""
    axes = {axis: options[axis] for axis in AXES if axis in options}
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def chunks(n_points: int, per_job: int) -> list[range]:
    """Which points each tuning job takes."""
    starts = range(0, n_points, per_job)
    return [range(start, min(start + per_job, n_points)) for start in starts]
