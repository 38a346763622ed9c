"""What Mianjy 2018 says of its Figures 1 and 2, asked of their data."""

from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np
import pandas as pd

from lindrop.base.arrays import Vector
from lindrop.claims.checks import Check, at_most, equal
from lindrop.papers.mianjy2018.landscapes import POINTS, REACH, SURFACE_LAMBDAS, M, landscape

GRID = 2 * REACH / (POINTS - 1)  # its spacing


def surface_checks(data: pd.DataFrame) -> list[Check]:
    """What the caption of Figure 1 says, of the local minima of the grid."""
    minima = {lam: _grid_minima(data[data["lam"] == lam]) for lam in SURFACE_LAMBDAS}
    checks = [_round_check(data[data["lam"] == 0])]
    for lam, local in minima.items():
        checks += _minima_checks(lam, local)
    radii = {lam: _radius(local).mean() for lam, local in minima.items()}
    for (less, far), (more, near) in pairwise(radii.items()):
        what = f"radius of the minima, λ = {more:g} over λ = {less:g}"
        checks.append(at_most("fig1", what, near / far, 1 - GRID / 2))
    return checks


def _radius(points: pd.DataFrame) -> Vector:
    return np.asarray(np.hypot(points["u1"], points["u2"]))


def _grid_minima(surface: pd.DataFrame) -> pd.DataFrame:
    """Points that are not above any of their eight neighbours."""
    f = surface["f"].to_numpy().reshape(POINTS, POINTS)
    inner = f[1:-1, 1:-1]
    around = [np.roll(f, shift, (0, 1))[1:-1, 1:-1] for shift in product((-1, 0, 1), repeat=2)]
    return surface[np.pad(inner <= np.min(around, axis=0), 1).ravel()]


def _round_check(surface: pd.DataFrame) -> Check:
    """λ = 0: f is that of the radius."""
    radius = _radius(surface)
    apart = np.abs(landscape(radius, np.zeros_like(radius), 0) - surface["f"]).max()
    return equal("fig1", "λ = 0: largest change of f by a rotation to the axis", apart, 0, 1e-12)


def _minima_checks(lam: float, local: pd.DataFrame) -> Iterator[Check]:
    where = f"λ = {lam:g}, minima on the grid"
    best = np.sqrt(2 * M.item() / (2 + lam))
    apart = abs(_radius(local) - best).max()
    yield at_most("fig1", f"{where}: distance to the optimal radius", apart, GRID)
    if lam:
        uneven = np.abs(np.abs(local["u1"]) - np.abs(local["u2"])).max()
        yield equal("fig1", f"{where}: their number", len(local), 4)
        yield equal("fig1", f"{where}: difference of their f", np.ptp(local["f"]))
        yield at_most("fig1", f"{where}: largest ||u₁| − |u₂||", uneven, GRID)


def trace_checks(data: pd.DataFrame) -> list[Check]:
    """Every run of Figure 2 ends at an equalised global optimum."""
    ends = data.groupby(["lam", "run"]).last()
    gap = (ends["f"] / ends["optimum"] - 1).max()
    uneven = (ends["u1"].abs() / ends["u2"].abs()).apply(np.log).abs().max()
    return [
        at_most(
            "fig2", "f at the end above its least, relative: the worst of six runs", gap, 0, 0.02
        ),
        at_most("fig2", "|log(|u₁| / |u₂|)| at the end: the worst of six runs", uneven, 0, 0.15),
    ]
