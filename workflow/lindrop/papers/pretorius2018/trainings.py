"""Trainings of single modes (Pretorius 2018), shared by several figures.

We had no copy of the main paper: the settings are those of the authors' public code, which counts
time in epochs of full-batch gradient descent with N = 1.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure

from lindrop.dropout.dynamics.descent import gradient_descent
from lindrop.dropout.dynamics.modes import Mode, Pair
from lindrop.dropout.dynamics.trajectories import trajectory
from lindrop.output.figures import COLOURS

RUNS, REACH = 10, 2.0  # number of starts, and half width of the square they are drawn from
RATE = 0.01
SLOW_EPOCHS, SHOWN = 20_000, 100  # number of epochs, and of epochs per row of the table
MANY = np.arange(10) / 5  # values of ε
SMALL = np.array([1e-3])  # w₁ = w₂ of the small start
INTEGRATED, EXACT = 1e-9, 1e-10
GRADUAL = 0.01  # tolerance for the error of finite steps

BLUE, ORANGE, GREEN, PINK = COLOURS[:4]
BLACK = COLOURS[-1]
STRENGTHS = ListedColormap(colormaps["viridis_r"](np.linspace(0.2, 1, 256)))  # no pale yellow
FIXED: dict[str, Any] = {"color": PINK, "ls": "-.", "lw": 0.8, "label": "fixed point"}
DESCENT: dict[str, Any] = {"color": ORANGE, "ls": "--", "lw": 0.9}


class Training(NamedTuple):
    """A mode, its rate, and the labels of its rows."""

    mode: Mode
    rate: float
    labels: dict[str, Any]


def learned(trainings: list[Training], starts: Pair, epochs: int, every: int = 1) -> pd.DataFrame:
    """w₁, w₂ and w of every run and shown epoch, in closed form and by gradient descent."""
    modes, rates = [each.mode for each in trainings], [each.rate for each in trainings]
    path = gradient_descent(modes, rates, *starts, epochs)[::every]
    shown = np.arange(0, epochs + 1, every)
    run, epoch = (axis.ravel() for axis in np.meshgrid(range(len(starts[0])), shown, indexing="ij"))
    tables = []
    for number, (mode, rate, labels) in enumerate(trainings):
        w1, w2 = trajectory(mode, starts[0][:, None], starts[1][:, None], rate * shown)
        columns = {"w1": w1, "w2": w2, "w": w1 * w2}
        w1, w2 = np.moveaxis(path[:, :, number], 0, -1)
        columns |= {"descent_w1": w1, "descent_w2": w2, "descent_w": w1 * w2}
        flat = {name: values.ravel() for name, values in columns.items()}
        tables.append(pd.DataFrame({**labels, "run": run, "epoch": epoch, **flat}))
    return pd.concat(tables, ignore_index=True)


def random_starts(seed: int) -> Pair:
    """Random w₁ and w₂ of RUNS runs."""
    w1, w2 = np.random.default_rng(seed).uniform(-REACH, REACH, (2, RUNS))
    return w1, w2


def draw_strengths(axis: Axes, curves: pd.DataFrame, what: str, **style: Any) -> None:
    """Draw the column `what` by epoch, with one colour for each ε."""
    most = curves["eps"].max()
    for eps, curve in curves.groupby("eps"):
        axis.plot(curve["epoch"], curve[what], color=STRENGTHS(eps / most), **style)


def explain_strengths(figure: Figure, axes: Any, table: pd.DataFrame) -> None:
    """Add the colour bar of ε."""
    scale = ScalarMappable(Normalize(0, table["eps"].max()), STRENGTHS)
    figure.colorbar(scale, ax=axes, label="ε", pad=0.01, aspect=30)
