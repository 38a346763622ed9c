"""Figure 3 of Pal 2020: DropConnect and dropout, sampled and in expectation (Theorem 4.1, E18)."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lindrop.claims.checks import CHARITABLE, Check, at_most
from lindrop.dropout.samplers import dropout
from lindrop.papers.pal2020.synthetic import HIDDEN
from lindrop.papers.pal2020.trainings import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    WINDOW,
    Run,
    band,
    finish,
    key,
    last_objective,
    line,
    of_connections,
    of_nodes,
    problem_of,
    rows_of_panels,
    theorem_4_1_checks,
    train_all,
    visible,
    what_it_is,
)

RATIOS = 0.92, 1.08  # of the axis of ratios
STATED = 0.5  # the θ that the paper states
OURS = "step sizes"


def data(seed: int, iterations: int) -> pd.DataFrame:
    """Curves of trainings at θ = 1/2, the paper's choice."""
    return dropconnect_curves(seed, (STATED,), iterations)


def dropconnect_curves(seed: int, keeps: Sequence[float], iterations: int) -> pd.DataFrame:
    """Curves of trainings with DropConnect and with dropout for every θ."""
    problem = problem_of(seed)

    def runs(keep: float) -> dict[str, Run]:
        return {
            "dropout": of_nodes(problem, dropout(HIDDEN, keep), keep),
            "DropConnect": of_connections(problem, keep),
        }

    return train_all(problem, seed, keeps, runs, iterations)


def draw(curves: pd.DataFrame) -> Figure:
    """A row per θ: sampled masks (top row of the paper), dropout (bottom row), and ratios.

    The ratios to Eq. 20 show the few per cent that the paper's log axis hides.
    """
    figure, axes = rows_of_panels(curves["keep"].nunique(), 3)
    for (keep, of_keep), (left, middle, right) in zip(curves.groupby("keep"), axes, strict=True):
        of_scheme = dict(list(of_keep.groupby("scheme")))
        connect, dropout = of_scheme["DropConnect"], of_scheme["dropout"]
        band(left, connect, "DropConnect, stochastic (5 to 95%)")
        line(middle, dropout, "deterministic", "dropout", BLACK)
        for axis in (left, middle):
            line(axis, connect, "deterministic", "DropConnect, E18", GREEN)
            line(axis, connect, "printed", "DropConnect, Eq. 20", ORANGE, ls="--")
        finish(left, f"θ = {keep:g}: under masks")
        finish(middle, "beside dropout", first=False)
        _draw_ratios(right, connect, dropout)
    key(figure, list(axes[0]), 3)
    what_it_is(figure, curves, OURS if STATED in set(curves["keep"]) else f"{OURS}, θ")
    return figure


def _draw_ratios(axis: Axes, connect: pd.DataFrame, dropout: pd.DataFrame) -> None:
    """Draw all objectives over that of Eq. 20 at the same iteration."""
    iteration, printed = connect["iteration"], connect["printed"]
    mean = (connect["stochastic"] / printed).rolling(WINDOW, center=True, min_periods=1).mean()
    label = f"DropConnect, stochastic, mean of {WINDOW}"
    axis.plot(iteration, mean, color=BLUE, lw=0.8, label=label)
    axis.plot(iteration, dropout["deterministic"].to_numpy() / printed, color=BLACK, lw=1)
    axis.plot(iteration, connect["deterministic"] / printed, color=GREEN)
    axis.axhline(1, color=ORANGE, ls="--")
    axis.set(xscale="log", xlabel="iteration", ylim=RATIOS)
    axis.set_title("relative to Eq. 20", loc="left")


def checks(data: pd.DataFrame) -> list[Check]:
    """Checks of what the paper says of Figure 3."""
    return dropconnect_checks("fig3", data)


def dropconnect_checks(claim: str, curves: pd.DataFrame) -> list[Check]:
    """Checks of Theorem 4.1, exactly and to the eye, and of where dropout ends (E18)."""
    found: list[Check] = []
    for keep, of_keep in curves.groupby("keep"):
        connect, dropout = (of_keep[of_keep["scheme"] == s] for s in ("DropConnect", "dropout"))
        found += theorem_4_1_checks(claim, f"θ = {keep:g}", connect, to_the_eye=True)
        distance = abs(last_objective(connect) / last_objective(dropout) - 1) / visible(connect)
        what = "last objective of DropConnect over dropout's, less 1, of what is visible"
        what = f"{what}; θ = {keep:g}"
        found.append(at_most(claim, what, distance, 1, form=CHARITABLE))
    return found
