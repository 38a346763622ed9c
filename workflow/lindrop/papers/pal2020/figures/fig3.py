"""Figure 3 of Pal 2020: DropConnect and dropout, sampled and in expectation (Theorem 4.1, E18)."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lindrop.claims.checks import CHARITABLE, Check, at_most
from lindrop.dropout.samplers import dropout
from lindrop.output.figures import key
from lindrop.papers.pal2020.synthetic import HIDDEN
from lindrop.papers.pal2020.trainings import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PINK,
    SHARE,
    TELLING,
    VISIBLE,
    WINDOW,
    Run,
    band,
    finish,
    last_objective,
    line,
    mean_factor,
    of_connections,
    of_nodes,
    problem_of,
    rows_of_panels,
    share_of_height,
    theorem_4_1_checks,
    train_all,
    what_it_is,
)

RATIOS = 0.92, 1.08  # of the axis of ratios
STATED = 0.5  # the θ that the paper states
OURS = "step sizes"
WHITE = "DropConnect, E[xx'] = I"


def data(seed: int, iterations: int) -> pd.DataFrame:
    """Curves of trainings at θ = 1/2, the paper's choice."""
    return dropconnect_curves(seed, (STATED,), iterations)


def dropconnect_curves(seed: int, keeps: Sequence[float], iterations: int) -> pd.DataFrame:
    """Curves of trainings with DropConnect and with dropout for every θ.

    The white inputs stand for the expectation over the paper's inputs, in which E[xx'] = I.
    """
    problem, white = problem_of(seed), problem_of(seed, "white")

    def runs(keep: float) -> dict[str, Run]:
        return {
            "dropout": of_nodes(problem, dropout(HIDDEN, keep), keep),
            "DropConnect": of_connections(problem, keep),
        }

    expected = train_all(
        white, seed, keeps, lambda keep: {WHITE: of_connections(white, keep)}, iterations
    )
    curves = [train_all(problem, seed, keeps, runs, iterations), expected]
    return pd.concat(curves, ignore_index=True)


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
        _draw_ratios(right, connect, dropout, of_scheme[WHITE])
    key(figure, list(axes[0]), 3)
    what_it_is(figure, curves, OURS if STATED in set(curves["keep"]) else f"{OURS}, θ")
    return figure


def _draw_ratios(
    axis: Axes, connect: pd.DataFrame, dropout: pd.DataFrame, white: pd.DataFrame
) -> None:
    """Draw all objectives over that of Eq. 20 at the same iteration."""
    iteration, printed = connect["iteration"], connect["printed"]
    for curve, colour, of in ((connect, BLUE, ""), (white, PINK, ", E[xx′] = I")):
        factor = curve["stochastic"] / curve["printed"]
        mean = factor.rolling(WINDOW, center=True, min_periods=1).mean()
        label = f"stochastic{of}, mean of {WINDOW}"
        axis.plot(curve["iteration"], mean, color=colour, lw=0.8, label=label)
    axis.plot(iteration, dropout["deterministic"].to_numpy() / printed, color=BLACK, lw=1)
    axis.plot(iteration, connect["deterministic"] / printed, color=GREEN)
    axis.axhline(1, color=ORANGE, ls="--")
    axis.set(xscale="log", xlabel="iteration", ylim=RATIOS)
    axis.set_title("relative to Eq. 20", loc="left")


def checks(data: pd.DataFrame) -> list[Check]:
    """Checks of what the paper says of Figure 3."""
    return dropconnect_checks("fig3", data)


def dropconnect_checks(claim: str, curves: pd.DataFrame) -> list[Check]:
    """Checks of Eq. 20 on 1000 samples (E18), and in expectation over inputs with E[xx'] = I.

    The paper compares the trainings with DropConnect and with dropout on a log axis.
    """
    found: list[Check] = []
    for keep, of_keep in curves.groupby("keep"):
        connect, dropout, white = (
            of_keep[of_keep["scheme"] == scheme] for scheme in ("DropConnect", "dropout", WHITE)
        )
        samples = f"1000 samples, θ = {keep:g}"
        found += theorem_4_1_checks(claim, samples, connect)
        factors = white["stochastic"] / white["printed"]
        what = f"loss under the mask over dropout's loss; E[xx'] = I, θ = {keep:g}"
        found.append(mean_factor(claim, what, factors, TELLING, CHARITABLE))
        apart = share_of_height(connect, last_objective(connect), last_objective(dropout))
        what = f"last objective with DropConnect to that with dropout, {SHARE}; {samples}"
        found.append(at_most(claim, what, apart, VISIBLE, form=CHARITABLE))
    return found
