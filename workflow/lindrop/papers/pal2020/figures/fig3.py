"""Figure 3 of Pal 2020: DropConnect and dropout, sampled and in expectation (Theorem 4.1, E18)."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from lindrop.claims.checks import Check, equal
from lindrop.dropout.samplers import dropout
from lindrop.papers.pal2020.synthetic import HIDDEN
from lindrop.papers.pal2020.trainings import (
    BLACK,
    BLUE,
    FAINT,
    GREEN,
    ORANGE,
    Run,
    finish,
    last_objective,
    line,
    of_connections,
    of_nodes,
    problem_of,
    rows_of_panels,
    theorem_4_1_checks,
    train_all,
)

SAME = 0.01  # relative difference of equal objectives that noise explains


def data(seed: int, iterations: int) -> pd.DataFrame:
    """Curves of trainings at θ = 1/2, the paper's choice."""
    return dropconnect_curves(seed, (0.5,), iterations)


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
    """A row per θ: sampled masks on the left (top row of the paper), dropout on the right."""
    figure, axes = rows_of_panels(curves["keep"].nunique())
    for (keep, of_keep), (left, right) in zip(curves.groupby("keep"), axes, strict=True):
        of_scheme = dict(list(of_keep.groupby("scheme")))
        connect = of_scheme["DropConnect"]
        line(left, connect, "stochastic", "DropConnect, stochastic", BLUE, **FAINT)
        line(left, connect, "printed", "Theorem 4.1 as printed", ORANGE, ls="--")
        line(left, connect, "deterministic", "corrected", GREEN)
        line(right, of_scheme["dropout"], "deterministic", "dropout", BLACK)
        line(right, connect, "printed", "DropConnect, as printed", ORANGE, ls="--")
        line(right, connect, "deterministic", "DropConnect, corrected", GREEN)
        for axis in (left, right):
            finish(axis, f"θ = {keep:g}")
    return figure


def checks(data: pd.DataFrame) -> list[Check]:
    """Checks of what the paper says of Figure 3."""
    return dropconnect_checks("fig3", data)


def dropconnect_checks(claim: str, curves: pd.DataFrame) -> list[Check]:
    """Checks of Theorem 4.1, and of whether DropConnect ends where dropout does (E18)."""
    found: list[Check] = []
    for keep, of_keep in curves.groupby("keep"):
        connect, dropout = (of_keep[of_keep["scheme"] == s] for s in ("DropConnect", "dropout"))
        found += theorem_4_1_checks(claim, f"θ = {keep:g}", connect)
        ratio = last_objective(connect) / last_objective(dropout)
        what = f"last objective of DropConnect over dropout's, θ = {keep:g}"
        found.append(equal(claim, what, ratio, 1, SAME))
    return found
