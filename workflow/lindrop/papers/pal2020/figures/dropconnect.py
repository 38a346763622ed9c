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
    BLUE,
    FAINT,
    GREEN,
    ORANGE,
    PINK,
    ROW,
    Runs,
    finish,
    line,
    of_connections,
    problem_of,
    theorem_4_1_checks,
    train_all,
)


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
    figure, (left, right) = panels(2, height=ROW + 0.5)
    correlated = curves[curves["inputs"] == "correlated"]
    line(left, correlated, "stochastic", "DropConnect, stochastic", BLUE, **FAINT)
    line(left, correlated, "printed", "Theorem 4.1 as printed", ORANGE, ls="--")
    line(left, correlated, "deterministic", "corrected", GREEN)
    finish(left, f"correlated inputs, θ = {curves['keep'].iloc[0]:g}")
    right.axhline(1, color=ORANGE, ls="--", label="Theorem 4.1 as printed")
    shown = {"independent": (PINK, "o"), "correlated": (BLUE, "^")}
    for inputs, curve in curves.groupby("inputs", sort=False):
        colour, marker = shown[str(inputs)]
        style: dict[str, Any] = {"color": colour, "marker": marker, "ms": 1, "lw": 0, "alpha": 0.5}
        iteration, printed = curve["iteration"], curve["printed"]
        right.plot(iteration, curve["stochastic"] / printed, label=f"{inputs} inputs", **style)
        label = "corrected" if inputs == "correlated" else None
        right.plot(iteration, curve["deterministic"] / printed, color=GREEN, label=label)
    right.set(xscale="log", xlabel="iteration", ylabel="relative to Theorem 4.1 as printed")
    right.set_title("loss under the mask (points) and objective", loc="left")
    right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)  # points everywhere
    return figure


def checks(curves: pd.DataFrame) -> list[Check]:
    """Checks of E18 along whole trainings, with independent and with correlated inputs."""
    cases = curves.groupby("inputs", sort=False)
    return [
        check
        for name, case in cases
        for check in theorem_4_1_checks("dropconnect", f"{name} inputs", case)
    ]
