"""Figure 4 of Pal 2020: DropBlock on a grid, and the original one with overlapping blocks (E19)."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from lindrop.claims.checks import CORRECTED, Check, at_least, equal
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
    Run,
    finish,
    last_objective,
    of_nodes,
    problem_of,
    train_all,
)

ALIKE = 0.05  # relative difference that is hardly visible on the paper's log axis


def data(seed: int, iterations: int, keeps: Sequence[float] = (0.5, 0.8)) -> pd.DataFrame:
    """Curves of trainings with DropBlock on the grid, and with the original one at several θ′.

    Only the sampling in line 5 of Algorithm 1 changes; its factor 1/θ stays. At θ = 1/2, the
    paper's only choice, the printed θ′ is right as the probability that a seed drops (E19), so the
    figure shows another θ as well.
    """
    problem = problem_of(seed)

    def runs(keep: float) -> dict[str, Run]:
        harmless = {
            "overlapping, same θ": keep,
            "overlapping, corrected θ′": seed_keep_of(keep, BLOCK),
            "overlapping, printed θ′": 1 - seed_keep_as_printed(keep, BLOCK),
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
        "overlapping, same θ": {"color": BLUE},
        "overlapping, corrected θ′": {"color": GREEN},
        "overlapping, printed θ′": {"color": ORANGE, "ls": ":", "lw": 2},
    }
    keeps = list(curves.groupby("keep"))
    figure = page(ROW)
    axes = figure.subplots(1, len(keeps), squeeze=False, sharey=True)[0]
    for axis, (keep, of_keep) in zip(axes, keeps, strict=True):
        for name, curve in of_keep.groupby("scheme", sort=False):
            axis.plot(curve["iteration"], curve["smoothed"], label=name, **styles[str(name)])
        finish(axis, f"DropBlock, θ = {keep:g}")
    for axis in axes[1:]:
        axis.set_ylabel("")
        axis.get_legend().remove()
    return figure


def checks(curves: pd.DataFrame) -> list[Check]:
    """Checks of whether overlapping blocks end as blocks on a grid do, at each θ′ (E19)."""
    found: list[Check] = []
    for keep, of_keep in curves.groupby("keep"):
        last = {name: last_objective(curve) for name, curve in of_keep.groupby("scheme")}
        ratio = {name: value / last["grid"] for name, value in last.items()}
        what = f"last objective over the grid's, θ = {keep:g}, overlapping, "
        same, printed, corrected = (
            ratio[f"overlapping, {of}"] for of in ("same θ", "printed θ′", "corrected θ′")
        )
        found += [
            at_least("fig4", f"{what}same θ", same, 1 + ALIKE),
            equal("fig4", f"{what}printed θ′, with which a seed drops", printed, 1, ALIKE),
            equal("fig4", f"{what}corrected θ′", corrected, 1, ALIKE, CORRECTED),
        ]
    return found
