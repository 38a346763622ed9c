"""Read and write results/tuning/<dataset>/<model>/<chunk>.csv: validation metrics by point."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lindrop.base.errors import Damaged
from lindrop.models.tuning import choose, only_choice
from lindrop.ranking.grids import axes, grid
from lindrop.store.csv_files import read_csv, write_csv
from lindrop.store.left_out import require_result

MAKER = "the rule tune (or tune_deep)"


def write_trials(path: str | Path, trials: pd.DataFrame, model: str, split_sha256: str) -> None:
    """Write the table of `models.tuning.tune` for a model on the split with this fingerprint."""
    write_csv(path, trials, f"{model} {split_sha256}\n")


def read_trials(
    paths: Sequence[str | Path],
    options: Mapping[str, Any],
    metrics: Sequence[str],
    model: str,
    split_sha256: str,
    whole: bool = True,
) -> pd.DataFrame:
    """Tables of all tuning jobs of a model, joined; Damaged unless they have the grid's points.

    Every rank must have every point of the grid once, unless `whole` is false, for the trials of a
    search. Each of `metrics` is NaN or finite. Damaged, too, if a table is that of another model or
    split.
    """
    tables = [
        _read(path, [*axes(options), *metrics], f"{model} {split_sha256}\n") for path in paths
    ]
    trials = pd.concat(tables)
    if not whole:
        return trials
    points = sorted(tuple(point.values()) for point in grid(options))
    for rank, rows in trials.groupby("rank"):
        if sorted(rows[list(axes(options))].itertuples(index=False, name=None)) != points:
            raise Damaged(paths[0], f"rank {rank} has other points than the grid", MAKER)
    return trials


def read_choice(
    paths: Sequence[str | Path],
    options: Mapping[str, Any],
    ranks: Sequence[int],
    criterion: str,
    model: str,
    split_sha256: str,
    whole: bool = True,
) -> pd.DataFrame:
    """The best point of each rank by these trials; a grid of a single point has none."""
    if not paths:
        return only_choice(options, ranks)
    trials = read_trials(paths, options, [criterion], model, split_sha256, whole)
    return choose(trials, options, criterion)


def _read(path: str | Path, columns: Sequence[str], made_from: str) -> pd.DataFrame:
    require_result(path)
    table = read_csv(path, MAKER, made_from)
    numbers = ["rank", *columns]
    if missing := [name for name in numbers if name not in table]:
        raise Damaged(path, f"it has no column {missing[0]}", MAKER)
    for name in numbers:
        if table[name].dtype.kind not in "fi" or np.isinf(table[name]).any():
            raise Damaged(path, f"the column {name} holds what is not a number", MAKER)
    return table
