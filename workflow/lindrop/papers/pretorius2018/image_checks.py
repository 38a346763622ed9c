"""What the theory and the figures of Pretorius 2018 say of images, asked of the tables.

The main paper is not at hand: of the networks' figures, what its abstract says of them is checked.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import cast

import numpy as np
import pandas as pd

from lindrop.base.arrays import Vector
from lindrop.claims.checks import CORRECTED, PRINTED, Check, Data, Form, at_least, at_most, equal

LEARNED = 0.1  # a mapping that is more than a start
LATE = 0.1  # of the epochs that a mode takes
AT_REST = 0.01  # so close to its fixed point a mode is no more on its way
AS_PUBLISHED = 0.03  # of a mapping: what another start and other noise change
ROOM = 0.01  # of a mapping beyond [0, 1]
THEORIES: dict[str, tuple[str, Form]] = {
    "theory": ("the closed form", PRINTED),
    "stepwise": ("the same steps on a mode alone", CORRECTED),
}
Reading = tuple[str, str, str, Form]  # of the authors' values: words, kind, column
READINGS: dict[str, tuple[Reading, ...]] = {  # by the claim they decide
    "ends": (
        ("AE", "ae", "mapping", PRINTED),
        ("WDAE", "wdae", "mapping", PRINTED),
        ("DAE", "dae", "mapping", PRINTED),
    ),
    "noise": (
        ("DAE, noise of variance 2 (text)", "dae_variance", "mapping", PRINTED),
        ("DAE, noise of standard deviation 2 (code)", "dae", "mapping", CORRECTED),
    ),
    "inputs": (
        ("DAE, reconstructions of images", "dae", "clean", PRINTED),
        ("DAE, reconstructions of noisy images (code)", "dae", "mapping", CORRECTED),
    ),
}
Part = Callable[[str, str, Data, pd.DataFrame], Iterator[Check]]


def linear_checks(curves: pd.DataFrame) -> list[Check]:
    """Of images_linear: where modes end, and when they are learned."""
    return _checked("images_linear", curves, (_rest, _times))


def network_checks(figure: str, curves: pd.DataFrame) -> list[Check]:
    """Of supp_fig1 (tanh) or relu; of the latter the authors' last values are known."""
    parts: tuple[Part, ...] = (_likeness, _range)
    return _checked(figure, curves, (*parts, _ends, _noise, _inputs) if figure == "relu" else parts)


def _checked(figure: str, curves: pd.DataFrame, parts: Iterable[Part]) -> list[Check]:
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


def _rest(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    ends = curves[curves["epoch"] == curves["epoch"].max()]
    rest = ends[(ends["theory"] - ends["fixed_point"]).abs() < AT_REST]
    distance = largest((rest["simulated"] - rest["fixed_point"]).abs())
    what = f"{images}: {len(rest)} modes at rest, largest distance to a fixed point"
    yield equal(f"{figure}_ends", what, distance, 0, 2 * AT_REST, data=data)


def _times(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """The closed form is of a flow; of mode 1 the first steps are so long that it is early."""
    learned = half_learned(curves, "simulated")
    for column, (of, form) in THEORIES.items():
        late = largest((learned / half_learned(curves, column) - 1).abs().dropna())
        what = f"{images}: epochs to half of the end, largest relative distance to {of}"
        yield equal(figure, what, late, 0, LATE, form, data)


def _likeness(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Noise shrinks a mapping as weight decay does, but slows less.

    By epochs until a mode has half of its last mapping; of modes that all networks learn.
    """
    half = half_learned(curves, "mapping").unstack("kind").dropna()
    ends = curves.groupby(["mode", "kind"])["mapping"].last().unstack("kind").loc[half.index]
    what = f"{images}: modes {', '.join(map(str, half.index))}, the largest"
    ratios = {
        "last mapping, DAE / AE": (ends["dae"] / ends["ae"], 0),
        "last mapping, WDAE / AE": (ends["wdae"] / ends["ae"], 0),
        "epochs to a half, DAE / WDAE": (half["dae"] / half["wdae"], LATE),
        "epochs to a half, DAE / AE": (half["dae"] / half["ae"], LATE),
    }
    for of, (ratio, tolerance) in ratios.items():
        yield at_most(figure, f"{what} {of}", largest(ratio), 1, tolerance, data=data)


def _range(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Section F: the estimate is in [0, 1]."""
    claim, mapping = f"{figure}_range", curves["mapping"]
    yield at_least(claim, f"{images}: smallest mapping", mapping.min(), 0, ROOM, data=data)
    yield at_most(claim, f"{images}: largest mapping", mapping.max(), 1, ROOM, data=data)


def _ends(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Networks trained as the authors' end as theirs."""
    return _published("ends", figure, images, data, curves)


def _noise(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Which noise gives the authors' values?"""
    return _published("noise", figure, images, data, curves)


def _inputs(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Reconstructions of which inputs give the authors' values?"""
    return _published("inputs", figure, images, data, curves)


def _published(
    claim: str, figure: str, images: str, data: Data, curves: pd.DataFrame
) -> Iterator[Check]:
    """Beside the authors' values; not a number where the training is not theirs."""
    ends = curves[curves["paper"].notna() & (curves["epoch"] == curves["epoch"].max())]
    for reading, kind, column, form in READINGS[claim]:
        of_kind = ends[ends["kind"] == kind]
        distance = largest((of_kind[column] - of_kind["paper"]).abs())
        what = f"{images}: last mapping, largest distance to the authors'; {reading}"
        yield equal(f"{figure}_{claim}", what, distance, 0, AS_PUBLISHED, form, data)


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
