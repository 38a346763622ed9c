"""Mappings of images by ReLU networks, and the final values of the authors' (Pretorius 2018)."""

from collections.abc import Iterator

import pandas as pd

from lindrop.claims.checks import CORRECTED, PRINTED, Check, Data, Form, equal
from lindrop.papers.pretorius2018.figures.supp_fig1 import (
    data,
    draw,
    likeness_checks,
    range_checks,
)
from lindrop.papers.pretorius2018.learning import checks_by_set, largest

__all__ = ["checks", "data", "draw"]

AS_PUBLISHED = 0.03  # tolerance of a mapping for another start and other noise
Reading = tuple[str, str, str, Form]  # a reading of the authors' values: words, kind, column
READINGS: dict[str, tuple[Reading, ...]] = {  # readings by the claim that they decide
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


def checks(curves: pd.DataFrame) -> list[Check]:
    """Checks of the abstract's statements on networks, and of the authors' last values."""
    parts = (likeness_checks, range_checks, _ends, _noise, _inputs)
    return checks_by_set("relu", curves, parts)


def _ends(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Checks that networks trained like the authors' end at their values."""
    return _published("ends", figure, images, data, curves)


def _noise(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Checks of which noise reproduces the authors' values."""
    return _published("noise", figure, images, data, curves)


def _inputs(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Checks of which inputs' reconstructions reproduce the authors' values."""
    return _published("inputs", figure, images, data, curves)


def _published(
    claim: str, figure: str, images: str, data: Data, curves: pd.DataFrame
) -> Iterator[Check]:
    """Checks of last mappings against the authors'; NaN if the training differs from theirs."""
    ends = curves[curves["paper"].notna() & (curves["epoch"] == curves["epoch"].max())]
    for reading, kind, column, form in READINGS[claim]:
        of_kind = ends[ends["kind"] == kind]
        distance = largest((of_kind[column] - of_kind["paper"]).abs())
        what = f"{images}: last mapping, largest distance to the authors'; {reading}"
        yield equal(f"{figure}_{claim}", what, distance, 0, AS_PUBLISHED, form, data)
