"""Models on the user's datasets: the configured metrics on the test users, best model first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from lindrop.base.reporting import logger
from lindrop.models.catalogue import CATALOGUE
from lindrop.models.tuning import Tested, chosen_text
from lindrop.output.winner import Placed, p_text, place, signed, words
from lindrop.ranking.evaluation import summary
from lindrop.ranking.grids import rank_of_table
from lindrop.ranking.metrics import metric, title
from lindrop.store.left_out import LeftOut
from lindrop.store.metrics import read_metrics_of
from lindrop.store.split import read_split_facts

COLUMNS = ["dataset", "model", "metric", "mean", "stderr", "n_users", "n_items", "params"]
COLUMNS += ["seconds", "megabytes"]
# To the model of the dataset with the best criterion: the paired difference, its 95 % interval, and
# p-values, alone and corrected for the number of models.
COLUMNS += ["difference", "low", "high", "p_value", "holm"]
COLUMNS += ["model_megabytes", "edge", "converged"]


@dataclass(frozen=True)
class Line:
    """A model on a dataset: its result, the metrics that are shown, and the number of items."""

    dataset: str
    model: str
    tested: Tested
    metrics: Sequence[str]
    items: int
    placed: Mapping[str, Placed]  # by metric
    criterion: str

    def summary(self) -> pd.DataFrame:
        """Mean, standard error and number of users of every metric, by its name."""
        return means(self.tested.per_user, self.tested.overall).loc[list(self.metrics)]


def means(per_user: pd.DataFrame, overall: Mapping[str, float]) -> pd.DataFrame:
    """Mean, standard error and number of users of every metric, by its name.

    A metric of the whole model, such as coverage, has no standard error.
    """
    found = summary(per_user)
    users = (found["n_users"] - found["n_nan"]).rename("n_users")
    table = pd.concat([found[["mean", "stderr"]], users], axis=1)
    for name, value in overall.items():
        table.loc[name] = [value, float("nan"), users.iloc[0]]
    return table


def data(
    metrics: Sequence[str],
    splits: Sequence[str],
    names: Sequence[str],
    rank: int,
    shown: Sequence[str],
    criterion: str,
) -> list[Line]:
    """Lines of the table, from the files of metrics and of the splits of the datasets `names`.

    The models of a dataset begin with the one that has the best criterion. Those that a budget has
    left out have no lines.
    """
    items = {
        name: read_split_facts(split)[0].items for name, split in zip(names, splits, strict=True)
    }
    for name, number in items.items():
        for asked in shown:
            if metric(asked).k > number:
                logger.warning("%s: %s: it has %d items only, all are listed", name, asked, number)
    found: dict[str, dict[str, Tested]] = {name: {} for name in names}
    for file in map(Path, metrics):
        try:
            results = read_metrics_of(file)
        except LeftOut:  # the page says so
            continue
        found[file.parent.name][file.stem] = results[rank_of_table(rank, list(results))]
    if undone := [name for name, tested in found.items() if not tested]:
        raise LeftOut(
            undone[0],
            "no model was done within the budget: run again, or set more minutes as budget under "
            "compare in the configuration",
        )
    return [
        Line(name, model, tested[model], shown, items[name], placed, criterion)
        for name, tested in found.items()
        for model, placed in place(tested, shown, criterion).items()
    ]


def caption(lines: Sequence[Line]) -> str:
    """What the table shows, and the best model of each dataset in words."""
    found = table(lines)
    said = (
        f"{dataset}: {' '.join(words(rows, lines[0].criterion))}"
        for dataset, rows in found.groupby("dataset", sort=False)
    )
    return " ".join(["Models on the test users of each dataset.", *said])


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
            **line.placed[str(name)]._asdict(),
            "model_megabytes": line.tested.model_megabytes,
            "edge": line.tested.edge,
            "converged": line.tested.converged,
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
        "behind the best": beside_best(line.placed[line.criterion]),
        "users": f"{int(found['n_users'].iloc[0]):,}",
        "fit, s": f"{line.tested.cost.seconds:,.1f}",
        "peak, MB": f"{line.tested.cost.megabytes:,.0f}",
        "model, MB": f"{line.tested.model_megabytes:,.3g}",
        "parameters": chosen_text(line.model, line.tested),
    }


def beside_best(placed: Placed) -> str:
    """The difference to the best model with its interval and corrected p-value."""
    if pd.isna(placed.holm):
        return "–"
    between = f"{signed(placed.low)} to {signed(placed.high)}"
    return f"{signed(placed.difference)} ({between}, {p_text(placed.holm)})"


def cell(mean: float, stderr: float) -> str:
    """A mean with its standard error, each only if it is known."""
    if pd.isna(mean):
        return "–"
    return f"{mean:.4f}" + ("" if pd.isna(stderr) else f" ± {stderr:.4f}")
