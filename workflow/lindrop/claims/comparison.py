"""Data of a table that shows measured numbers next to a paper's, in separate columns."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Number:
    """A mean; if measured, its standard error, and on the paper's data the printed mean too."""

    mean: float
    stderr: float | None = None
    printed: float | None = None


@dataclass(frozen=True)
class Column:
    """Numbers on one dataset; `kind` says in words where they come from."""

    dataset: str
    kind: str
    measured: bool
    numbers: Mapping[str, Mapping[str, Number]]  # by model and metric
    chosen: Mapping[str, str]  # chosen parameters by model
    metrics: tuple[str, ...] = ()  # those that it has, if not all of the table's


@dataclass(frozen=True)
class Comparison:
    """A table: its models as (row, id, title) in order, its metric names by id, and its columns."""

    models: tuple[tuple[str, str, str], ...]
    metrics: Mapping[str, str]
    columns: tuple[Column, ...]
