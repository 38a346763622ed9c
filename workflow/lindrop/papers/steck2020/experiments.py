"""Steck 2020, Section 6: what it says of the tables and of Figure 1, asked of every dataset."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from lindrop.base.yaml_files import read_yaml
from lindrop.claims.checks import Check
from lindrop.models.ranks import rank_of_table
from lindrop.models.tuning import Tested
from lindrop.papers.steck2020.datasets import (
    Dataset,
    dataset_checks,
    published_sets,
    shared_entries,
)
from lindrop.papers.steck2020.figures.fig1_left import rank_checks
from lindrop.papers.steck2020.similarity import cosine_checks
from lindrop.papers.steck2020.table1_checks import table1_checks
from lindrop.store.metrics import read_metrics
from lindrop.store.split import read_split_facts, read_split_matrix


def checks(
    metrics: Sequence[str],
    splits: Sequence[str],
    properties: str,
    table: str,
    left: str,
    center: str,
    right: str,
    datasets: str,
    printed: str,
    rank: int,
    columns: Mapping[str, str | None],
) -> list[Check]:
    """Every check of Section 6, from the files of metrics, splits, tables and figures.

    `datasets` and `printed` hold what the paper prints, `columns` the paper's name of each dataset.
    """
    published, numbers = read_yaml(datasets), read_yaml(printed)
    found = []
    sets = []
    for (name, column), split in zip(columns.items(), splits, strict=True):
        dataset = Dataset.of(name, read_split_facts(split), column, published)
        stderr = numbers["columns"][dataset.paper]["stderr"] if dataset.paper else None
        history, held_out = (
            read_split_matrix(split, f"test/{part}") for part in ("fold_in", "held_out")
        )
        rows = {file: _rows_of(file, name) for file in (properties, table, left, center, right)}
        (facts,) = rows[properties].to_dict("records")
        row = {str(key): value for key, value in facts.items()}
        found += [
            *dataset_checks(dataset, row, shared_entries(history, held_out)),
            *table1_checks(dataset, rows[table], _tested(metrics, name, rank), stderr),
            *rank_checks(dataset, rows[left]),
            *cosine_checks(dataset, rows[center], rows[right]),
        ]
        sets.append(dataset)
    return [*found, published_sets(sets, len(published))]


def _tested(metrics: Sequence[str], dataset: str, rank: int) -> dict[str, Tested]:
    """The models of row 5 and of what it is compared with, at the table's rank."""
    found: dict[str, Tested] = {}
    for file in map(Path, metrics):
        if file.parent.name == dataset:
            results = read_metrics(file)
            found[file.stem] = results[rank_of_table(rank, list(results))]
    return found


def _rows_of(file: str, dataset: str) -> pd.DataFrame:
    frame = pd.read_csv(file)
    return frame.loc[frame["dataset"] == dataset]
