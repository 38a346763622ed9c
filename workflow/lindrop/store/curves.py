"""Read and write results/experiments/<paper>/<name>.csv: curves of all runs of an experiment."""

from pathlib import Path

import pandas as pd

from lindrop.store.csv_files import read_csv, write_csv

MAKER = "the rule mianjy2018_convergence (or pal2020_train)"


def write_curves(path: str | Path, curves: pd.DataFrame) -> None:
    """Write the curves as csv."""
    write_csv(path, curves)


def read_curves(path: str | Path) -> pd.DataFrame:
    """Curves written by `write_curves`, equal to the last bit."""
    return read_csv(path, MAKER)
