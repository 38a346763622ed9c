"""Data on standard output: a table for readers, or csv, tsv or json for programs."""

import sys

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from lindrop.cli.talk import is_terminal
from lindrop.store.recommendations import write_rows

FORMS = ("table", "csv", "tsv", "json")


def form_of(asked: str | None) -> str:
    """The form of the output that is asked for, or a table for a person and csv for a program."""
    return asked or ("table" if is_terminal() else "csv")


def show(data: pd.DataFrame, form: str, shown: pd.DataFrame | None = None) -> None:
    """Write a table to standard output; `shown` is its edition for readers."""
    if form == "table":
        _table(data if shown is None else shown)
    else:
        write_rows(sys.stdout, [data], form)


def _table(data: pd.DataFrame) -> None:
    """Write a table for readers, numbers to four digits and aligned to the right."""
    console = Console(highlight=False, markup=False)
    if not is_terminal():
        console = Console(highlight=False, markup=False, width=200)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in data:
        numeric = pd.api.types.is_numeric_dtype(data[name])
        table.add_column(str(name), justify="right" if numeric else "left", overflow="fold")
    for row in data.itertuples(index=False):
        table.add_row(*(_cell(value) for value in row))
    console.print(table)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "–" if value != value else f"{value:.4f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
