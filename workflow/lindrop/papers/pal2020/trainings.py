"""Trainings of shallow networks (Pal 2020, Sections 5.1 and 5.3), shared by several figures.

All trainings from one seed share the data, U₀ and V₀, and those of one θ share random numbers.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import (
    CORRECTED,
    PRINTED,
    STANDARD_ERRORS,
    Check,
    Data,
    Form,
    equal,
)
from lindrop.dropout.samplers import Scheme, dropconnect_noise
from lindrop.dropout.structured import (
    dropconnect_regulariser,
    dropconnect_regulariser_as_printed,
    loss,
    objective,
)
from lindrop.output.figures import COLOURS, page
from lindrop.papers.pal2020.synthetic import Inputs, Measure, Noise, Problem, synthetic, train

BLOCK = 5  # the paper's block size, which it names for its deep experiments only
MORE_KEEPS = 0.3, 0.7, 0.9  # θ of Figures 5 and 6: our choice, as the paper's are illegible
TELLING = 0.03  # largest tolerance at which a mean factor decides a claim
VISIBLE = 0.02  # share of a curve's height on a log axis, about the width of a line in the figures
SHARE = "distance as a share of the height of the curve on the log axis"
PAPER_ITERATIONS = 100_000  # where the paper's axes end
WINDOW = 50  # points of a curve in a running mean or quantile
BAND = 0.05, 0.95  # quantiles of the losses under single masks that a band shows
SETTLED = 2000  # iterations after which training has settled

BLUE, ORANGE, GREEN, PINK = COLOURS[:4]
LIGHT, BLACK = COLOURS[-2:]
ROW = 2.1  # height of a row in inches
UNIT = 1e8  # of the objectives on the axes

Run = tuple[Noise, Measure]  # how masks are drawn, and what is measured
Runs = Callable[[float], dict[str, Run]]  # the runs at θ, by name of the scheme


def problem_of(seed: int, inputs: Inputs = "normal") -> Problem:
    """The synthetic dataset and start of a seed."""
    return synthetic(np.random.default_rng(seed), inputs)


def train_all(
    problem: Problem, seed: int, keeps: Sequence[float], runs: Runs, iterations: int
) -> pd.DataFrame:
    """Curves of all runs at every θ, with columns for θ and the scheme."""
    found = []
    for keep, stream in zip(keeps, np.random.SeedSequence(seed).spawn(len(keeps)), strict=True):
        for name, (noise, expected) in runs(keep).items():
            rng = np.random.default_rng(stream)
            curve = train(problem, noise, expected, keep=keep, iterations=iterations, rng=rng)
            found.append(curve.assign(keep=keep, scheme=name))
    return pd.concat(found, ignore_index=True)


def of_nodes(problem: Problem, scheme: Scheme, keep: float) -> Run:
    """Run with masks of nodes divided by θ.

    For masks of mean μ, this equals masks divided by μ with U multiplied by μ/θ.
    """
    scale = scheme.mean / keep

    def noise(draws: int, rng: np.random.Generator) -> Matrix:
        return scale * scheme.noise(draws, rng)

    def measure(u: Matrix, v: Matrix) -> dict[str, float]:
        hidden = v.T @ problem.x
        return {"deterministic": objective(problem.y, scale * u, hidden, scheme.characteristic)}

    return noise, measure


def of_connections(problem: Problem, keep: float) -> Run:
    """Run with DropConnect, with its objective corrected (E18) and by Eq. 20 as printed.

    Eq. 20 is the objective of dropout.
    """
    x = problem.x

    def measure(u: Matrix, v: Matrix) -> dict[str, float]:
        error = float(loss(problem.y, u, v.T @ x))
        return {
            "deterministic": error + dropconnect_regulariser(u, v, x, keep),
            "printed": error + dropconnect_regulariser_as_printed(u, v, x, keep),
        }

    return partial(dropconnect_noise, problem.v.shape, keep), measure


def rows_of_panels(rows: int, columns: int = 2) -> tuple[Figure, Any]:
    """A page with several panels per row."""
    figure = page(ROW * rows + 0.5)
    return figure, figure.subplots(rows, columns, squeeze=False)


def line(
    axis: Axes, curve: pd.DataFrame, column: str, label: str, colour: str, **style: Any
) -> None:
    """Draw one column of a curve by iteration."""
    axis.plot(curve["iteration"], curve[column] / UNIT, color=colour, label=label, **style)


def band(axis: Axes, curve: pd.DataFrame, label: str) -> None:
    """Shade where nine tenths of the losses under single masks lie, around each iteration.

    Their quantiles are taken relative to the objective, which changes over the points of a window.
    """
    objective = curve["deterministic"]
    running = (curve["stochastic"] / objective).rolling(WINDOW, center=True, min_periods=1)
    low, high = (running.quantile(share) * objective / UNIT for share in BAND)
    axis.fill_between(curve["iteration"], low, high, color=LIGHT, alpha=0.5, lw=0, label=label)


def finish(axis: Axes, title: str, *, first: bool = True) -> None:
    """Set log axes, labels and title; only the first panel of a row names the vertical axis."""
    axis.set(xscale="log", yscale="log", xlabel="iteration")
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())
    if first:
        axis.set_ylabel("objective / 10⁸")
    axis.set_title(title, loc="left")


def what_it_is(figure: Figure, curves: pd.DataFrame, ours: str) -> None:
    """Say above the panels how long the trainings were, and what the paper does not state."""
    done = int(curves["iteration"].max())
    whole = done >= PAPER_ITERATIONS
    length = f"{done:,} iterations" + (
        ", as in the paper" if whole else f"; the paper's axes end at {PAPER_ITERATIONS:,}"
    )
    figure.suptitle(f"{length}. Not stated there, ours: {ours}.", x=0.01, ha="left", size=7)


def share_of_height(curve: pd.DataFrame, one: float, other: float) -> float:
    """Distance of two values on a log axis, over the height that the objectives of a curve span."""
    height = np.log(curve["deterministic"].max() / curve["deterministic"].min())
    return float(abs(np.log(one / other)) / height)


def theorem_4_1_checks(claim: str, of: str, curve: pd.DataFrame) -> Iterator[Check]:
    """Checks of sampled losses against dropout's loss (Theorem 4.1), and against that of E18."""
    forms: list[tuple[str, str, Form]] = [
        ("dropout's loss", "printed", PRINTED),
        ("the loss of E18", "deterministic", CORRECTED),
    ]
    for theorem, column, form in forms:
        what = f"loss under the mask over {theorem}; {of}"
        yield mean_factor(claim, what, curve["stochastic"] / curve[column], TELLING, form)


def last_objective(curve: pd.DataFrame) -> float:
    """Objective at the end of training; NaN if it was too short to settle."""
    settled = curve["iteration"].iloc[-1] >= SETTLED
    return float(curve["deterministic"].iloc[-1]) if settled else np.nan


def mean_factor(
    claim: str,
    what: str,
    factors: pd.Series,
    telling: float,
    form: Form = PRINTED,
    data: Data = "none",
) -> Check:
    """Check that the mean of `factors` is one, within standard errors; NaN if these are too large.

    A factor is the loss of an iterate under a mask over its expected loss. Whatever came before,
    its mean is one, so the mean over a training is one as well.
    """
    tolerance = float(STANDARD_ERRORS * factors.std() / np.sqrt(len(factors)))
    mean = factors.mean() if tolerance <= telling else np.nan
    what = f"{what}; mean of {len(factors)} iterations; {STANDARD_ERRORS} standard errors"
    return equal(claim, what, mean, 1, min(tolerance, telling), form, data)
