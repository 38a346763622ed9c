"""Picture of the models on the user's datasets: accuracy against time and size."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lindrop.models.catalogue import CATALOGUE
from lindrop.output import compare
from lindrop.output.figures import COLOURS, stacked
from lindrop.ranking.metrics import title

COSTS = {"seconds": "time of the fit, s", "model_megabytes": "size of the model, MB"}
WIDTH, HEIGHT = 4.4, 2.3  # of a panel, in inches: readable on a phone
GAP = 0.075  # between two names beside a panel, as a share of its height


def data(
    metrics: Sequence[str],
    splits: Sequence[str],
    names: Sequence[str],
    rank: int,
    shown: Sequence[str],
    criterion: str,
) -> pd.DataFrame:
    """A line for each dataset and model, best first: the criterion, its error, and the costs."""
    found = compare.table(compare.data(metrics, splits, names, rank, [criterion], criterion))
    return found[["dataset", "model", "metric", "mean", "stderr", *COSTS]]


def draw(data: pd.DataFrame) -> Figure:
    """The criterion against the time of the fit and the size of the model, for each dataset."""
    datasets = list(data.groupby("dataset", sort=False))
    panels = len(datasets) * len(COSTS)
    figure, axes = stacked(panels, WIDTH, HEIGHT)
    places = iter(axes)
    for name, models in datasets:
        for cost, label in COSTS.items():
            axis = next(places)
            _panel(axis, models.dropna(subset=["mean", cost]), cost)
            axis.set(xlabel=label, ylabel=title(models["metric"].iloc[0]), title=name)
    return figure


def _panel(axis: Axes, models: pd.DataFrame, cost: str) -> None:
    """Points of the models with their names to the right, each at the height of its point."""
    axis.set_xscale("log")
    costs = np.maximum(models[cost], 1e-3)
    for number, (mean, stderr, x) in enumerate(
        zip(models["mean"], models["stderr"], costs, strict=True)
    ):
        colour = COLOURS[number % len(COLOURS)]
        axis.errorbar(x, mean, stderr, fmt="o", color=colour, markersize=4, linewidth=0.8)
    axis.margins(x=0.08, y=0.12)
    low, high = axis.get_ylim()
    heights = spread((models["mean"].to_numpy() - low) / (high - low))
    names = [CATALOGUE[model].title for model in models["model"]]
    for number, (name, x, y, height) in enumerate(
        zip(names, costs, models["mean"], heights, strict=True)
    ):
        axis.annotate(
            *(name, (x, y), (1.03, height), "data", "axes fraction"),
            va="center",
            fontsize=7,
            color=COLOURS[number % len(COLOURS)],
            arrowprops={
                "arrowstyle": "-",
                "linewidth": 0.4,
                "color": "#8889",
                "shrinkB": 3,
                "relpos": (0, 0.5),
            },
        )


def spread(wanted: np.ndarray) -> np.ndarray:
    """Heights of names, in the order of the wanted ones and at least `GAP` apart, near these."""
    order = np.argsort(wanted, kind="stable")
    placed = wanted[order].astype(float)
    for k in range(1, len(placed)):
        placed[k] = max(placed[k], placed[k - 1] + GAP)
    top = max(1.0, GAP * (len(placed) - 1))
    for k in range(len(placed) - 1, -1, -1):
        above = placed[k + 1] - GAP if k + 1 < len(placed) else top
        placed[k] = min(placed[k], above)
    heights = np.empty(len(placed))
    heights[order] = placed
    return heights
