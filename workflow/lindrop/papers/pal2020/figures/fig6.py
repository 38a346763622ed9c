"""Figure 6 of Pal 2020: DropConnect as in Figure 3, at more values of θ."""

import pandas as pd

from lindrop.claims.checks import Check
from lindrop.papers.pal2020.figures.fig3 import draw, dropconnect_checks, dropconnect_curves
from lindrop.papers.pal2020.trainings import MORE_KEEPS

__all__ = ["checks", "data", "draw"]


def data(seed: int, iterations: int) -> pd.DataFrame:
    """Curves of trainings with DropConnect and dropout at more values of θ."""
    return dropconnect_curves(seed, MORE_KEEPS, iterations)


def checks(data: pd.DataFrame) -> list[Check]:
    """Checks of what the paper says of Figure 6."""
    return dropconnect_checks("fig6", data)
