"""What was measured beside what a paper prints, for the page: never mixed."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Number:
    """A mean; of a measured one the standard error and, on the paper's data, the printed mean."""

    mean: float
    stderr: float | None = None
    printed: float | None = None


@dataclass(frozen=True)
class Column:
    """Numbers of one dataset; `kind` says whether its numbers are ours, and on which data."""

    dataset: str
    kind: str
    measured: bool
    numbers: Mapping[str, Mapping[str, Number]]  # by model and metric
    chosen: Mapping[str, str]  # by model


@dataclass(frozen=True)
class Comparison:
    """The models of a table in its order, as (row, id, title), its metrics by id, its columns."""

    models: tuple[tuple[str, str, str], ...]
    metrics: Mapping[str, str]
    columns: tuple[Column, ...]
