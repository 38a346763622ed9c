"""DropConnect of Pal 2020 (Theorem 4.1, E18) with the paper's inputs and with others.

The paper's are standard normal; the others have passed a ReLU and so have a mean.
"""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from lindrop.claims.checks import Check
from lindrop.output.figures import key, panels
from lindrop.papers.pal2020.synthetic import Inputs, Problem
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
    line,
    of_connections,
    problem_of,
    theorem_4_1_checks,
    train_all,
    what_it_is,
)

OURS = "step sizes, inputs after a ReLU"
PAPERS, OTHERS = "standard normal", "after a ReLU"
INPUTS: dict[str, Inputs] = {PAPERS: "normal", OTHERS: "relu"}


def data(seed: int, iterations: int, keep: float = 0.5) -> pd.DataFrame:
    """Curves of trainings with DropConnect on both kinds of inputs."""
    found = []
    for inputs, name in INPUTS.items():
        problem = problem_of(seed, name)
        curve = train_all(problem, seed, (keep,), _dropconnect_alone(problem), iterations)
        found.append(curve.assign(inputs=inputs))
    return pd.concat(found, ignore_index=True)


def _dropconnect_alone(problem: Problem) -> Runs:
    return lambda keep: {"DropConnect": of_connections(problem, keep)}


def draw(curves: pd.DataFrame) -> Figure:
    """Objectives with inputs after a ReLU, and each training relative to dropout's loss."""
    figure, (left, right) = panels(2, height=ROW + 0.9)
    others = curves[curves["inputs"] == OTHERS]
    band(left, others, "DropConnect, stochastic (5 to 95%)")
    line(left, others, "printed", "dropout's loss, Theorem 4.1", ORANGE, ls="--")
    line(left, others, "deterministic", f"E18, {OTHERS}", GREEN)
    finish(left, f"inputs after a ReLU, θ = {curves['keep'].iloc[0]:g}")
    right.axhline(1, color=ORANGE, ls="--")
    shown = {PAPERS: (PINK, "o", BLACK), OTHERS: (BLUE, "^", GREEN)}
    for inputs, curve in curves.groupby("inputs", sort=False):
        colour, marker, of_objective = shown[str(inputs)]
        style: dict[str, Any] = {"color": colour, "marker": marker, "ms": 1, "lw": 0, "alpha": 0.5}
        iteration, printed = curve["iteration"], curve["printed"]
        sampled = curve["stochastic"] / printed
        right.plot(iteration, sampled, label=f"one mask, {inputs}", **style)
        ratio = curve["deterministic"] / printed
        right.plot(iteration, ratio, color=of_objective, label=f"E18, {inputs}")
    right.set(xscale="log", xlabel="iteration", ylabel="ratio")
    right.set_title("each over dropout's loss at its weights", loc="left")
    key(figure, (left, right), 3)
    what_it_is(figure, curves, OURS)
    return figure


def checks(curves: pd.DataFrame) -> list[Check]:
    """Checks of E18 along whole trainings, on both kinds of inputs."""
    cases = curves.groupby("inputs", sort=False)
    return [
        check
        for name, case in cases
        for check in theorem_4_1_checks("dropconnect", f"inputs {name}", case)
    ]
