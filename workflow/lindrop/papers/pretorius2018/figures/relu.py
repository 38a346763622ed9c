"""Mappings of images by ReLU networks, and the authors' curves (Pretorius 2018)."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from lindrop.claims.checks import Check, Data, at_least, equal
from lindrop.papers.pretorius2018.figures.supp_fig1 import (
    data,
    draw,
    likeness_checks,
    range_checks,
)
from lindrop.papers.pretorius2018.learning import (
    EPOCHS_TOLERANCE,
    NAMES,
    checks_by_set,
    half_learned,
    largest,
)

__all__ = ["checks", "data", "draw"]

AS_PUBLISHED = 0.03  # tolerance of a mapping for another start and other noise
APART = 0.1  # least distance of another reading, three times this tolerance
KINDS = "ae", "wdae", "dae"
OTHERS = {  # readings that do not give the authors' values, by the claim that they decide
    "noise": ("DAE, noise of variance 2", "dae_variance", "mapping"),
    "inputs": ("DAE, reconstructions of images without noise", "dae", "clean"),
}


def checks(curves: pd.DataFrame) -> list[Check]:
    """Checks of the abstract's statements on networks, and of the authors' curves."""
    parts = (likeness_checks, range_checks, _ends, _curves, _noise, _inputs)
    return checks_by_set("relu", curves, parts)


def _ends(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Checks that networks trained like the authors' end at their values."""
    for kind in KINDS:
        found, what = _distance(curves, kind, "mapping"), NAMES[kind]
        named = f"{images}: last mapping, largest distance to the authors'; {what}"
        yield equal(f"{figure}_ends", named, found, 0, AS_PUBLISHED, data=data)


def _curves(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Checks that they learn every mode when the authors' networks did."""
    theirs = curves[curves["paper"].notna()]
    for kind in KINDS:
        of_kind = theirs[theirs["kind"] == kind]
        found = np.nan
        if len(of_kind):
            late = half_learned(of_kind, "mapping") / half_learned(of_kind, "paper") - 1
            found = largest(late.abs().dropna())
        named = f"{images}: epochs to half of the last mapping over the authors', less 1, largest"
        what = f"{named}; {NAMES[kind]}"
        yield equal(f"{figure}_curves", what, found, 0, EPOCHS_TOLERANCE, data=data)


def _noise(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Checks that noise of standard deviation 2 gives the authors' values, and variance 2 not."""
    return _reading("noise", figure, images, data, curves)


def _inputs(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Checks that noisy images give the authors' values, and images without noise do not."""
    return _reading("inputs", figure, images, data, curves)


def _reading(
    claim: str, figure: str, images: str, data: Data, curves: pd.DataFrame
) -> Iterator[Check]:
    """Checks of the reading of the public code, and that another reading is far from its values."""
    what = f"{images}: last mapping, largest distance to the authors'; DAE of the public code"
    found = _distance(curves, "dae", "mapping")
    yield equal(f"{figure}_{claim}", what, found, 0, AS_PUBLISHED, data=data)
    other, kind, column = OTHERS[claim]
    what = f"{images}: last mapping, largest distance to the authors'; {other}"
    found = _distance(curves, kind, column)
    yield at_least(f"{figure}_{claim}", what, found, APART, data=data)


def _distance(curves: pd.DataFrame, kind: str, column: str) -> float:
    """Largest distance of last mappings to the authors'; NaN if the training is not theirs."""
    ends = curves[curves["paper"].notna() & (curves["epoch"] == curves["epoch"].max())]
    of_kind = ends[ends["kind"] == kind]
    return largest((of_kind[column] - of_kind["paper"]).abs())
