"""Figure 5 of Pal 2020: DropBlock as in Figure 1, at more values of θ."""

import pandas as pd

from lindrop.claims.checks import Check
from lindrop.papers.pal2020.figures.fig1 import draw, dropblock_checks, dropblock_curves
from lindrop.papers.pal2020.trainings import MORE_KEEPS

__all__ = ["checks", "data", "draw"]


def data(seed: int, iterations: int) -> pd.DataFrame:
    """Curves of trainings with DropBlock at more values of θ."""
    return dropblock_curves(seed, MORE_KEEPS, iterations)


def checks(data: pd.DataFrame) -> list[Check]:
    """Checks of what the paper says of Figure 5."""
    return dropblock_checks("fig5", data)
