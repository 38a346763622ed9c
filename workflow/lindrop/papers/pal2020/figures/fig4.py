"""Figure 4 of Pal 2020: DropBlock on a grid, and the original one with overlapping blocks (E19)."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from lindrop.claims.checks import EXTENSION, PRINTED, Check, Form, at_least, at_most
from lindrop.dropout.samplers import (
    dropblock,
    overlapping_dropblock,
    seed_keep_as_printed,
    seed_keep_of,
)
from lindrop.output.figures import page
from lindrop.papers.pal2020.synthetic import HIDDEN
from lindrop.papers.pal2020.trainings import (
    BLACK,
    BLOCK,
    BLUE,
    GREEN,
    ORANGE,
    ROW,
    UNIT,
    Run,
    finish,
    key,
    last_objective,
    of_nodes,
    problem_of,
    train_all,
    visible,
    what_it_is,
)

STATED = 0.5  # the paper's θ
OURS = f"step sizes, blocks of {BLOCK} nodes; θ = 0.8 is added"
SAME, APPROPRIATE = "overlapping, same θ", "overlapping, θ′ = θ^(1/r)"
LITERAL = "overlapping, θ′ as printed, 2k − 1 = 19"


def data(seed: int, iterations: int, keeps: Sequence[float] = (0.5, 0.8)) -> pd.DataFrame:
    """Curves of trainings with DropBlock on the grid, and with the original one at several θ′.

    Only the sampling in line 5 of Algorithm 1 changes; its factor 1/θ stays. With the appropriate
    θ′ = θ^{1/r} a node is kept as often as on the grid. The formula of Section 5.3 is that where θ
    and θ′ are probabilities of dropping (E19); as probabilities of keeping, which the paper calls
    them, nearly every node is dropped.
    """
    problem = problem_of(seed)

    def runs(keep: float) -> dict[str, Run]:
        harmless = {
            SAME: keep,
            APPROPRIATE: seed_keep_of(keep, BLOCK),
            LITERAL: seed_keep_as_printed(keep, HIDDEN // BLOCK),
        }
        schemes = {"grid": dropblock(HIDDEN, keep, BLOCK)} | {
            name: overlapping_dropblock(HIDDEN, theta, BLOCK) for name, theta in harmless.items()
        }
        return {name: of_nodes(problem, scheme, keep) for name, scheme in schemes.items()}

    return train_all(problem, seed, keeps, runs, iterations)


def draw(curves: pd.DataFrame) -> Figure:
    """A column per θ; curves are smoothed over iterations as in the paper."""
    styles: dict[str, dict[str, Any]] = {
        "grid": {"color": BLACK},
        SAME: {"color": BLUE},
        APPROPRIATE: {"color": GREEN},
        LITERAL: {"color": ORANGE, "ls": ":", "lw": 2},
    }
    keeps = list(curves.groupby("keep"))
    figure = page(ROW + 0.5)
    axes = figure.subplots(1, len(keeps), squeeze=False, sharey=True)[0]
    for axis, (keep, of_keep) in zip(axes, keeps, strict=True):
        for name, curve in of_keep.groupby("scheme", sort=False):
            smoothed = curve["smoothed"] / UNIT
            axis.plot(curve["iteration"], smoothed, label=name, **styles[str(name)])
        finish(axis, f"DropBlock, θ = {keep:g}, smoothed", first=axis is axes[0])
    key(figure, list(axes), 4)
    what_it_is(figure, curves, OURS)
    return figure


def checks(curves: pd.DataFrame) -> list[Check]:
    """Checks of whether overlapping blocks end as blocks on a grid do (E19)."""
    found: list[Check] = []
    for keep, of_keep in curves.groupby("keep"):
        curve_of = dict(list(of_keep.groupby("scheme")))
        grid, eye = last_objective(curve_of["grid"]), visible(curve_of["grid"])
        form: Form = PRINTED if keep == STATED else EXTENSION
        appropriate, same = (
            (last_objective(curve_of[name]) / grid - 1) / eye for name in (APPROPRIATE, SAME)
        )
        what = f"last objective over the grid's, less 1, of what is visible; θ = {keep:g}"
        found += [
            at_most("fig4", f"{what}, {APPROPRIATE}", abs(appropriate), 1, form=form),
            at_least("fig4", f"{what}, {SAME}", same, 1, form=EXTENSION),
        ]
    return found
