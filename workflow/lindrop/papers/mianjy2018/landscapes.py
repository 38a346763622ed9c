"""Figures 1 and 2 of Mianjy 2018: an autoencoder with one input and two hidden nodes, M = 2.

f(u₁, u₂) = (M − u₁² − u₂²)² + λ(u₁⁴ + u₂⁴) is least at u₁² = u₂² = M/(2 + λ) (Theorem 2.4), four
points on the diagonals; at λ = 0 it is least on a whole circle.
"""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D

from lindrop.base.arrays import Matrix
from lindrop.dropout.objective import keep_of, tied_objective
from lindrop.dropout.optimum import solve_tied, tied_optimal_value
from lindrop.dropout.sgd import tied_dropout_sgd
from lindrop.output.figures import COLOURS, page, panels

M = np.array([[2.0]])
SURFACE_LAMBDAS = 0.0, 0.5, 2.0  # the paper's values are not legible in it: none, middle, large
TRACE_LAMBDAS = 0.1, 0.5, 1.0
REACH, POINTS = 1.8, 73  # of the grid along u₁ and u₂
MARK: dict[str, Any] = {"ms": 5, "mec": "k", "mew": 0.6, "zorder": 6}
RIM = 5.0  # of the drawn surfaces, above f(0) = 4
LEVELS = 0.02, 0.1, 0.3, 0.7, 1.3, 2.2, 3.5, 6, 10  # of f − min f
STARTS = np.array([[[1.55, 0.25]], [[-0.2, -1.65]]])  # (u₁, u₂), far from the diagonals
STEPS, RATE = 100_000, 0.005  # printed η: constant for half of the steps, then falling to zero
MARKED = (*range(0, 500), *range(500, STEPS + 1, 100))  # steps shown


def landscape(u_1: Matrix, u_2: Matrix, lam: float) -> Matrix:
    """f(u₁, u₂)."""
    return np.asarray((M.item() - u_1**2 - u_2**2) ** 2 + lam * (u_1**4 + u_2**4))


def surfaces() -> pd.DataFrame:
    """f on a grid for every λ of Figure 1."""
    ticks = np.linspace(-REACH, REACH, POINTS)
    u_1, u_2 = (axis.ravel() for axis in np.meshgrid(ticks, ticks))
    return pd.concat(
        pd.DataFrame({"lam": lam, "u1": u_1, "u2": u_2, "f": landscape(u_1, u_2, lam)})
        for lam in SURFACE_LAMBDAS
    )


def optima(lam: float) -> Matrix:
    """The optimum of Theorem 2.4 under all changes of sign: rows (u₁, u₂)."""
    best = np.abs(solve_tied(M, 2, lam))
    return np.array(list(product((1, -1), repeat=2))) * best


def traces(seed: int) -> pd.DataFrame:
    """Iterates of Algorithm 1 from two starts for every λ of Figure 2, with f at each."""
    rates = RATE * np.minimum(1, 2 * (1 - np.arange(STEPS) / STEPS))
    cases = list(product(TRACE_LAMBDAS, enumerate(STARTS)))
    found = []
    for (lam, (run, start)), rng in zip(
        cases, np.random.default_rng(seed).spawn(len(cases)), strict=True
    ):
        iterates = tied_dropout_sgd(M, start, keep_of(lam), rates, MARKED, rng)
        for step, u in zip(MARKED, iterates, strict=True):
            f = tied_objective(M, u, lam)
            found.append((lam, run, step, u[0, 0], u[0, 1], f, tied_optimal_value(M, 2, lam)))
    return pd.DataFrame(found, columns=["lam", "run", "step", "u1", "u2", "f", "optimum"])


def draw_surfaces(data: pd.DataFrame) -> Figure:
    """Above the surfaces, up to f = RIM, below their level sets with the optima."""
    figure = page(4.4)
    for column, lam in enumerate(SURFACE_LAMBDAS, start=1):
        top = figure.add_subplot(2, 3, column, projection="3d")
        bottom = figure.add_subplot(2, 3, 3 + column)
        _draw_surface(top, lam)
        _draw_levels(bottom, lam)
        _draw_optima(bottom, lam)
    heights = ", ".join(f"{level:g}" for level in LEVELS)
    title = f"level sets of f above its least value: {heights}"
    figure.legend(*bottom.get_legend_handles_labels(), loc="outside lower center", title=title)
    return figure


def _draw_surface(axis: Axes3D, lam: float) -> None:
    """In polar coordinates: cut where f reaches the rim, which is smooth so."""
    angle, share = np.meshgrid(np.linspace(0, 2 * np.pi, 97), np.linspace(0, 1, 41))
    bend = 1 + lam * (np.cos(angle) ** 4 + np.sin(angle) ** 4)  # f = M² − 2Mr² + bend·r⁴
    m = M.item()
    radius = share * np.sqrt((m + np.sqrt(m**2 - bend * (m**2 - RIM))) / bend)
    u_1, u_2 = radius * np.cos(angle), radius * np.sin(angle)
    axis.plot_surface(
        u_1,
        u_2,
        landscape(u_1, u_2, lam),
        cmap="viridis",
        rstride=2,
        cstride=2,
        linewidth=0.1,
        edgecolor="k",
        rasterized=True,
    )
    axis.set(xlabel="$u_1$", ylabel="$u_2$", zlabel="f", zlim=(0, RIM))
    axis.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), title=f"λ = {lam:g}")
    axis.view_init(elev=48, azim=-62)
    axis.tick_params(labelsize=6, pad=-2)
    axis.xaxis.labelpad = axis.yaxis.labelpad = axis.zaxis.labelpad = -7


def _draw_levels(axis: Axes, lam: float) -> None:
    ticks = np.linspace(-REACH, REACH, 4 * POINTS)
    u_1, u_2 = np.meshgrid(ticks, ticks)
    f = landscape(u_1, u_2, lam)
    axis.contour(u_1, u_2, f - f.min(), levels=LEVELS, cmap="Greys_r", linewidths=0.6, alpha=0.8)
    axis.set(xlabel="$u_1$", ylabel="$u_2$", aspect="equal")
    axis.grid(False)


def _draw_optima(axis: Axes, lam: float) -> None:
    if lam == 0:
        angle = np.linspace(0, 2 * np.pi, 200)
        radius = np.sqrt(M.item())
        axis.plot(radius * np.cos(angle), radius * np.sin(angle), color=COLOURS[2], lw=1.8)
    else:
        axis.plot(*optima(lam).T, "o", color=COLOURS[2], label="optimum", **MARK)


def draw_traces(data: pd.DataFrame) -> Figure:
    """A panel for every λ: starts red, optima green, as in the paper."""
    figure, axes = panels(3, height=2.7)
    for axis, lam in zip(axes, TRACE_LAMBDAS, strict=True):
        _draw_levels(axis, lam)
        _draw_optima(axis, lam)
        runs = data[data["lam"] == lam].groupby("run")
        for colour, (number, run) in zip((COLOURS[0], COLOURS[3]), runs, strict=True):
            place = run[["u1", "u2"]].to_numpy()
            label = f"run {int(str(number)) + 1}"
            axis.plot(*place.T, color=colour, lw=0.6, label=label)
            axis.plot(*place[0], "o", color=COLOURS[1], **MARK, label="start")
            axis.plot(*place[-1], "x", color="k", ms=4, mew=1, zorder=7, label="end")
        axis.set_title(f"λ = {lam:g}", loc="left")
    named = dict(zip(*axes[0].get_legend_handles_labels()[::-1], strict=True))
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=len(named))
    return figure
