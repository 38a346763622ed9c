"""What Section 6 of Mianjy 2018 and its caption say of Figure 3, asked of means over the runs."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.stats import t as student

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import CORRECTED, Check, at_most
from lindrop.dropout.objective import keep_of
from lindrop.papers.mianjy2018.convergence import FEW_RUNS, by_run, summary

EQUALISED = 0.1  # of the variance at the start
ENDS = 0.02  # so little of it is none
CHANCE = 0.001  # that any point of a curve passes for a rise
RESAMPLES = 400


def convergence_checks(curves: pd.DataFrame) -> list[Check]:
    """Convergence and equalisation; how the variance falls, where there are runs enough to tell."""
    ends = summary(curves)
    gap, share = (ends[what].max(skipna=False) for what in ("gap", "variance_share"))
    checks = [
        at_most("fig3", "relative gap to the optimum at the end, the worst setting", gap, 0.02),
        at_most("fig3", "variance of importance, end over start, the worst setting", share, ENDS),
    ]
    falls = [
        check
        for width, case in curves.groupby("width")
        for check in (*_monotone_checks(f"r = {width}", case), *_speed_checks(f"r = {width}", case))
    ]
    return checks + (falls if ends["runs"].min() >= FEW_RUNS else _undecided(falls))


def _undecided(checks: list[Check]) -> list[Check]:
    """Of few runs' means nothing is known but their noise."""
    return [replace(check, computed=np.nan, tolerance=0.0) for check in checks]


def _variances(curves: pd.DataFrame) -> dict[float, pd.DataFrame]:
    """Of every λ, rising: a row per run."""
    lams = np.unique(curves["lam"])
    return {lam: by_run(curves[curves["lam"] == lam], "variance") for lam in lams}


def _monotone_checks(at: str, curves: pd.DataFrame) -> Iterator[Check]:
    """Not every step lowers the variance; all of them together do."""
    rise = max(largest_rise(variance) for variance in _variances(curves).values())
    what = f"{at}: largest rise of the variance over its least before, noise excluded"
    yield at_most("section_6_monotone", what, rise, 1)
    share = summary(curves)["variance_share"].max(skipna=False)
    what = f"{at}: variance, end over start, the worst λ"
    yield at_most("section_6_monotone", what, share, ENDS, form=CORRECTED)


def _speed_checks(at: str, curves: pd.DataFrame) -> Iterator[Check]:
    """Whether it falls the faster the larger λ is.

    A mean step goes θ/2 of the gradient: the fewer nodes are kept, the shorter. So it is asked of
    steps, as printed, and of their length as well.
    """
    for (less, slow), (more, fast) in pairwise(_variances(curves).items()):
        ratio, error = _ratio_of_times(fast, slow)
        shorter = keep_of(more) / keep_of(less)
        slack = 3 * shorter * error
        until = f"until the variance stays below a tenth, λ = {more:g} over λ = {less:g}"
        steps, length = f"{at}: steps {until}", f"{at}: θ × steps {until}"
        yield at_most("section_6_speed", steps, ratio, 1, 3 * error)
        yield at_most("section_6_speed", length, shorter * ratio, 1, slack, CORRECTED)


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
