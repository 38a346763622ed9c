"""Checks by set of images, epochs until a mapping is learned, and names of networks in figures."""

from collections.abc import Callable, Iterable, Iterator
from typing import cast

import numpy as np
import pandas as pd

from lindrop.base.arrays import Vector
from lindrop.claims.checks import Check, Data
from lindrop.output.figures import COLOURS

LEARNED = 0.1  # least mapping of a mode that counts as learned
EPOCHS_TOLERANCE = 0.1  # relative tolerance when numbers of epochs are compared
NAMES = {"ae": "AE", "wdae": "WDAE", "dae": "DAE"}
OF_KIND = {"ae": COLOURS[0], "wdae": COLOURS[1], "dae": COLOURS[2], "dae_variance": COLOURS[2]}

Part = Callable[[str, str, Data, pd.DataFrame], Iterator[Check]]


def checks_by_set(figure: str, curves: pd.DataFrame, parts: Iterable[Part]) -> list[Check]:
    """Checks of all sets of images, without undecided ones that another set decides.

    Checks are undecided if the networks have not learned enough. If a set of the same kind of data
    decides the same claim, they are left out, so one set that needs more epochs does not spoil the
    verdict.
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
    """The largest value, or NaN if any value is NaN."""
    return float(values.max(skipna=False))


def half_learned(curves: pd.DataFrame, column: str) -> "pd.Series[float]":
    """Epoch with half of the last value, by mode and kind; NaN if the last value is small."""
    found = {
        by: _crossing(curve["epoch"].to_numpy(), curve[column].to_numpy())
        for by, curve in curves.groupby(["mode", "kind"])
    }
    return pd.Series(found).rename_axis(["mode", "kind"])


def _crossing(epoch: Vector, values: Vector) -> float:
    """Epoch at which a line through the values first reaches half of the last value."""
    half = values[-1] / 2
    if values[-1] < LEARNED:
        return float("nan")
    after = max(int(np.argmax(values >= half)), 1)
    return float(np.interp(half, values[after - 1 : after + 1], epoch[after - 1 : after + 1]))
