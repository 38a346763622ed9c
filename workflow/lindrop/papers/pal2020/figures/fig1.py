"""Figure 1 of Pal 2020: DropBlock as sampled, its objective (Lemma 2.1) and its minimum.

The minimum is that of Theorem 2.7, with the ρ of Theorem 2.3 as corrected and as printed. The loss
varies too much between masks of DropBlock for one mask per iterate, so the checks use many fresh
masks at each.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import CORRECTED, PRINTED, Check, Form, at_least, at_most
from lindrop.dropout.dropblock import beta_at, optimum
from lindrop.dropout.k_support import enumerated_prox, squared_norm_printed
from lindrop.dropout.samplers import dropblock
from lindrop.dropout.structured import losses_of_nodes
from lindrop.papers.pal2020.synthetic import HIDDEN, Problem
from lindrop.papers.pal2020.trainings import (
    BLACK,
    BLOCK,
    BLUE,
    ORANGE,
    PINK,
    TELLING,
    UNIT,
    Run,
    band,
    finish,
    key,
    last_objective,
    line,
    mean_factor,
    of_nodes,
    problem_of,
    rows_of_panels,
    train_all,
    visible,
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
    """Curves of trainings with DropBlock for every θ, with the minima of Theorem 2.7.

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
    ends = {
        name: curves["keep"].map({keep: of(problem, keep, BLOCK) for keep in keeps})
        for name, of in (("minimum", minimum), ("printed", minimum_as_printed))
    }
    return curves.assign(**ends)


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
        minimum, printed = (curve[of].iloc[0] / UNIT for of in ("minimum", "printed"))
        right.axhline(minimum, color=BLACK, lw=1, label="minimum of Theorem 2.7")
        right.axhline(printed, color=PINK, ls=":", lw=1.5, label="with the printed rule for ρ*")
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
    """Checks of the last objective against the minimum of Theorem 2.7.

    Training undercuts the minimum that the printed rule for ρ* gives (E12).
    """
    last = last_objective(curve)
    excess = last / curve["minimum"].iloc[-1] - 1
    what = "last objective over the minimum of Theorem 2.7, less 1"
    yield at_least(claim, f"{what}; {of}", excess, 0, 1e-9)
    yield at_most(claim, f"{what}, of what is visible; {of}", excess / visible(curve), 1)
    forms: list[tuple[str, str, Form]] = [
        ("printed", "printed", PRINTED),
        ("corrected", "minimum", CORRECTED),
    ]
    for name, column, form in forms:
        excess = last / curve[column].iloc[-1] - 1
        yield at_least(f"{claim}_rho", f"{what}, by the {name} ρ*; {of}", excess, 0, 1e-9, form)


def minimum(problem: Problem, keep: float, block: int) -> float:
    """Least objective by Theorem 2.7."""
    return optimum(problem.y, block, beta_at(keep, block, HIDDEN), problem.x).value


def minimum_as_printed(problem: Problem, keep: float, block: int) -> float:
    """Least F of Theorem 2.7 with the ρ* of Theorem 2.3 as printed (E12)."""
    beta = beta_at(keep, block, HIDDEN)
    m = np.linalg.svd(problem.y, compute_uv=False)
    a = enumerated_prox(m, block, beta, block, squared_norm_printed)
    return float(np.sum((m - a) ** 2) + beta * squared_norm_printed(a, block))
