"""Figure 3 of Mianjy 2018, drawn."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lindrop.output.figures import COLOURS, page
from lindrop.papers.mianjy2018.convergence import PAPER_RUNS, SETTING, band, summary


def draw_convergence(curves: pd.DataFrame) -> Figure:
    """A row for every width: f for each λ, then the variance of importance scores for all."""
    widths, lams = (np.unique(curves[name]) for name in SETTING)
    figure = page(1.9 * len(widths) + 0.4)
    grid = figure.subplots(len(widths), len(lams) + 1, sharex=True, squeeze=False)
    for (*left, right), width in zip(grid, widths, strict=True):
        for axis, lam, colour in zip(left, lams, COLOURS[2:], strict=False):
            case = curves[(curves["width"] == width) & (curves["lam"] == lam)]
            axis.sharey(left[0])
            _draw_runs(axis, case, "objective", COLOURS[0])
            axis.axhline(case["optimum"].iloc[0], color=COLOURS[1], ls="--")
            gap = summary(case)["gap"].item()
            axis.set(title=f"λ = {lam:g}: gap {gap:.1%}")
            axis.tick_params(labelleft=axis is left[0])
            _draw_runs(right, case, "variance", colour, f"λ = {lam:g}")
        left[0].set_ylabel(f"r = {width}: objective f")
        right.set(title=f"r = {width}", ylabel="variance of importance")
        right.legend(loc="lower left")
    for axis in grid[-1]:
        axis.set(xlabel="step", xticks=[0, 1, 100, 10_000])
    _explain(figure, grid[0, 0], curves["run"].nunique())
    return figure


def _draw_runs(axis: Axes, case: pd.DataFrame, what: str, colour: str, label: str = "") -> None:
    """Mean over the runs and a band for their spread; a logarithmic axis that holds step 0."""
    values = case.pivot(index="step", columns="run", values=what)
    low, high = (values.quantile(share, axis=1) for share in band(values.shape[1]))
    axis.fill_between(values.index, low, high, color=colour, alpha=0.25, lw=0)
    axis.plot(values.mean(axis=1), color=colour, label=label)
    axis.set_yscale("log")
    axis.set_xscale("symlog", linthresh=1)


def _explain(figure: Figure, axis: Axes, runs: int) -> None:
    curve, optimum = axis.lines
    (shade,) = axis.collections
    spread = "all runs" if band(runs) == (0, 1) else "10 to 90 % of the runs"
    labels = [f"mean of {runs} runs; the paper: {PAPER_RUNS}", spread, "global optimum"]
    figure.legend([curve, shade, optimum], labels, loc="outside lower center", ncols=3)
