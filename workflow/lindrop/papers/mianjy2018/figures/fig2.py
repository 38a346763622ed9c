"""Figure 2 of Mianjy 2018: iterates of dropout on the landscape of Figure 1."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lindrop.claims.checks import Check, at_most
from lindrop.dropout.objective import keep_of, tied_objective
from lindrop.dropout.optimum import tied_optimal_value
from lindrop.dropout.sgd import tied_dropout_sgd
from lindrop.output.figures import COLOURS, panels
from lindrop.papers.mianjy2018.figures.fig1 import MARK, M, draw_levels, optima

TRACE_LAMBDAS = 0.1, 0.5, 1.0
STARTS = np.array([[[1.55, 0.25]], [[-0.2, -1.65]]])  # (u₁, u₂), far from the diagonals
STEPS, RATE = 100_000, 0.005  # η as printed for half of the steps, then falling to zero
RING: dict[str, Any] = {"ms": 12, "mfc": "none", "mec": COLOURS[2], "mew": 1.6, "zorder": 7}
MARKED = (*range(0, 500), *range(500, STEPS + 1, 100))  # steps shown in the figure


def data(seed: int) -> pd.DataFrame:
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


def draw(data: pd.DataFrame) -> Figure:
    """A panel for every λ: starts red, optima green, as in the paper, and ends as white crosses."""
    figure, axes = panels(3, height=2.7)
    for axis, lam in zip(axes, TRACE_LAMBDAS, strict=True):
        draw_levels(axis, lam)
        axis.plot(*optima(lam).T, "o", label="global optima", **RING)
        runs = data[data["lam"] == lam].groupby("run")
        for colour, (number, run) in zip((COLOURS[0], COLOURS[3]), runs, strict=True):
            place = run[["u1", "u2"]].to_numpy()
            label = f"run {int(str(number)) + 1}"
            axis.plot(*place[0], "o", color=COLOURS[1], **MARK, label="start")
            axis.plot(*place.T, color=colour, lw=0.7, label=label)
            axis.plot(*place[-1], "X", color="w", ms=6, mec="k", mew=0.8, zorder=8, label="end")
        axis.set_title(f"λ = {lam:g}", loc="left")
    named = dict(zip(*axes[0].get_legend_handles_labels()[::-1], strict=True))
    order = "start", "run 1", "run 2", "end", "global optima"
    handles = [named[label] for label in order]
    figure.legend(handles, order, loc="outside lower center", ncols=len(order))
    return figure


def checks(data: pd.DataFrame) -> list[Check]:
    """Checks that every run of Figure 2 ends at an equalised global optimum."""
    ends = data.groupby(["lam", "run"]).last()
    gap = (ends["f"] / ends["optimum"] - 1).max()
    uneven = (ends["u1"].abs() / ends["u2"].abs()).apply(np.log).abs().max()
    return [
        at_most(
            "fig2", "f at the end above its least, relative: the worst of six runs", gap, 0, 0.02
        ),
        at_most("fig2", "|log(|u₁| / |u₂|)| at the end: the worst of six runs", uneven, 0, 0.15),
    ]
