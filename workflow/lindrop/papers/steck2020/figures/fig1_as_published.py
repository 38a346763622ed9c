"""Figure 1 (left) of Steck 2020 from models that the published procedures train."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from lindrop.base.errors import UserError
from lindrop.claims.checks import Check, Data
from lindrop.papers.steck2020.datasets import Dataset
from lindrop.papers.steck2020.figures import fig1_left
from lindrop.store.csv_files import read_csv

CLAIMS = {  # claims on the optima, and those on trainings as published, which this figure decides
    f"fig1_{what}": f"fig1_as_published_{what}" for what in ("highest", "small_ranks", "crossing")
}


def data(curves: Sequence[str]) -> pd.DataFrame:
    """Curves of every dataset, from the files of the rule `steck2020_curves`."""
    if not curves:
        raise UserError(
            "the curves of Figure 1 are trained on splits by users, but no dataset of the "
            "configuration has `split: users`"
        )
    return pd.concat([read_csv(file, "the rule steck2020_curves") for file in curves])


def draw(data: pd.DataFrame) -> Figure:
    """Panels of nDCG@100 by rank, one for each dataset."""
    return fig1_left.draw(data)


def checks(data: pd.DataFrame) -> list[Check]:
    """Checks of what the paper sees in the figure, each under its claim's own name.

    The figure is about Netflix: the paper's two other sets decide none of them.
    """
    found = []
    for name, of in data.groupby("dataset", sort=False):
        label: Data = str(of["data"].iloc[0])  # type: ignore[assignment]
        paper = of["set"].iloc[0]
        dataset = Dataset(str(name), label, paper if isinstance(paper, str) else None)
        seen = fig1_left.rank_checks(dataset, of)
        found += [
            replace(check, claim=CLAIMS[check.claim]) for check in seen if check.claim in CLAIMS
        ]
    return found
