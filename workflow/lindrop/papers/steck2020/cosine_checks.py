"""Steck 2020, Section 6: what the text says of Figure 1 (center and right), from its own data."""

import pandas as pd

from lindrop.claims.checks import Check, at_least, at_most
from lindrop.papers.steck2020.experiments import Dataset

REDUCED = 2 / 3  # of the median over items
ORTHOGONAL, MANY = 0.1, 0.25  # cosine, share of the items


def cosine_checks(dataset: Dataset, center: pd.DataFrame, right: pd.DataFrame) -> list[Check]:
    """Of a dataset's lines in both csv files; in every gauge, since cosines depend on it."""
    return [
        check
        for gauge, constrained in center.groupby("gauge", sort=False)
        for check in _in_gauge(dataset, str(gauge), constrained, right[right["gauge"] == gauge])
    ]


def _in_gauge(
    dataset: Dataset, gauge: str, constrained: pd.DataFrame, free: pd.DataFrame
) -> list[Check]:
    at = f"{dataset.name}, {gauge}:"
    near = (constrained["median_encoder"].abs() <= ORTHOGONAL).mean()
    checks = [
        at_most(
            "fig1_cosines",
            f"{at} median cosine in the {part}, Eq. 11 over unconstrained",
            constrained[f"median_{part}"].median() / free[f"median_{part}"].median(),
            REDUCED,
            data=dataset.data,
        )
        for part in ("encoder", "decoder")
    ]
    what = f"{at} share of items with a median cosine up to {ORTHOGONAL:g} in the encoder"
    return [*checks, at_least("fig1_orthogonal", what, near, MANY, data=dataset.data)]
