"""DropConnect of Pal 2020 (Theorem 4.1, E18) with independent and with correlated inputs.

Independent inputs are those of the paper; correlated inputs have passed a ReLU.
"""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from lindrop.claims.checks import Check
from lindrop.output.figures import panels
from lindrop.papers.pal2020.synthetic import Problem
from lindrop.papers.pal2020.trainings import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PINK,
    ROW,
    Runs,
    band,
    finish,
    key,
    line,
    of_connections,
    problem_of,
    theorem_4_1_checks,
    train_all,
    what_it_is,
)

OURS = "step sizes; the inputs that passed a ReLU are our example"


def data(seed: int, iterations: int, keep: float = 0.5) -> pd.DataFrame:
    """Curves of trainings with DropConnect on both kinds of inputs."""
    found = []
    for inputs, correlated in (("independent", False), ("correlated", True)):
        problem = problem_of(seed, correlated=correlated)
        curve = train_all(problem, seed, (keep,), _dropconnect_alone(problem), iterations)
        found.append(curve.assign(inputs=inputs))
    return pd.concat(found, ignore_index=True)


def _dropconnect_alone(problem: Problem) -> Runs:
    return lambda keep: {"DropConnect": of_connections(problem, keep)}


def draw(curves: pd.DataFrame) -> Figure:
    """Objectives with correlated inputs, and all objectives relative to Theorem 4.1 as printed."""
    figure, (left, right) = panels(2, height=ROW + 0.9)
    correlated = curves[curves["inputs"] == "correlated"]
    band(left, correlated, "DropConnect, stochastic (5 to 95%)")
    line(left, correlated, "printed", "Theorem 4.1 as printed", ORANGE, ls="--")
    line(left, correlated, "deterministic", "E18, correlated inputs", GREEN)
    finish(left, f"correlated inputs, θ = {curves['keep'].iloc[0]:g}")
    right.axhline(1, color=ORANGE, ls="--")
    shown = {"independent": (PINK, "o", BLACK), "correlated": (BLUE, "^", GREEN)}
    for inputs, curve in curves.groupby("inputs", sort=False):
        colour, marker, of_objective = shown[str(inputs)]
        style: dict[str, Any] = {"color": colour, "marker": marker, "ms": 1, "lw": 0, "alpha": 0.5}
        iteration, printed = curve["iteration"], curve["printed"]
        sampled = curve["stochastic"] / printed
        right.plot(iteration, sampled, label=f"one mask, {inputs} inputs", **style)
        ratio = curve["deterministic"] / printed
        right.plot(iteration, ratio, color=of_objective, label=f"E18, {inputs} inputs")
    right.set(xscale="log", xlabel="iteration", ylabel="ratio")
    right.set_title("relative to Theorem 4.1 as printed", loc="left")
    key(figure, (left, right), 3)
    what_it_is(figure, curves, OURS)
    return figure


def checks(curves: pd.DataFrame) -> list[Check]:
    """Checks of E18 along whole trainings, with independent and with correlated inputs."""
    cases = curves.groupby("inputs", sort=False)
    return [
        check
        for name, case in cases
        for check in theorem_4_1_checks("dropconnect", f"{name} inputs", case)
    ]
