"""Models on the user's datasets: metrics by popularity of items and activity of users."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from lindrop.models.catalogue import CATALOGUE
from lindrop.output.compare import cell
from lindrop.ranking.grids import rank_of_table
from lindrop.ranking.metrics import title
from lindrop.store.left_out import LeftOut
from lindrop.store.metrics import read_metrics_of

CAPTION = "Metrics by popularity of the items to be found and by activity of the users"
COLUMNS = ["dataset", "model", "of", "group", "metric", "mean", "stderr", "n_users"]


def data(
    metrics: Sequence[str],
    splits: Sequence[str],
    names: Sequence[str],
    rank: int,
    shown: Sequence[str],
) -> pd.DataFrame:
    """A row for each dataset, model, group and metric of accuracy, from the files of metrics."""
    tables = []
    for file in sorted(map(Path, metrics), key=lambda file: list(names).index(file.parent.name)):
        try:
            results = read_metrics_of(file)
        except LeftOut:
            continue
        groups = results[rank_of_table(rank, list(results))].groups
        table = groups[groups["metric"].isin(shown)] if len(groups) else groups
        tables.append(table.assign(dataset=file.parent.name, model=file.stem))
    found = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
    return found.reindex(columns=COLUMNS)


def table(data: pd.DataFrame) -> pd.DataFrame:
    """The table for programs, as it is."""
    return data


def shown(data: pd.DataFrame) -> pd.DataFrame:
    """Table for readers: a line for each dataset, model and group, a column for each metric."""
    lines = []
    for (dataset, model, of, group), rows in data.groupby(COLUMNS[:4], sort=False):
        cells = {
            title(row["metric"]): cell(row["mean"], row["stderr"])
            for row in rows.to_dict("records")
        }
        line = {"dataset": dataset, "model": CATALOGUE[str(model)].title, "of": f"{group} {of}"}
        lines.append(line | cells | {"users": f"{rows['n_users'].iloc[0]:,}"})
    return pd.DataFrame(lines)
