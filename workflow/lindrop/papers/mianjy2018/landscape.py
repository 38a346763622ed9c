"""The landscape of Figures 1 and 2 of Mianjy 2018: one input, two hidden nodes, tied weights.

f(u₁, u₂) = (M − u₁² − u₂²)² + λ(u₁⁴ + u₂⁴) with M = 2 is least at u₁² = u₂² = M/(2 + λ)
(Theorem 2.4), four points on the diagonals; at λ = 0 it is least on a whole circle.
"""

from itertools import product
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from lindrop.base.arrays import Matrix
from lindrop.dropout.optimum import solve_tied
from lindrop.output.figures import COLOURS

M = np.array([[2.0]])
REACH, POINTS = 1.8, 73  # of the grid along u₁ and u₂
MARK: dict[str, Any] = {"ms": 5, "mec": "k", "mew": 0.6, "zorder": 6}
LEVELS = 0.02, 0.1, 0.3, 0.7, 1.3, 2.2, 3.5, 6, 10  # of f − min f


def landscape(u_1: Matrix, u_2: Matrix, lam: float) -> Matrix:
    """f(u₁, u₂)."""
    return np.asarray((M.item() - u_1**2 - u_2**2) ** 2 + lam * (u_1**4 + u_2**4))


def optima(lam: float) -> Matrix:
    """The optimum of Theorem 2.4 under all changes of sign: rows (u₁, u₂)."""
    best = np.abs(solve_tied(M, 2, lam))
    return np.array(list(product((1, -1), repeat=2))) * best


def draw_levels(axis: Axes, lam: float) -> None:
    """Level sets of f above its least value."""
    ticks = np.linspace(-REACH, REACH, 4 * POINTS)
    u_1, u_2 = np.meshgrid(ticks, ticks)
    f = landscape(u_1, u_2, lam)
    axis.contour(u_1, u_2, f - f.min(), levels=LEVELS, cmap="Greys_r", linewidths=0.6, alpha=0.8)
    axis.set(xlabel="$u_1$", ylabel="$u_2$", aspect="equal")
    axis.grid(False)


def draw_optima(axis: Axes, lam: float) -> None:
    """The global optima: four points, or the circle of λ = 0."""
    if lam == 0:
        angle = np.linspace(0, 2 * np.pi, 200)
        radius = np.sqrt(M.item())
        axis.plot(radius * np.cos(angle), radius * np.sin(angle), color=COLOURS[2], lw=1.8)
    else:
        axis.plot(*optima(lam).T, "o", color=COLOURS[2], label="optimum", **MARK)
