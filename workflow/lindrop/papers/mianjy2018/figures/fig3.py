"""Figure 3 of Mianjy 2018: dropout (Algorithm 1) converges to global optima and equalises weights.

The checks test the statements of Section 6 and of the caption on means over the runs.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import t as student

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import EXTENSION, PRINTED, Check, Form, at_most
from lindrop.dropout.objective import keep_of
from lindrop.output.figures import COLOURS, page
from lindrop.papers.mianjy2018.convergence import (
    FEW_RUNS,
    INPUTS,
    OUTPUTS,
    PAPER_RUNS,
    SETTING,
    band,
    by_run,
    summary,
)
from lindrop.store.curves import read_curves

ENDS = 0.02  # a smaller share of the variance at the start counts as none: equalised
EARLY = 0.1  # share at which the speed is measured, too
CHANCE = 0.001  # probability that any point of a curve passes for a rise by chance
RESAMPLES = 400


def data(curves: str) -> pd.DataFrame:
    """Every run of the simulation, read from its file."""
    return read_curves(curves)


def table(curves: pd.DataFrame) -> pd.DataFrame:
    """The curves that Figure 3 draws, with the final gap of every setting."""
    by_step = curves.groupby([*SETTING, "step"])
    low, high = band(curves["run"].nunique())
    drawn = {
        f"{what}_{name}": values
        for what in ("objective", "variance")
        for name, values in (
            ("mean", by_step[what].mean()),
            ("low", by_step[what].quantile(low)),
            ("high", by_step[what].quantile(high)),
        )
    }
    ends = summary(curves)[[*SETTING, "runs", "optimum", "gap"]]
    return pd.DataFrame(drawn).reset_index().merge(ends.rename(columns={"gap": "final_gap"}))


def draw(curves: pd.DataFrame) -> Figure:
    """A row for every width: f for each λ, then the variance of importance scores for all λ."""
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
        variances = _variances(curves[curves["width"] == width]).values()
        rise = max(map(largest_rise, variances))
        said = f"rises up to ×{rise:.1f}" if rise > 1 else "no rise beyond chance"
        right.set(title=said, ylabel="variance of importance")
        right.yaxis.tick_right()
        right.yaxis.set_label_position("right")
        right.spines[["left", "right"]].set_visible(False)
        right.legend(loc="lower left")
    for axis in grid[-1]:
        axis.set(xlabel="step", xticks=[0, 1, 100, 10_000])
    _explain(figure, grid[0, 0], curves["run"].nunique())
    steps = curves["step"].max()
    figure.suptitle(
        f"M: {OUTPUTS} × {INPUTS}, r: {' and '.join(map(str, widths))}, as in the paper; "
        f"{steps:,} steps (the paper states no number)",
        fontsize=8,
    )
    return figure


def _draw_runs(axis: Axes, case: pd.DataFrame, what: str, colour: str, label: str = "") -> None:
    """Draw the mean over the runs and a band for their spread; the log axis includes step 0."""
    values = case.pivot(index="step", columns="run", values=what)
    low, high = (values.quantile(share, axis=1) for share in band(values.shape[1]))
    axis.fill_between(values.index, low, high, color=colour, alpha=0.25, lw=0)
    axis.plot(values.mean(axis=1), color=colour, label=label)
    axis.set_yscale("log")
    axis.set_xscale("symlog", linthresh=1)


def _explain(figure: Figure, axis: Axes, runs: int) -> None:
    """Add the legend of curve, band and optimum."""
    curve, optimum = axis.lines
    (shade,) = axis.collections
    spread = "all runs" if band(runs) == (0, 1) else "10 to 90 % of the runs"
    size = "as in the paper" if runs == PAPER_RUNS else f"the paper: {PAPER_RUNS}"
    labels = [f"mean of {runs} runs, {size}", spread, "global optimum"]
    figure.legend([curve, shade, optimum], labels, loc="outside lower center", ncols=3)


def checks(curves: pd.DataFrame) -> list[Check]:
    """Checks of convergence and equalisation, and of how soon the variance has fallen.

    The latter are undecided if there are too few runs.
    """
    ends = summary(curves)
    gap, share = (ends[what].max(skipna=False) for what in ("gap", "variance_share"))
    found = [
        at_most("fig3", "relative gap to the optimum at the end, the worst setting", gap, 0.02),
        at_most("fig3", "variance of importance, end over start, the worst setting", share, ENDS),
    ]
    falls = [
        check
        for width, case in curves.groupby("width")
        for check in _speed_checks(f"r = {width}", case)
    ]
    return found + (falls if ends["runs"].min() >= FEW_RUNS else _undecided(falls))


def _undecided(checks: list[Check]) -> list[Check]:
    """The checks with NaN for the computed number, for too few runs."""
    return [replace(check, computed=np.nan, tolerance=0.0) for check in checks]


def _variances(curves: pd.DataFrame) -> dict[float, pd.DataFrame]:
    """Variance of importance scores for every λ, rising: a row per run and a column per step."""
    lams = np.unique(curves["lam"])
    return {lam: by_run(curves[curves["lam"] == lam], "variance") for lam in lams}


def _speed_checks(at: str, curves: pd.DataFrame) -> Iterator[Check]:
    """Checks that the variance is gone faster for a larger λ.

    A mean step is θ/2 times the gradient, so it is shorter the fewer nodes are kept. In steps times
    θ, which is more than the paper says, a larger λ is faster from early on, too.
    """
    kinds: tuple[tuple[float, bool, Form], ...] = (
        (ENDS, False, PRINTED),
        (ENDS, True, EXTENSION),
        (EARLY, True, EXTENSION),
    )
    for (less, slow), (more, fast) in pairwise(_variances(curves).items()):
        for share, lengths, form in kinds:
            ratio, error = _ratio_of_times(fast, slow, share)
            scale = keep_of(more) / keep_of(less) if lengths else 1
            until = f"until the variance stays below {share:.0%}, λ = {more:g} over λ = {less:g}"
            what = f"{at}: {'θ × steps' if lengths else 'steps'} {until}"
            yield at_most("section_6_speed", what, scale * ratio, 1, 3 * scale * error, form)


def largest_rise(variance: pd.DataFrame) -> float:
    """Largest rise of the mean over the runs, relative to its lowest value before.

    The result is 1 if no rise is significant.
    """
    mean = variance.mean().to_numpy()
    lowest = [int(np.argmin(mean[:t])) for t in range(1, len(mean))]
    rises = variance.iloc[:, 1:] - variance.iloc[:, lowest].to_numpy()
    beyond = student.ppf(1 - CHANCE / rises.shape[1], len(rises) - 1)
    significant = (rises.mean() > beyond * rises.sem()).to_numpy()
    return float(np.max(mean[1:] / mean[lowest], where=significant, initial=1))


def _ratio_of_times(fast: pd.DataFrame, slow: pd.DataFrame, share: float) -> tuple[float, float]:
    """Ratio of the times until the variance stays below a share, and its standard error.

    The error is from the bootstrap over runs.
    """
    rng = np.random.default_rng(0)
    times = []
    for variance in (fast, slow):
        runs = len(variance)
        weights = rng.multinomial(runs, np.full(runs, 1 / runs), RESAMPLES) / runs
        means = np.vstack((np.full(runs, 1 / runs), weights)) @ variance.to_numpy()
        times.append(equalised_after(variance.columns.to_numpy(float), means, share))
    ratios = times[0] / times[1]
    return float(ratios[0]), float(ratios[1:].std())


def equalised_after(steps: Vector, means: Matrix, share: float) -> Vector:
    """Step after which each row of means stays below a share of its start.

    Between checkpoints the step is interpolated log-linearly; it is infinite if the end is above.
    """
    above = np.log(means / means[:, :1] / share)
    last = above.shape[1] - 1 - np.argmax(above[:, ::-1] >= 0, axis=1)
    found = np.full(len(above), np.inf)  # infinite where it never stays below
    rows = np.flatnonzero(last < above.shape[1] - 1)
    at = last[rows]
    here, there = above[rows, at], above[rows, at + 1]
    log = np.log1p(steps)
    found[rows] = np.expm1(log[at] + (log[at + 1] - log[at]) * here / (here - there))
    return found
