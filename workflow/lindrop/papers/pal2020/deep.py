"""Figure 2 of Pal 2020: DropBlock before the last layer of a ResNet-50, beside Theorem 2.7.

The theorem is taken as Section 3 does: a network of sufficient capacity can have any g(X), so Y
itself is what shrinks. No step here needs the network; `dropout.deep` trains it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import Check, Data, at_least, at_most
from lindrop.dropout.dropblock import beta_at, optimum
from lindrop.dropout.samplers import dropblock
from lindrop.output.figures import COLOURS, WIDTH
from lindrop.papers.pal2020.factors import mean_factor

CLASSES = 10
HIDDEN, BLOCK = 80, 5
KEEP = 0.5  # ours: the paper names no θ
SCHEME = dropblock(HIDDEN, KEEP, BLOCK)

UNVERIFIED = " (unverified)"
SYNTHETIC = "synthetic"  # what a generated set is called, alone or before more of its name
OBJECTIVE, SPECTRUM = "objective", "singular values"
CLAIM = "fig2"
GAP = 0.05  # as far above the bound as "very close to the lower bound" may be
CLOSE = 0.1  # as far from theory, relatively, as singular values that "closely match"
TELLING = 0.1  # within which the mean factor of a loss under masks has to be known

BLUE, ORANGE = COLOURS[:2]
BLACK = COLOURS[-1]
ROW = 2.3  # inches


def targets(labels: Vector) -> Matrix:
    """Y: the indicators of the classes, a sample by column."""
    return np.asarray(np.arange(CLASSES)[:, None] == labels, dtype=float)


def shown_name(name: str, files: Mapping[str, Mapping[str, Any]]) -> str:
    """A set goes by its name only if its files were proven to be the published ones."""
    proven = all(receipt["verified_by"] for receipt in files.values())
    return name if proven else f"{name}{UNVERIFIED}"


def data_of(shown: str) -> Data:
    """On which data a panel of that name ran."""
    if shown.startswith(SYNTHETIC):
        return "synthetic"
    return "other" if shown.endswith(UNVERIFIED) else "published"


def deep_table(dataset: str, losses: Matrix, predictions: Matrix, y: Matrix) -> pd.DataFrame:
    """What `training.Trained` holds beside the theory's numbers, by iteration and by rank."""
    best = optimum(y, BLOCK, beta_at(KEEP, BLOCK, HIDDEN))
    sampled, expected = losses.T
    spectrum = np.linalg.svd(predictions, compute_uv=False)
    columns: dict[str, dict[str, object]] = {
        OBJECTIVE: {"sampled": sampled, "trained": expected, "theory": best.value},
        SPECTRUM: {"trained": spectrum, "theory": best.values},
    }
    panels = [
        pd.DataFrame(values).rename_axis("number").reset_index().assign(panel=panel)
        for panel, values in columns.items()
    ]
    table = pd.concat(panels, ignore_index=True).assign(dataset=dataset)
    return table[["dataset", "panel", "number", "sampled", "trained", "theory"]]


def deep_checks(table: pd.DataFrame) -> list[Check]:
    """Of the tables of all datasets."""
    return [
        check
        for dataset, of_set in table.groupby("dataset", sort=False)
        for part in (_objective_checks, _spectrum_checks)
        for check in part(str(dataset), of_set)
    ]


def _objective_checks(dataset: str, table: pd.DataFrame) -> Iterator[Check]:
    curve = table[table["panel"] == OBJECTIVE]
    excess = curve["trained"] / curve["theory"] - 1
    what, data = f"{dataset}: objective over the bound of Theorem 2.7, less 1,", data_of(dataset)
    least = f"{what} of all iterates the least"
    yield at_least(CLAIM, least, excess.min(), 0, 1e-9, data=data)
    yield at_most(CLAIM, f"{what} of the last iterate", excess.iloc[-1], GAP, data=data)
    what = f"{dataset}: loss under masks over that of Lemma 3.1"
    factors = curve["sampled"] / curve["trained"]
    yield mean_factor(CLAIM, what, factors, TELLING, data=data)


def _spectrum_checks(dataset: str, table: pd.DataFrame) -> Iterator[Check]:
    """The paper excepts the least singular value."""
    spectrum = table[table["panel"] == SPECTRUM].iloc[:-1]
    distance = (spectrum["trained"] / spectrum["theory"] - 1).abs().max()
    what = f"{dataset}: relative distance of singular values from theory, the largest but the last"
    yield at_most(CLAIM, what, distance, CLOSE, data=data_of(dataset))


def draw_deep(table: pd.DataFrame) -> Figure:
    """Figure 2; a row per dataset. Left: objectives while training; right: singular values."""
    datasets = list(table.groupby("dataset", sort=False))
    figure = Figure(figsize=(WIDTH, ROW * len(datasets)))
    rows = figure.subplots(len(datasets), 2, squeeze=False)
    for (dataset, of_set), (left, right) in zip(datasets, rows, strict=True):
        panels = dict(list(of_set.groupby("panel")))
        _draw_objective(left, panels[OBJECTIVE])
        _draw_spectrum(right, panels[SPECTRUM])
        for axis in (left, right):
            axis.set_title(dataset, loc="left")
            axis.legend()
    return figure


def _draw_objective(axis: Axes, curve: pd.DataFrame) -> None:
    iteration, bound = curve["number"], curve["theory"].iloc[0]
    axis.semilogy(iteration, curve["sampled"], color=BLUE, lw=0.6, label="under masks")
    axis.semilogy(iteration, curve["trained"], color=ORANGE, label="deterministic")
    axis.axhline(bound, color=BLACK, ls="--", lw=1, label="bound of Theorem 2.7")
    axis.set(xlabel="iteration", ylabel="objective")
    axis.yaxis.set_major_formatter(LogFormatter())
    axis.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(2, 0.5)))


def _draw_spectrum(axis: Axes, spectrum: pd.DataFrame) -> None:
    rank = spectrum["number"] + 1
    axis.plot(rank, spectrum["theory"], "o", color=BLACK, mfc="none", label="Theorem 2.7")
    axis.plot(rank, spectrum["trained"], "x", color=ORANGE, label="predictions U g(X)")
    axis.set(xlabel="rank", ylabel="singular value", xticks=rank)
    axis.set_ylim(0, 1.1 * float(np.max(spectrum[["theory", "trained"]])))
