"""Figures 1 and 3 to 6 of Pal 2020, and two of our own, from the tables of `curves`."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lindrop.output.figures import COLOURS, page, panels

BLUE, ORANGE, GREEN, PINK = COLOURS[:4]
BLACK = COLOURS[-1]
ROW = 2.3  # inches
FAINT: dict[str, Any] = {"lw": 0.4, "alpha": 0.6}


def draw_dropblock(curves: pd.DataFrame) -> Figure:
    """Figures 1 and 5; a row per θ. Left, the paper's top: masks; right: the way to the minimum."""
    figure, axes = _rows(curves["keep"].nunique())
    for (keep, curve), (left, right) in zip(curves.groupby("keep"), axes, strict=True):
        _line(left, curve, "stochastic", "DropBlock, stochastic", BLUE, **FAINT)
        _line(left, curve, "deterministic", "DropBlock, deterministic", ORANGE)
        _line(right, curve, "deterministic", "DropBlock, deterministic", ORANGE)
        minimum = curve["minimum"].iloc[0]
        right.axhline(minimum, color=BLACK, ls="--", lw=1, label="minimum of Theorem 2.7")
        printed = curve["printed"].iloc[0]
        right.axhline(printed, color=PINK, ls=":", lw=1, label="Theorem 2.7 as printed")
        gap = curve["deterministic"].iloc[-1] / minimum - 1
        _finish(left, f"θ = {keep:g}")
        _finish(right, f"θ = {keep:g}: ends {gap:.2%} above the minimum")
    return figure


def draw_dropconnect(curves: pd.DataFrame) -> Figure:
    """Figures 3 and 6; a row per θ. Left, the paper's top: masks; right: beside dropout."""
    figure, axes = _rows(curves["keep"].nunique())
    for (keep, of_keep), (left, right) in zip(curves.groupby("keep"), axes, strict=True):
        of_scheme = dict(list(of_keep.groupby("scheme")))
        connect = of_scheme["DropConnect"]
        _line(left, connect, "stochastic", "DropConnect, stochastic", BLUE, **FAINT)
        _line(left, connect, "printed", "Theorem 4.1 as printed", ORANGE, ls="--")
        _line(left, connect, "deterministic", "corrected", GREEN)
        _line(right, of_scheme["dropout"], "deterministic", "dropout", BLACK)
        _line(right, connect, "printed", "DropConnect, as printed", ORANGE, ls="--")
        _line(right, connect, "deterministic", "DropConnect, corrected", GREEN)
        for axis in (left, right):
            _finish(axis, f"θ = {keep:g}")
    return figure


def draw_inputs(curves: pd.DataFrame) -> Figure:
    """Theorem 4.1 where inputs are correlated: objectives, and all relative to what is printed."""
    figure, (left, right) = panels(2, height=ROW + 0.5)
    correlated = curves[curves["inputs"] == "correlated"]
    _line(left, correlated, "stochastic", "DropConnect, stochastic", BLUE, **FAINT)
    _line(left, correlated, "printed", "Theorem 4.1 as printed", ORANGE, ls="--")
    _line(left, correlated, "deterministic", "corrected", GREEN)
    _finish(left, f"correlated inputs, θ = {curves['keep'].iloc[0]:g}")
    right.axhline(1, color=ORANGE, ls="--", label="Theorem 4.1 as printed")
    shown = {"independent": (PINK, "o"), "correlated": (BLUE, "^")}
    for inputs, curve in curves.groupby("inputs", sort=False):
        colour, marker = shown[str(inputs)]
        style: dict[str, Any] = {"color": colour, "marker": marker, "ms": 1, "lw": 0, "alpha": 0.5}
        iteration, printed = curve["iteration"], curve["printed"]
        right.plot(iteration, curve["stochastic"] / printed, label=f"{inputs} inputs", **style)
        label = "corrected" if inputs == "correlated" else None
        right.plot(iteration, curve["deterministic"] / printed, color=GREEN, label=label)
    right.set(xscale="log", xlabel="iteration", ylabel="relative to Theorem 4.1 as printed")
    right.set_title("loss under the mask (points) and objective", loc="left")
    right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)  # points are everywhere
    return figure


def draw_overlap(curves: pd.DataFrame) -> Figure:
    """Figure 4; a column per θ. The iterations are smoothed as in the paper."""
    styles: dict[str, dict[str, Any]] = {
        "grid": {"color": BLACK},
        "overlapping, same θ": {"color": BLUE},
        "overlapping, corrected θ′": {"color": GREEN},
        "overlapping, printed θ′": {"color": ORANGE, "ls": ":", "lw": 2},
    }
    keeps = list(curves.groupby("keep"))
    figure = page(ROW)
    axes = figure.subplots(1, len(keeps), squeeze=False, sharey=True)[0]
    for axis, (keep, of_keep) in zip(axes, keeps, strict=True):
        for name, curve in of_keep.groupby("scheme", sort=False):
            axis.plot(curve["iteration"], curve["smoothed"], label=name, **styles[str(name)])
        _finish(axis, f"DropBlock, θ = {keep:g}")
    for axis in axes[1:]:
        axis.set_ylabel("")
        axis.get_legend().remove()
    return figure


def draw_schemes(matrices: pd.DataFrame) -> Figure:
    """Characteristic matrices: exact on and above the diagonal, of sampled masks below it."""
    schemes = list(matrices.groupby("scheme", sort=False))
    figure = page(2.1)
    axes = figure.subplots(1, len(schemes), sharey=True)
    upper = matrices["i"] <= matrices["j"]
    shown = matrices["exact"].where(upper, matrices["sampled"])
    colours: dict[str, Any] = {"vmin": shown.min(), "vmax": shown.max(), "cmap": "viridis"}
    for axis, (name, matrix) in zip(axes, schemes, strict=True):
        image = shown[matrix.index].to_numpy().reshape(matrix["i"].nunique(), -1)
        nodes = (0.5, len(image) + 0.5)
        drawn = axis.imshow(image, extent=nodes + nodes[::-1], **colours)
        corner: dict[str, Any] = {"transform": axis.transAxes, "color": "white", "size": 7}
        axis.text(0.95, 0.95, "exact", ha="right", va="top", **corner)
        axis.text(0.05, 0.05, "sampled", ha="left", va="bottom", **corner)
        axis.set_title(name, loc="left")
        axis.set_xlabel("hidden node")
        axis.grid(False)
    axes[0].set_ylabel("hidden node")
    figure.colorbar(drawn, ax=axes, label="entry of C̄", shrink=0.8)
    return figure


def _rows(rows: int) -> tuple[Figure, Any]:
    figure = page(ROW * rows)
    return figure, figure.subplots(rows, 2, squeeze=False)


def _line(
    axis: Axes, curve: pd.DataFrame, column: str, label: str, colour: str, **style: Any
) -> None:
    axis.plot(curve["iteration"], curve[column], color=colour, label=label, **style)


def _finish(axis: Axes, title: str) -> None:
    axis.set(xscale="log", yscale="log", xlabel="iteration", ylabel="objective")
    axis.set_title(title, loc="left")
    axis.legend()
