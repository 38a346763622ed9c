"""What Section 6 of Mianjy 2018 and its caption say of Figure 3, asked of means over the runs."""

from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.stats import t as student

from lindrop.arrays import Matrix, Vector
from lindrop.checks import CORRECTED, Check, at_most
from lindrop.dropout.objective import keep_of
from lindrop.mianjy2018.convergence import FEW_RUNS, by_run, summary

EQUALISED = 0.1  # of the variance at the start
CHANCE = 0.001  # that any point of a curve passes for a rise
RESAMPLES = 400


def convergence_checks(curves: pd.DataFrame) -> list[Check]:
    """Convergence and equalisation; how the variance falls, where there are runs enough to tell."""
    ends = summary(curves)
    gap, share = (ends[what].max(skipna=False) for what in ("gap", "variance_share"))
    checks = [
        at_most("fig3", "relative gap to the optimum at the end, the worst setting", gap, 0.02),
        at_most("fig3", "variance of importance, end over start, the worst setting", share, 0.02),
    ]
    if ends["runs"].min() >= FEW_RUNS:
        for width, case in curves.groupby("width"):
            checks += _fall_checks(f"r = {width}", case)
    return checks


def _fall_checks(at: str, curves: pd.DataFrame) -> list[Check]:
    """Whether it falls at every step, and the faster the larger λ is.

    A mean step goes θ/2 of the gradient: the fewer nodes are kept, the shorter. So the second is
    asked of steps, as printed, and of their length as well.
    """
    variances = {
        lam: by_run(curves[curves["lam"] == lam], "variance") for lam in np.unique(curves["lam"])
    }
    rise = max(largest_rise(variance) for variance in variances.values())
    what = f"{at}: largest rise of the variance over its least before, noise excluded"
    checks = [at_most("fig3", what, rise, 1)]
    for (less, slow), (more, fast) in pairwise(variances.items()):
        ratio, error = _ratio_of_times(fast, slow)
        shorter = keep_of(more) / keep_of(less)
        slack = 3 * shorter * error
        until = f"until the variance stays below a tenth, λ = {more:g} over λ = {less:g}"
        checks += [
            at_most("fig3", f"{at}: steps {until}", ratio, 1, 3 * error),
            at_most("fig3", f"{at}: θ × steps {until}", shorter * ratio, 1, slack, CORRECTED),
        ]
    return checks


def largest_rise(variance: pd.DataFrame) -> float:
    """Of the mean over the runs relative to its lowest value before; 1 if none is significant."""
    mean = variance.mean().to_numpy()
    lowest = [int(np.argmin(mean[:t])) for t in range(1, len(mean))]
    rises = variance.iloc[:, 1:] - variance.iloc[:, lowest].to_numpy()
    beyond = student.ppf(1 - CHANCE / rises.shape[1], len(rises) - 1)
    significant = (rises.mean() > beyond * rises.sem()).to_numpy()
    return float(np.max(mean[1:] / mean[lowest], where=significant, initial=1))


def _ratio_of_times(fast: pd.DataFrame, slow: pd.DataFrame) -> tuple[float, float]:
    """And its standard error, by the bootstrap over runs."""
    rng = np.random.default_rng(0)
    times = []
    for variance in (fast, slow):
        runs = len(variance)
        weights = rng.multinomial(runs, np.full(runs, 1 / runs), RESAMPLES) / runs
        means = np.vstack((np.full(runs, 1 / runs), weights)) @ variance.to_numpy()
        times.append(equalised_after(variance.columns.to_numpy(float), means))
    ratios = times[0] / times[1]
    return float(ratios[0]), float(ratios[1:].std())


def equalised_after(steps: Vector, means: Matrix) -> Vector:
    """Where each row falls below a tenth of its start for good, between checkpoints log-linear."""
    share = np.log(means / means[:, :1] / EQUALISED)
    last = share.shape[1] - 1 - np.argmax(share[:, ::-1] >= 0, axis=1)
    found = np.full(len(share), np.inf)  # where it never does
    rows = np.flatnonzero(last < share.shape[1] - 1)
    at = last[rows]
    here, there = share[rows, at], share[rows, at + 1]
    log = np.log1p(steps)
    found[rows] = np.expm1(log[at] + (log[at + 1] - log[at]) * here / (here - there))
    return found
