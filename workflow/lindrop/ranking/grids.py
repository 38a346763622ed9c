"""Grids of hyper-parameters, their distribution over jobs, and the ranks that a dataset allows.

The rules import this module, too.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from lindrop.base.errors import UserError
from lindrop.base.reporting import logger

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


def usable_ranks(ranks: Sequence[int], items: int) -> list[int]:
    """Distinct ranks below `items`, ascending; UserError if there is none.

    `items` is the largest rank that the data can have: the number of items, or of users if smaller.
    """
    usable = sorted(rank for rank in set(ranks) if rank < items)
    if not usable:
        raise UserError(
            f"the training data have rank {items} at most, and no configured rank is below "
            "that: set a smaller `rank` or `ranks`"
        )
    if len(usable) < len(set(ranks)):
        logger.info("ranks from %d on are left out: no more items or users", items)
    return usable


def rank_of_table(rank: int, usable: Sequence[int]) -> int:
    """The configured rank if it is usable, else the largest usable rank."""
    return rank if rank in usable else max(usable)
