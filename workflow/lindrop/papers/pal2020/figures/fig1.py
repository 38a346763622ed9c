"""Figure 1 of Pal 2020: DropBlock as sampled, its objective (Lemma 2.1) and its minimum.

The minimum is that of Theorem 2.7. The loss varies too much between masks of DropBlock for one mask
per iterate, so the checks use many fresh masks at each.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import Check, at_least, at_most
from lindrop.dropout.dropblock import beta_at, optimum
from lindrop.dropout.samplers import dropblock
from lindrop.dropout.structured import losses_of_nodes
from lindrop.output.figures import key
from lindrop.papers.pal2020.synthetic import HIDDEN, Problem
from lindrop.papers.pal2020.trainings import (
    BLACK,
    BLOCK,
    BLUE,
    ORANGE,
    SHARE,
    TELLING,
    UNIT,
    VISIBLE,
    Run,
    band,
    finish,
    last_objective,
    line,
    mean_factor,
    of_nodes,
    problem_of,
    rows_of_panels,
    share_of_height,
    train_all,
    what_it_is,
)

FRESH = 200  # masks drawn at every iterate shown, for their mean loss
STATED = 0.5  # the θ that the paper states
OURS = f"step sizes, blocks of {BLOCK} nodes"
BELOW = 0.4  # the band of losses is cut off at this share of the least objective


def data(seed: int, iterations: int) -> pd.DataFrame:
    """Curves of trainings at θ = 1/2, the paper's choice."""
    return dropblock_curves(seed, (STATED,), iterations)


def dropblock_curves(seed: int, keeps: Sequence[float], iterations: int) -> pd.DataFrame:
    """Curves of trainings with DropBlock for every θ, with the minimum of Theorem 2.7.

    The column `sampled` is the mean loss under many fresh masks of each iterate, none used in
    training.
    """
    problem = problem_of(seed)
    *_, beyond = np.random.SeedSequence(seed).spawn(len(keeps) + 1)  # used by no training
    fresh = np.random.default_rng(beyond)

    def runs(keep: float) -> dict[str, Run]:
        run = of_nodes(problem, dropblock(HIDDEN, keep, BLOCK), keep)
        return {"DropBlock": _with_fresh(problem, run, fresh)}

    curves = train_all(problem, seed, keeps, runs, iterations)
    minima = {keep: minimum(problem, keep, BLOCK) for keep in keeps}
    return curves.assign(minimum=curves["keep"].map(minima))


def _with_fresh(problem: Problem, run: Run, rng: np.random.Generator) -> Run:
    """The run, with the mean loss under fresh masks among its measures."""
    noise, measure = run

    def measure_both(u: Matrix, v: Matrix) -> dict[str, float]:
        losses = losses_of_nodes(problem.y, u, v.T @ problem.x, noise(FRESH, rng))
        return measure(u, v) | {"sampled": float(losses.mean())}

    return noise, measure_both


def draw(curves: pd.DataFrame) -> Figure:
    """A row per θ: sampled masks on the left (top row of the paper), the minimum on the right."""
    figure, axes = rows_of_panels(curves["keep"].nunique())
    for (keep, curve), (left, right) in zip(curves.groupby("keep"), axes, strict=True):
        band(left, curve, "DropBlock, stochastic (5 to 95%)")
        line(left, curve, "sampled", f"mean of {FRESH} masks", BLUE)
        for axis in (left, right):
            line(axis, curve, "deterministic", "DropBlock, deterministic", ORANGE, ls="--")
        minimum = curve["minimum"].iloc[0] / UNIT
        right.axhline(minimum, color=BLACK, lw=1, label="minimum of Theorem 2.7")
        gap = curve["deterministic"].iloc[-1] / curve["minimum"].iloc[0] - 1
        finish(left, f"θ = {keep:g}")
        finish(right, f"θ = {keep:g}: ends {gap:.2%} above the minimum", first=False)
        left.set_ylim(bottom=max(left.get_ylim()[0], BELOW * minimum))
    key(figure, list(axes[0]), 3)
    what_it_is(figure, curves, OURS if STATED in set(curves["keep"]) else f"{OURS}, θ")
    return figure


def checks(data: pd.DataFrame) -> list[Check]:
    """Checks of what the paper says of Figure 1."""
    return dropblock_checks("fig1", data)


def dropblock_checks(claim: str, curves: pd.DataFrame) -> list[Check]:
    """Checks of sampled losses against Lemma 2.1, and of the end against Theorem 2.7."""
    found: list[Check] = []
    for keep, curve in curves.groupby("keep"):
        what = f"mean loss under {FRESH} fresh masks over Lemma 2.1; θ = {keep:g}"
        factors = curve["sampled"] / curve["deterministic"]
        found.append(mean_factor(claim, what, factors, TELLING))
        found += _theorem_2_7(claim, f"θ = {keep:g}", curve)
    return found


def _theorem_2_7(claim: str, of: str, curve: pd.DataFrame) -> Iterator[Check]:
    """Checks of the last objective against the minimum of Theorem 2.7."""
    last, minimum = last_objective(curve), curve["minimum"].iloc[-1]
    what = "last objective over the minimum of Theorem 2.7, less 1"
    yield at_least(claim, f"{what}; {of}", last / minimum - 1, 0, 1e-9)
    what = f"last objective to the minimum of Theorem 2.7, {SHARE}"
    yield at_most(claim, f"{what}; {of}", share_of_height(curve, last, minimum), VISIBLE)


def minimum(problem: Problem, keep: float, block: int) -> float:
    """Least objective by Theorem 2.7."""
    return optimum(problem.y, block, beta_at(keep, block, HIDDEN), problem.x).value
