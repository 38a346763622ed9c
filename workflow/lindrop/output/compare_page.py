"""The user's datasets on the page of comparison: words on the best model, facts, and all models."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from lindrop.models.catalogue import CATALOGUE
from lindrop.output.winner import Row, notes, p_text, seconds, signed, told_apart, words
from lindrop.ranking.metrics import title
from lindrop.store.csv_files import read_plain
from lindrop.store.left_out import why_left_out

SPLITS = {
    "users": "whole users held out",
    "time": "by time",
    "leave_last": "the last interactions of each user",
    "given": "by files",
}


@dataclass(frozen=True)
class Cell:
    """What a cell shows, smaller text below it, and the number by which it is sorted."""

    text: str
    below: str = ""
    sort: float | str = ""


@dataclass(frozen=True)
class ModelRow:
    """A model's row: its name in a configuration, its marks, then one cell per column."""

    name: str
    title: str
    best: bool
    marks: str
    cells: Sequence[Cell]


@dataclass(frozen=True)
class ComparedDataset:
    """A dataset with what is said of its models; the page shows its parts in this order."""

    name: str
    generated: bool
    words: Sequence[str]
    facts: Mapping[str, str]
    warning: str
    columns: Sequence[str]
    rows: Sequence[ModelRow]
    notes: Sequence[str]


def compared(
    table: Path,
    datasets: Path,
    criterion: str,
    generated: Collection[str],
    left_out: Mapping[str, Mapping[str, str]] | None = None,
) -> list[ComparedDataset]:
    """All datasets, those of the user first, from compare.csv and datasets.csv.

    `left_out` says of each dataset why models are left out.
    """
    lines = read_plain(table)
    lines["edge"], lines["params"] = lines["edge"].fillna(""), lines["params"].fillna("")
    read = read_plain(datasets)
    facts = {str(row["dataset"]): row for row in read.to_dict("records")}
    found = [
        _dataset(
            *(str(name), rows, facts[str(name)], criterion, str(name) in generated),
            (left_out or {}).get(str(name), {}),
        )
        for name, rows in lines.groupby("dataset", sort=False)
    ]
    return sorted(found, key=lambda of: of.generated)


def all_left_out(
    planned: Mapping[str, Mapping[str, str]], metrics: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Why models are left out of each dataset: as `planned`, or as the files of metrics say."""
    found = {dataset: dict(models) for dataset, models in planned.items()}
    for file in map(Path, metrics):
        if why := why_left_out(file):
            found.setdefault(file.parent.name, {})[file.stem] = f"{why}; the next run tries again"
    return found


def _dataset(
    name: str,
    rows: pd.DataFrame,
    facts: Row,
    criterion: str,
    generated: bool,
    left_out: Mapping[str, str],
) -> ComparedDataset:
    others = [metric for metric in rows["metric"].unique() if metric != criterion]
    by_model = [
        {line["metric"]: line for line in of.to_dict("records")}
        for _, of in rows.groupby("model", sort=False)
    ]
    models = len(by_model)
    said = [*notes(rows, criterion)]
    if any(map(_close, (of[criterion] for of in by_model[1:]))):
        said.insert(
            0,
            "≈ cannot be told apart from the best model: p is 0.05 or more, corrected for "
            f"{models - 1} comparisons by Holm's method.",
        )
    if left_out:
        said.append(
            "Left out: "
            + "; ".join(f"{CATALOGUE[model].title} ({why})" for model, why in left_out.items())
            + "."
        )
    return ComparedDataset(
        *(name, generated, words(rows, criterion), _facts(facts), _warning(facts)),
        [title(criterion), "Behind the best", "Fit", "Size", *map(title, others), "Chosen"],
        [_row(of, criterion, others, number == 0) for number, of in enumerate(by_model)],
        said,
    )


def _row(
    of: Mapping[str, dict[Any, Any]], criterion: str, others: Sequence[str], best: bool
) -> ModelRow:
    line = of[criterion]
    marks = [
        mark
        for mark, there in (
            ("≈", not best and _close(line)),
            ("⚠", bool(line["edge"])),
            ("◌", not line["converged"]),
        )
        if there
    ]
    cells = [
        _mean(line),
        _difference(line),
        Cell(seconds(line), sort=line["seconds"]),
        Cell(_size(line["model_megabytes"]), sort=line["model_megabytes"]),
        *(_mean(of[metric]) for metric in others),
        Cell(line["params"] or "–"),
    ]
    return ModelRow(line["model"], CATALOGUE[line["model"]].title, best, " ".join(marks), cells)


def _close(line: Row) -> bool:
    return not pd.isna(line["holm"]) and not told_apart(line)


def _mean(line: Row) -> Cell:
    if pd.isna(line["mean"]):
        return Cell("–", sort=-1)
    below = "" if pd.isna(line["stderr"]) else f"± {line['stderr']:.4f}"
    return Cell(f"{line['mean']:.4f}", below, line["mean"])


def _difference(line: Row) -> Cell:
    if pd.isna(line["holm"]):
        return Cell("–", sort=0)
    between = f"{signed(line['low'])} to {signed(line['high'])}"
    return Cell(
        signed(line["difference"]), f"{between}, {p_text(line['holm'])}", line["difference"]
    )


def _size(megabytes: float) -> str:
    if pd.isna(megabytes):
        return "–"
    return f"{megabytes:,.1f} MB" if megabytes >= 1 else f"{1000 * megabytes:,.1f} kB"


def _facts(facts: Row) -> dict[str, str]:
    """Facts of a dataset, by what they are called."""
    threshold = facts["min_rating"]
    above: str = "" if pd.isna(threshold) else f", rated above {threshold:g}"
    repeats = f"{facts['repeats']:,}"
    if facts["repeats"]:
        repeats += f" ({facts['repeats_are']})"
    return {
        "rows read": f"{facts['rows']:,}",
        "interactions used": f"{facts['interactions']:,}{above}",
        "repeats of a pair": repeats,
        "users": _counted(facts, "users"),
        "items": _counted(facts, "items"),
        "density": f"{facts['density']:.2%}",
        "split": SPLITS[facts["split"]],
        "test users": f"{facts['test_users']:,}",
        "source": facts["source"],
    }


def _counted(facts: Row, what: str) -> str:
    dropped = facts[f"{what}_dropped"]
    return f"{facts[what]:,}" + (f" ({dropped:,} with few rows left out)" if dropped else "")


def _warning(facts: Row) -> str:
    if not facts["test_masked"]:
        return ""
    return (
        f"{facts['test_masked']:,} test interactions are also in the fold-in, where they are "
        "masked: no model can find them, and every number below is too low. Set protocol.repeats "
        "to drop or sum."
    )
