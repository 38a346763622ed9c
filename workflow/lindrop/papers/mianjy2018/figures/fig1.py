"""Figure 1 of Mianjy 2018: landscape of a tied network with one input and two hidden nodes.

f(u₁, u₂) = (M − u₁² − u₂²)² + λ(u₁⁴ + u₂⁴) with M = 2 is least at u₁² = u₂² = M/(2 + λ) (Theorem
2.4), four points on the diagonals. At λ = 0 it is least on a whole circle.
"""

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import Check, at_most, equal
from lindrop.dropout.optimum import solve_tied
from lindrop.output.figures import COLOURS, key, page

SURFACE_LAMBDAS = 0.0, 0.5, 2.0  # no, moderate and strong dropout; the paper's values are illegible
RIM = 5.0  # f at the edge of the drawn surfaces, above f(0) = 4

M = np.array([[2.0]])
REACH, POINTS = 1.8, 73  # half width and number of points of the grid along u₁ and u₂
GRID = 2 * REACH / (POINTS - 1)  # spacing of the grid
MARK: dict[str, Any] = {"ms": 5, "mec": "k", "mew": 0.6, "zorder": 6}
LEVELS = 0.02, 0.1, 0.3, 0.7, 1.3, 2.2, 3.5, 6, 10  # levels of f − min f
GREYS = ListedColormap([str(grey) for grey in np.linspace(0, 0.75, len(LEVELS))])
SHADES = BoundaryNorm((0, *LEVELS), len(LEVELS))  # one grey for every level


def data() -> pd.DataFrame:
    """f on a grid for every λ of Figure 1."""
    ticks = np.linspace(-REACH, REACH, POINTS)
    u_1, u_2 = (axis.ravel() for axis in np.meshgrid(ticks, ticks))
    return pd.concat(
        pd.DataFrame({"lam": lam, "u1": u_1, "u2": u_2, "f": landscape(u_1, u_2, lam)})
        for lam in SURFACE_LAMBDAS
    )


def draw(data: pd.DataFrame) -> Figure:
    """Surfaces of f up to f = RIM, and below them level sets with the optima and their key."""
    figure = page(4.4)
    bottoms = []
    for column, lam in enumerate(SURFACE_LAMBDAS, start=1):
        _draw_surface(figure.add_subplot(2, 3, column, projection="3d"), lam)
        bottoms.append(figure.add_subplot(2, 3, 3 + column))
        levels = draw_levels(bottoms[-1], lam)
        draw_optima(bottoms[-1], lam)
    bar = figure.colorbar(levels, ax=bottoms, spacing="uniform", format="%g", pad=0.02, aspect=15)
    bar.set_label("level sets: f less its least value")
    bar.ax.tick_params(labelsize=6)
    key(figure, bottoms, 2)
    return figure


def _draw_surface(axis: Axes3D, lam: float) -> None:
    """Draw f in polar coordinates, where the edge at f = RIM is smooth."""
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
    axis.set(xlabel="$u_1$", ylabel="$u_2$", zlim=(0, RIM))
    axis.text2D(0.92, 0.93, "f", transform=axis.transAxes)  # a z-label would be cut off
    axis.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), title=f"λ = {lam:g}")
    axis.view_init(elev=48, azim=-62)
    axis.tick_params(labelsize=6, pad=-2)
    axis.xaxis.labelpad = axis.yaxis.labelpad = -7


def checks(data: pd.DataFrame) -> list[Check]:
    """Checks of the caption of Figure 1, on the local minima of the grid."""
    minima = {lam: _grid_minima(data[data["lam"] == lam]) for lam in SURFACE_LAMBDAS}
    found = [_round_check(data[data["lam"] == 0])]
    for lam, local in minima.items():
        found += _minima_checks(lam, local)
    radii = {lam: _radius(local).mean() for lam, local in minima.items()}
    for (less, far), (more, near) in pairwise(radii.items()):
        what = f"radius of the minima, λ = {more:g} over λ = {less:g}"
        found.append(at_most("fig1", what, near / far, 1 - GRID / 2))
    return found


def _radius(points: pd.DataFrame) -> Vector:
    """Distance of every point from the origin."""
    return np.asarray(np.hypot(points["u1"], points["u2"]))


def _grid_minima(surface: pd.DataFrame) -> pd.DataFrame:
    """Points at which f is not above that of any of the eight neighbours."""
    f = surface["f"].to_numpy().reshape(POINTS, POINTS)
    inner = f[1:-1, 1:-1]
    around = [np.roll(f, shift, (0, 1))[1:-1, 1:-1] for shift in product((-1, 0, 1), repeat=2)]
    return surface[np.pad(inner <= np.min(around, axis=0), 1).ravel()]


def _round_check(surface: pd.DataFrame) -> Check:
    """Check that f depends on the radius alone at λ = 0."""
    radius = _radius(surface)
    apart = np.abs(landscape(radius, np.zeros_like(radius), 0) - surface["f"]).max()
    return equal("fig1", "λ = 0: largest change of f by a rotation to the axis", apart, 0, 1e-12)


def _minima_checks(lam: float, local: pd.DataFrame) -> Iterator[Check]:
    """Checks of the place and number of the minima at one λ."""
    where = f"λ = {lam:g}, minima on the grid"
    best = np.sqrt(2 * M.item() / (2 + lam))
    apart = abs(_radius(local) - best).max()
    yield at_most("fig1", f"{where}: distance to the optimal radius", apart, GRID)
    if lam:
        uneven = np.abs(np.abs(local["u1"]) - np.abs(local["u2"])).max()
        yield equal("fig1", f"{where}: their number", len(local), 4)
        yield equal("fig1", f"{where}: difference of their f", np.ptp(local["f"]))
        yield at_most("fig1", f"{where}: largest ||u₁| − |u₂||", uneven, GRID)


def landscape(u_1: Matrix, u_2: Matrix, lam: float) -> Matrix:
    """The objective f(u₁, u₂)."""
    return np.asarray((M.item() - u_1**2 - u_2**2) ** 2 + lam * (u_1**4 + u_2**4))


def optima(lam: float) -> Matrix:
    """The optimum of Theorem 2.4 under all changes of sign: rows (u₁, u₂)."""
    best = np.abs(solve_tied(M, 2, lam))
    return np.array(list(product((1, -1), repeat=2))) * best


def draw_levels(axis: Axes, lam: float) -> ContourSet:
    """Draw level sets of f above its least value, and return them."""
    ticks = np.linspace(-REACH, REACH, 4 * POINTS)
    u_1, u_2 = np.meshgrid(ticks, ticks)
    f = landscape(u_1, u_2, lam)
    excess = f - f.min()
    levels = axis.contour(u_1, u_2, excess, levels=LEVELS, cmap=GREYS, norm=SHADES, linewidths=0.6)
    axis.set(xlabel="$u_1$", ylabel="$u_2$", aspect="equal")
    axis.grid(False)
    return levels


def draw_optima(axis: Axes, lam: float) -> None:
    """Draw the global optima: four points, or the circle at λ = 0."""
    if lam == 0:
        angle = np.linspace(0, 2 * np.pi, 200)
        radius = np.sqrt(M.item())
        circle = radius * np.cos(angle), radius * np.sin(angle)
        axis.plot(*circle, color=COLOURS[2], lw=1.8, label="global optima at λ = 0")
    else:
        axis.plot(*optima(lam).T, "o", color=COLOURS[2], label="global optima at λ > 0", **MARK)
