"""What the theory and the figures of Pretorius 2018 say of images, asked of the tables.

The main paper is not at hand: of the networks' figures, what they show is checked.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from lindrop.arrays import Vector
from lindrop.checks import CORRECTED, PRINTED, Check, Form, at_least, at_most, equal

LEARNED = 0.1  # a mapping that is more than a start
LATE = 0.1  # of the epochs that a mode takes
AT_REST = 0.01  # so close to its fixed point a mode is no more on its way
AS_PUBLISHED = 0.03  # of a mapping: what another start and other noise change
THEORIES: dict[str, tuple[str, Form]] = {
    "theory": ("the closed form", PRINTED),
    "stepwise": ("the same steps on a mode alone", CORRECTED),
}
READINGS: dict[str, tuple[str, str, Form]] = {  # of the authors' values: kind, column, form
    "AE": ("ae", "mapping", PRINTED),
    "WDAE": ("wdae", "mapping", PRINTED),
    "DAE, noise of variance 2 (text)": ("dae_variance", "mapping", PRINTED),
    "DAE, noise of standard deviation 2 (code)": ("dae", "mapping", CORRECTED),
    "DAE (code), of images without noise": ("dae", "clean", PRINTED),
}


def linear_checks(curves: pd.DataFrame) -> list[Check]:
    """Of images_linear: where modes end, and when they are learned.

    The closed form is of a flow. The first steps on mode 1 are long: it grows by half and more.
    """
    found: list[Check] = []
    for images, of_set in curves.groupby("images", sort=False):
        ends = of_set[of_set["epoch"] == of_set["epoch"].max()]
        rest = ends[(ends["theory"] - ends["fixed_point"]).abs() < AT_REST]
        distance = largest((rest["simulated"] - rest["fixed_point"]).abs())
        what = f"{images}: {len(rest)} modes at rest, largest distance to a fixed point"
        found.append(equal("images_linear", what, distance, 0, 2 * AT_REST))
        learned = half_learned(of_set, "simulated")
        for column, (of, form) in THEORIES.items():
            late = largest((learned / half_learned(of_set, column) - 1).abs().dropna())
            what = f"{images}: epochs to half of the end, largest relative distance to {of}"
            found.append(equal("images_linear", what, late, 0, LATE, form))
    return found


def network_checks(claim: str, curves: pd.DataFrame) -> list[Check]:
    """Of supp_fig1 (tanh) or relu: noise shrinks a mapping as weight decay does, but slows less."""
    return [
        check
        for images, of_set in curves.groupby("images", sort=False)
        for part in (_range, _speed, _published)
        for check in part(claim, str(images), of_set)
    ]


def _range(claim: str, images: str, curves: pd.DataFrame) -> Iterator[Check]:
    """Section F: the estimate is in [0, 1]."""
    mapping = curves["mapping"]
    yield at_least(claim, f"{images}: smallest mapping", -largest(-mapping), 0, 0.01)
    yield at_most(claim, f"{images}: largest mapping", largest(mapping), 1, 0.01)


def _speed(claim: str, images: str, curves: pd.DataFrame) -> Iterator[Check]:
    """By epochs until a mode has half of its last mapping; of modes that all networks learn."""
    half = half_learned(curves, "mapping").unstack("kind").dropna()
    ends = curves.groupby(["mode", "kind"])["mapping"].last().unstack("kind").loc[half.index]
    what = f"{images}: modes {', '.join(map(str, half.index))}, the largest"
    ratios = {
        "last mapping, DAE / AE": (ends["dae"] / ends["ae"], 0),
        "epochs to a half, DAE / WDAE": (half["dae"] / half["wdae"], LATE),
        "epochs to a half, DAE / AE": (half["dae"] / half["ae"], LATE),
    }
    for of, (ratio, tolerance) in ratios.items():
        yield at_most(claim, f"{what} {of}", largest(ratio), 1, tolerance)


def _published(claim: str, images: str, curves: pd.DataFrame) -> Iterator[Check]:
    """Beside the authors' values, where they are of the same training: which noise gives them?"""
    ends = curves[curves["paper"].notna() & (curves["epoch"] == curves["epoch"].max())]
    for reading, (kind, column, form) in READINGS.items():
        of_kind = ends[ends["kind"] == kind]
        if not of_kind.empty:
            distance = largest((of_kind[column] - of_kind["paper"]).abs())
            what = f"{images}: last mapping, largest distance to the authors'; {reading}"
            yield equal(claim, what, distance, 0, AS_PUBLISHED, form)


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
