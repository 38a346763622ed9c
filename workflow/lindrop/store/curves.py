"""Read and write results/experiments/<paper>/<name>.csv: curves of all runs of an experiment."""

from pathlib import Path

import pandas as pd

from lindrop.base.atomic import atomic


def write_curves(path: str | Path, curves: pd.DataFrame) -> None:
    """Write the curves as csv."""
    with atomic(path) as partial:
        curves.to_csv(partial, index=False, lineterminator="\n")


def read_curves(path: str | Path) -> pd.DataFrame:
    """Curves written by `write_curves`, equal to the last bit (with pandas 3 or later)."""
    return pd.read_csv(path)
