"""Models on the user's datasets: the configured metrics on the test users, and those by groups."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from lindrop.base.reporting import logger
from lindrop.models.catalogue import CATALOGUE
from lindrop.models.tuning import Tested, chosen_text
from lindrop.ranking.evaluation import summary
from lindrop.ranking.grids import rank_of_table
from lindrop.ranking.metrics import metric, title
from lindrop.store.metrics import read_metrics_of
from lindrop.store.split import read_split_facts

CAPTION = "Models on the test users of each dataset"
COLUMNS = ["dataset", "model", "metric", "mean", "stderr", "n_users", "n_items", "params"]
COLUMNS += ["seconds", "megabytes"]


@dataclass(frozen=True)
class Line:
    """A model on a dataset: its result, the metrics that are shown, and the number of items."""

    dataset: str
    model: str
    tested: Tested
    metrics: Sequence[str]
    items: int

    def summary(self) -> pd.DataFrame:
        """Mean, standard error and number of users of every metric, by its name.

        A metric of the whole model, such as coverage, has no standard error.
        """
        found = summary(self.tested.per_user)
        users = (found["n_users"] - found["n_nan"]).rename("n_users")
        table = pd.concat([found[["mean", "stderr"]], users], axis=1)
        for name, value in self.tested.overall.items():
            table.loc[name] = [value, float("nan"), users.iloc[0]]
        return table.loc[list(self.metrics)]


def data(
    metrics: Sequence[str],
    splits: Sequence[str],
    names: Sequence[str],
    rank: int,
    shown: Sequence[str],
) -> list[Line]:
    """Lines of the table, from the files of metrics and of the splits of the datasets `names`."""
    items = {
        name: read_split_facts(split)[0].items for name, split in zip(names, splits, strict=True)
    }
    for name, number in items.items():
        for asked in shown:
            if metric(asked).k > number:
                logger.warning("%s: %s: it has %d items only, all are listed", name, asked, number)
    found = []
    for file in map(Path, metrics):
        results = read_metrics_of(file)
        tested = results[rank_of_table(rank, list(results))]
        found.append(Line(file.parent.name, file.stem, tested, shown, items[file.parent.name]))
    return sorted(found, key=lambda line: list(names).index(line.dataset))


def table(lines: Sequence[Line]) -> pd.DataFrame:
    """Table for programs: one line for each dataset, model and metric."""
    rows = [row for line in lines for row in _long(line)]
    return pd.DataFrame(rows, columns=COLUMNS).astype({"n_users": "Int64"})


def _long(line: Line) -> Iterator[Mapping[str, Any]]:
    for name, found in line.summary().iterrows():
        yield {
            "dataset": line.dataset,
            "model": line.model,
            "metric": name,
            **{str(column): value for column, value in found.items()},
            "n_items": line.items,
            "params": chosen_text(line.model, line.tested),
            "seconds": line.tested.cost.seconds,
            "megabytes": line.tested.cost.megabytes,
        }


def shown(lines: Sequence[Line]) -> pd.DataFrame:
    """Table for readers: one line for each dataset and model."""
    return pd.DataFrame([_wide(line) for line in lines])


def _wide(line: Line) -> dict[str, str]:
    found = line.summary()
    cells = {title(str(name)): cell(row["mean"], row["stderr"]) for name, row in found.iterrows()}
    return {
        "dataset": line.dataset,
        "model": CATALOGUE[line.model].title,
        **cells,
        "users": f"{int(found['n_users'].iloc[0]):,}",
        "fit, s": f"{line.tested.cost.seconds:,.1f}",
        "peak, MB": f"{line.tested.cost.megabytes:,.0f}",
        "parameters": chosen_text(line.model, line.tested),
    }


def cell(mean: float, stderr: float) -> str:
    """A mean with its standard error, each only if it is known."""
    if pd.isna(mean):
        return "–"
    return f"{mean:.4f}" + ("" if pd.isna(stderr) else f" ± {stderr:.4f}")
