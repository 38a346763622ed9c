"""Figures 1 and 3 to 6 of Pal 2020, and two of our own, from the tables of `curves`."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lindrop.arrays import Matrix
from lindrop.dropout.samplers import (
    dropblock,
    dropout,
    gaussian_noise,
    overlapping_dropblock,
    seed_keep_of,
)
from lindrop.figures import COLOURS, WIDTH
from lindrop.pal2020.synthetic import Noise

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
    figure, ((left, right),) = _rows(1)
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
    right.set(xscale="log", xlabel="iteration", ylabel="relative to Theorem 4.1")
    right.legend()
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
    figure = Figure(figsize=(WIDTH, ROW))
    axes = figure.subplots(1, len(keeps), squeeze=False, sharey=True)[0]
    for axis, (keep, of_keep) in zip(axes, keeps, strict=True):
        for name, curve in of_keep.groupby("scheme", sort=False):
            axis.plot(curve["iteration"], curve["smoothed"], label=name, **styles[str(name)])
        _finish(axis, f"DropBlock, θ = {keep:g}")
    for axis in axes[1:]:
        axis.set_ylabel("")
        axis.get_legend().remove()
    return figure


def scheme_matrices(
    seed: int, *, nodes: int = 20, block: int = 5, keep: float = 0.5, draws: int = 20_000
) -> pd.DataFrame:
    """C̄ of four schemes, exact and of sampled z/μ, entry by entry.

    The last has none of zeros and ones: Gaussian noise, correlated the more, the nearer two nodes.
    """
    place = np.arange(nodes)
    decay = (1 - keep) / keep * 0.8 ** np.abs(place[:, None] - place)
    of_nodes = {
        "dropout": dropout(nodes, keep),
        "DropBlock": dropblock(nodes, keep, block),
        "overlapping DropBlock": overlapping_dropblock(nodes, seed_keep_of(keep, block), block),
    }
    laws: dict[str, tuple[Noise, Matrix]] = {
        name: (scheme.noise, scheme.characteristic) for name, scheme in of_nodes.items()
    } | {"Gaussian noise": (partial(gaussian_noise, decay), decay)}
    row, column = np.indices(decay.shape)
    found = []
    streams = np.random.default_rng(seed).spawn(len(laws))
    for (name, (noise, exact)), rng in zip(laws.items(), streams, strict=True):
        entries = {"i": row, "j": column, "exact": exact, "sampled": np.cov(noise(draws, rng).T)}
        table = pd.DataFrame({key: values.ravel() for key, values in entries.items()})
        found.append(table.assign(scheme=name))
    return pd.concat(found, ignore_index=True)


def draw_schemes(matrices: pd.DataFrame) -> Figure:
    """Characteristic matrices: exact on and above the diagonal, of sampled masks below it."""
    schemes = list(matrices.groupby("scheme", sort=False))
    figure = Figure(figsize=(WIDTH, 2.1))
    axes = figure.subplots(1, len(schemes), sharey=True)
    top = matrices["exact"].max()
    for axis, (name, matrix) in zip(axes, schemes, strict=True):
        shown = np.where(matrix["i"] <= matrix["j"], matrix["exact"], matrix["sampled"])
        image = pd.Series(shown, [matrix["i"], matrix["j"]]).unstack()
        nodes = (0.5, len(image) + 0.5)
        drawn = axis.imshow(image, vmin=0, vmax=top, cmap="viridis", extent=nodes + nodes[::-1])
        axis.set_title(name, loc="left")
        axis.set_xlabel("hidden node")
        axis.grid(False)
    axes[0].set_ylabel("hidden node")
    figure.colorbar(drawn, ax=axes, label="c̄", shrink=0.8)
    return figure


def _rows(rows: int) -> tuple[Figure, Any]:
    figure = Figure(figsize=(WIDTH, ROW * rows))
    return figure, figure.subplots(rows, 2, squeeze=False)


def _line(
    axis: Axes, curve: pd.DataFrame, column: str, label: str, colour: str, **style: Any
) -> None:
    axis.plot(curve["iteration"], curve[column], color=colour, label=label, **style)


def _finish(axis: Axes, title: str) -> None:
    axis.set(xscale="log", yscale="log", xlabel="iteration", ylabel="objective")
    axis.set_title(title, loc="left")
    axis.legend()
