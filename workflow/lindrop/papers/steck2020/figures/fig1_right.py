"""Figure 1 (right) of Steck 2020: cosines of similar items in the unconstrained model."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from lindrop.papers.steck2020.figures.fig1_center import draw_similarities, similarities_of


def data(
    low: Sequence[str], full: Sequence[str], grams: Sequence[str], names: Sequence[str]
) -> pd.DataFrame:
    """Median cosines of every item and dataset, from the files of models and of X'X."""
    return similarities_of(names, low, full, grams, zero_diagonal=False)


def draw(data: pd.DataFrame) -> Figure:
    """Histograms of median cosines, with a row per dataset and a column per gauge."""
    return draw_similarities(data, "unconstrained")
