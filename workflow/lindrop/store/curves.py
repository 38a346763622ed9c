"""results/experiments/<paper>/<name>.csv: curves of all runs of an experiment."""

from pathlib import Path

import pandas as pd

from lindrop.base.atomic import atomic


def write_curves(path: str | Path, curves: pd.DataFrame) -> None:
    with atomic(path) as partial:
        curves.to_csv(partial, index=False, lineterminator="\n")


def read_curves(path: str | Path) -> pd.DataFrame:
    """The same numbers, to the last bit (as pandas reads them from version 3 on)."""
    return pd.read_csv(path)
