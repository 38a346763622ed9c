"""Figures of Pretorius 2018 on images, drawn."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lindrop.output.figures import COLOURS, WIDTH, panels

NAMES = {"ae": "AE", "wdae": "WDAE", "dae": "DAE"}
OF_KIND = {"ae": COLOURS[0], "wdae": COLOURS[1], "dae": COLOURS[2], "dae_variance": COLOURS[2]}
SEEN = 4  # one epoch of so many gets a cross
TRIANGLE: dict[str, Any] = {"ls": "", "marker": "<", "ms": 3.5}
LEFT_AND_RIGHT = {"weight decay": ("ae", "wdae"), "noise": ("ae", "dae")}
SHOWN = {"relu": "ReLU"}


def draw_linear(curves: pd.DataFrame) -> Figure:
    """A row per set of images. Left: weight decay; right: noise. Lines are theory."""
    sets = list(curves.groupby("images", sort=False))
    figure = Figure(figsize=(WIDTH, 2.4 * len(sets)))
    grid = figure.subplots(len(sets), 2, squeeze=False, sharey=True, sharex="row")
    for row, (images, of_set) in zip(grid, sets, strict=True):
        for axis, (part, kinds) in zip(row, LEFT_AND_RIGHT.items(), strict=True):
            for kind in kinds:
                _draw_linear(axis, of_set[of_set["kind"] == kind], OF_KIND[kind], NAMES[kind])
            axis.set_title(f"{images}: {part}", loc="left")
            axis.set_xscale("symlog", linthresh=1)
            axis.set(xlabel="epoch", ylim=(-0.05, 1.1))
            axis.legend(loc="upper left")
        row[0].set_ylabel("identity mapping w₂w₁")
    return figure


def _draw_linear(axis: Axes, curves: pd.DataFrame, colour: str, name: str) -> None:
    for number, (_, mode) in enumerate(curves.groupby("mode")):
        theory, simulated = (f"{name}, theory", f"{name}, network") if number == 0 else ("", "")
        axis.plot(mode["epoch"], mode["theory"], color=colour, lw=1, label=theory)
        style: dict[str, Any] = {
            "ls": "",
            "marker": "x",
            "ms": 3,
            "markevery": SEEN,
            "color": colour,
        }
        axis.plot(mode["epoch"], mode["simulated"], label=simulated, **style)


def draw_networks(curves: pd.DataFrame) -> Figure:
    """A panel per set of images; of every network the mapping of the first modes, mode 1 on top."""
    sets = list(curves.groupby("images", sort=False))
    figure, axes = panels(len(sets), height=2.8)
    for axis, (images, of_set) in zip(axes, sets, strict=True):
        for kind, of_kind in of_set.groupby("kind", sort=False):
            _draw_network(axis, of_kind, str(kind))
        if of_set["paper"].notna().any():
            axis.plot([], [], color="k", label="the authors' last values", **TRIANGLE)
        activation = SHOWN.get(of_set["activation"].iloc[0], "tanh")
        axis.set_title(f"{images}: {activation}", loc="left")
        axis.set(xlabel="epoch")
        axis.legend()
    axes[0].set_ylabel("estimated identity mapping")
    return figure


def _draw_network(axis: Axes, curves: pd.DataFrame, kind: str) -> None:
    colour, dots = OF_KIND[kind], ":" if kind == "dae_variance" else "-"
    for number, (_, mode) in enumerate(curves.groupby("mode")):
        label = _label(kind, mode["deviation"].iloc[0]) if number == 0 else ""
        width = 1.25 - 0.2 * number
        axis.plot(mode["epoch"], mode["mapping"], dots, color=colour, lw=width, label=label)
        if kind != "dae_variance":
            last = mode.iloc[-1:]
            axis.plot(last["epoch"], last["paper"], color=colour, **TRIANGLE)


def _label(kind: str, deviation: float) -> str:
    return f"DAE, σ² = {deviation**2:.3g}" if deviation else NAMES[kind]
