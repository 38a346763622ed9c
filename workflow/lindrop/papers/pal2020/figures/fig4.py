"""Figure 4 of Pal 2020: DropBlock on a grid, and the original one with overlapping blocks (E19)."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from lindrop.claims.checks import EXTENSION, PRINTED, Check, Form, at_least, at_most
from lindrop.dropout.samplers import (
    dropblock,
    overlapping_dropblock,
    seed_keep_of,
)
from lindrop.output.figures import key, page
from lindrop.papers.pal2020.synthetic import HIDDEN
from lindrop.papers.pal2020.trainings import (
    BLACK,
    BLOCK,
    BLUE,
    GREEN,
    ROW,
    SHARE,
    UNIT,
    VISIBLE,
    Run,
    finish,
    last_objective,
    of_nodes,
    problem_of,
    share_of_height,
    train_all,
    what_it_is,
)

STATED = 0.5  # the paper's θ
OURS = f"step sizes, blocks of {BLOCK} nodes; θ = 0.8 is added"
SAME, APPROPRIATE = "overlapping, same θ", "overlapping, θ′ of Section 5.3"


def data(seed: int, iterations: int, keeps: Sequence[float] = (0.5, 0.8)) -> pd.DataFrame:
    """Curves of trainings with DropBlock on the grid, and with the original one at several θ′.

    Only the sampling in line 5 of Algorithm 1 changes; its factor 1/θ stays. With the θ′ of Section
    5.3 a node is kept as often as on the grid. Its formula, for probabilities of dropping, is
    θ′ = θ^{1/r} for those of keeping (E19).
    """
    problem = problem_of(seed)

    def runs(keep: float) -> dict[str, Run]:
        harmless = {
            SAME: keep,
            APPROPRIATE: seed_keep_of(keep, BLOCK),
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
    }
    keeps = list(curves.groupby("keep"))
    figure = page(ROW + 0.5)
    axes = figure.subplots(1, len(keeps), squeeze=False, sharey=True)[0]
    for axis, (keep, of_keep) in zip(axes, keeps, strict=True):
        for name, curve in of_keep.groupby("scheme", sort=False):
            smoothed = curve["smoothed"] / UNIT
            axis.plot(curve["iteration"], smoothed, label=name, **styles[str(name)])
        finish(axis, f"DropBlock, θ = {keep:g}, smoothed", first=axis is axes[0])
    key(figure, list(axes), 3)
    what_it_is(figure, curves, OURS)
    return figure


def checks(curves: pd.DataFrame) -> list[Check]:
    """Checks of whether overlapping blocks end as blocks on a grid do (E19)."""
    found: list[Check] = []
    for keep, of_keep in curves.groupby("keep"):
        curve_of = dict(list(of_keep.groupby("scheme")))
        grid = last_objective(curve_of["grid"])
        form: Form = PRINTED if keep == STATED else EXTENSION
        appropriate, same = (
            share_of_height(curve_of["grid"], last_objective(curve_of[name]), grid)
            for name in (APPROPRIATE, SAME)
        )
        what = f"last objective to the grid's, {SHARE}; θ = {keep:g}"
        found += [
            at_most("fig4", f"{what}, {APPROPRIATE}", appropriate, VISIBLE, form=form),
            at_least("fig4", f"{what}, {SAME}", same, VISIBLE, form=EXTENSION),
        ]
    return found
