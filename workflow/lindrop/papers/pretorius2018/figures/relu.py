"""What ReLU networks learn of images, and where the authors' own end (Pretorius 2018)."""

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

AS_PUBLISHED = 0.03  # of a mapping: what another start and other noise change
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


def checks(curves: pd.DataFrame) -> list[Check]:
    """What the abstract says of networks, and the authors' last values."""
    parts = (likeness_checks, range_checks, _ends, _noise, _inputs)
    return checks_by_set("relu", curves, parts)


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
