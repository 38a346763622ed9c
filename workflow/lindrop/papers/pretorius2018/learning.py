"""When a network has learned a mapping of images, and how figures name networks."""

from collections.abc import Callable, Iterable, Iterator
from typing import cast

import numpy as np
import pandas as pd

from lindrop.base.arrays import Vector
from lindrop.claims.checks import Check, Data
from lindrop.output.figures import COLOURS

LEARNED = 0.1  # a mapping that is more than a start
LATE = 0.1  # of the epochs that a mode takes
NAMES = {"ae": "AE", "wdae": "WDAE", "dae": "DAE"}
OF_KIND = {"ae": COLOURS[0], "wdae": COLOURS[1], "dae": COLOURS[2], "dae_variance": COLOURS[2]}

Part = Callable[[str, str, Data, pd.DataFrame], Iterator[Check]]


def checks_by_set(figure: str, curves: pd.DataFrame, parts: Iterable[Part]) -> list[Check]:
    """A set whose networks have not learned enough yet is silent where another of its kind tells.

    So one set that needs more epochs does not take the verdict of the others.
    """
    found = [
        list(part(figure, str(images), cast(Data, data), of_set))
        for (images, data), of_set in curves.groupby(["images", "data"], sort=False)
        for part in parts
    ]
    told = {(checks[0].claim, checks[0].data) for checks in found if _finite(checks)}
    return [
        check
        for checks in found
        for check in checks
        if _finite(checks) or (check.claim, check.data) not in told
    ]


def _finite(checks: Iterable[Check]) -> bool:
    return all(np.isfinite(check.computed) for check in checks)


def largest(values: "pd.Series[float]") -> float:
    """Not a number if any value is none."""
    return float(values.max(skipna=False))


def half_learned(curves: pd.DataFrame, column: str) -> "pd.Series[float]":
    """By mode and kind, the epoch with half of the last value; not a number where that is small."""
    found = {
        by: _crossing(curve["epoch"].to_numpy(), curve[column].to_numpy())
        for by, curve in curves.groupby(["mode", "kind"])
    }
    return pd.Series(found).rename_axis(["mode", "kind"])


def _crossing(epoch: Vector, values: Vector) -> float:
    """Where a line through the values first reaches half of the last."""
    half = values[-1] / 2
    if values[-1] < LEARNED:
        return float("nan")
    after = max(int(np.argmax(values >= half)), 1)
    return float(np.interp(half, values[after - 1 : after + 1], epoch[after - 1 : after + 1]))
