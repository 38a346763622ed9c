"""Table 1 of Steck 2020 for the page: columns measured here beside columns as printed."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from lindrop.claims.comparison import Column, Comparison, Number
from lindrop.models.catalogue import CATALOGUE
from lindrop.papers.steck2020.attribution import EXACT, PUBLISHED, column
from lindrop.papers.steck2020.models import ROWS
from lindrop.papers.steck2020.procedures import ROWS as ROWS_1_TO_5
from lindrop.ranking.metrics import CRITERION, title
from lindrop.store.csv_files import read_plain

KINDS = {
    PUBLISHED: "trained by the published procedure",
    EXACT: "the optimum of the same objective, tuned alike",
}


def beside(
    table: Path, published: Mapping[str, Any], generated: set[str], trained: Path | None = None
) -> Comparison:
    """Table 1 as measured here and as printed, each dataset in a column of its own.

    `table` is the file results/tables/steck2020_table1.csv, `published` the content of
    config/paper_values/steck2020_table1.yaml, and `generated` names the synthetic datasets. If the
    figure `attribution` was made, `trained` is its csv: its trainings as published and its optima
    follow their dataset in columns of their own.
    """
    frame = read_plain(table)
    ours = frame[frame["mean"].notna()]
    both = read_plain(trained) if trained else pd.DataFrame(columns=["dataset"])
    columns = []
    for dataset, lines in ours.groupby("dataset", sort=False):
        columns.append(_measured(str(dataset), lines, str(dataset) in generated))
        columns += _as_published_and_exact(str(dataset), both[both["dataset"] == dataset])
    columns += [_printed(name, entry, published) for name, entry in published["columns"].items()]
    rows = {str(model): str(row) for model, row in zip(ours["model"], ours["row"], strict=True)}
    known = dict.fromkeys(model for column in columns for model in column.numbers)
    models = tuple(
        (rows.get(model, "reprinted" if entry.torch else ROWS[model].label), model, entry.title)
        for model in known
        for entry in [CATALOGUE[model]]
    )
    titles = {name: title(name) for name in (*published["metrics"], *ours["metric"])}
    return Comparison(models, titles, tuple(columns))


def on_papers_data(table: Comparison) -> Comparison | None:
    """The columns measured on the paper's data, each with the printed numbers; None without any."""
    own = [
        column
        for column in table.columns
        if column.measured
        and any(
            number.printed is not None for of in column.numbers.values() for number in of.values()
        )
    ]
    return replace(table, columns=tuple(own)) if own else None


def _measured(dataset: str, lines: pd.DataFrame, generated: bool) -> Column:
    """Column of the metrics measured on one dataset, from its lines of the csv."""
    papers_own = bool(lines["paper"].notna().any())
    numbers: dict[str, dict[str, Number]] = {}
    for line in lines.to_dict("records"):
        printed = None if pd.isna(line["paper"]) else float(line["paper"])
        number = Number(float(line["mean"]), float(line["stderr"]), printed)
        numbers.setdefault(line["model"], {})[line["metric"]] = number
    chosen = zip(lines["model"], lines["params"].fillna(""), strict=True)
    other = "generated data" if generated else "other data than the paper's"
    data = "the paper's data" if papers_own else other
    return Column(dataset, f"measured here, {data}", True, numbers, dict(chosen))


def _as_published_and_exact(dataset: str, found: pd.DataFrame) -> list[Column]:
    """Columns of rows 1 to 5 as trained by the published procedures, and as solved exactly."""
    if found.empty:
        return []
    means = found[found["quantity"] == "criterion"]
    by_name = {str(line["of"]): line for line in means.to_dict("records")}
    columns = []
    for procedure, words in KINDS.items():
        of = {row: column(row.number, procedure) for row in ROWS_1_TO_5}
        lines = {row.model: by_name[name] for row, name in of.items()}
        numbers = {
            model: {CRITERION: Number(float(line["value"]), float(line["stderr"]))}
            for model, line in lines.items()
        }
        chosen = {model: str(line["points"]).partition(";")[0] for model, line in lines.items()}
        splits = int(means["splits"].iloc[0])
        where = "the configured split" if splits == 1 else f"{splits} splits"
        columns.append(Column(dataset, f"{words}, {where}", True, numbers, chosen, (CRITERION,)))
    return columns


def _printed(name: str, entry: Mapping[str, Any], published: Mapping[str, Any]) -> Column:
    """Column of the metrics that the paper prints for one dataset."""
    numbers = {
        model: {
            metric: Number(value)
            for metric, value in zip(published["metrics"], values, strict=True)
            if value is not None
        }
        for model, values in (entry["rows"] | entry["reprinted"]).items()
    }
    kind = f"printed, rank {published['rank']:,}, ± {entry['stderr']}"
    return Column(name, kind, False, numbers, {})
