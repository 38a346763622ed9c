"""Figure 2 of Pal 2020: DropBlock before the last layer of a ResNet-50, beside Theorem 2.7."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from lindrop.claims.checks import Check, at_least, at_most
from lindrop.output.figures import COLOURS, WIDTH
from lindrop.papers.pal2020.deep import OBJECTIVE, SPECTRUM, data_of
from lindrop.papers.pal2020.trainings import mean_factor
from lindrop.store.curves import read_curves

CLAIM = "fig2"
GAP = 0.05  # relative excess that is still "very close to the lower bound"
CLOSE = 0.1  # relative distance of singular values that "closely match"
TELLING = 0.1  # largest tolerance at which a mean factor decides a claim

BLUE, ORANGE = COLOURS[:2]
BLACK = COLOURS[-1]
ROW = 2.3  # height of a row in inches


def data(tables: Sequence[str]) -> pd.DataFrame:
    """Trainings on every set of images, read from their files."""
    return pd.concat(map(read_curves, tables), ignore_index=True)


def checks(data: pd.DataFrame) -> list[Check]:
    """Checks of what Section 5.2 says, on every set of images."""
    return [
        check
        for dataset, of_set in data.groupby("dataset", sort=False)
        for part in (_objective_checks, _spectrum_checks)
        for check in part(str(dataset), of_set)
    ]


def _objective_checks(dataset: str, table: pd.DataFrame) -> Iterator[Check]:
    """Checks of the objective against the bound, and of sampled losses against Lemma 3.1."""
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
    """Check of the singular values but the smallest, which the paper excepts."""
    spectrum = table[table["panel"] == SPECTRUM].iloc[:-1]
    distance = (spectrum["trained"] / spectrum["theory"] - 1).abs().max()
    what = f"{dataset}: relative distance of singular values from theory, the largest but the last"
    yield at_most(CLAIM, what, distance, CLOSE, data=data_of(dataset))


def draw(data: pd.DataFrame) -> Figure:
    """A row per dataset: objectives during training on the left, singular values on the right."""
    datasets = list(data.groupby("dataset", sort=False))
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
