"""Figure 1 of Pal 2020: DropBlock as sampled, its objective (Lemma 2.1) and its minimum.

The minimum is that of Theorem 2.7, corrected and as printed. Masks of DropBlock differ so much that
one per iterate would say little, so the checks rest on many fresh masks at every iterate shown.
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
    FAINT,
    ORANGE,
    PINK,
    TELLING,
    Run,
    finish,
    last_objective,
    line,
    mean_factor,
    of_nodes,
    problem_of,
    rows_of_panels,
    train_all,
)

FRESH = 200  # masks drawn at every iterate shown, to see their mean
GAP = 0.02  # as far above its minimum as training may end


def data(seed: int, iterations: int) -> pd.DataFrame:
    """Trainings at θ = 1/2, the paper's choice."""
    return dropblock_curves(seed, (0.5,), iterations)


def dropblock_curves(seed: int, keeps: Sequence[float], iterations: int) -> pd.DataFrame:
    """Trainings with DropBlock for every θ, with the minima of Theorem 2.7.

    The column `sampled` is the mean loss under many masks of each iterate, none of which trains.
    """
    problem = problem_of(seed)
    *_, beyond = np.random.SeedSequence(seed).spawn(len(keeps) + 1)  # no training draws from it
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
    noise, measure = run

    def measure_both(u: Matrix, v: Matrix) -> dict[str, float]:
        losses = losses_of_nodes(problem.y, u, v.T @ problem.x, noise(FRESH, rng))
        return measure(u, v) | {"sampled": float(losses.mean())}

    return noise, measure_both


def draw(curves: pd.DataFrame) -> Figure:
    """A row per θ. Left, the paper's top: masks; right: the way to the minimum."""
    figure, axes = rows_of_panels(curves["keep"].nunique())
    for (keep, curve), (left, right) in zip(curves.groupby("keep"), axes, strict=True):
        line(left, curve, "stochastic", "DropBlock, stochastic", BLUE, **FAINT)
        line(left, curve, "deterministic", "DropBlock, deterministic", ORANGE)
        line(right, curve, "deterministic", "DropBlock, deterministic", ORANGE)
        minimum = curve["minimum"].iloc[0]
        right.axhline(minimum, color=BLACK, ls="--", lw=1, label="minimum of Theorem 2.7")
        printed = curve["printed"].iloc[0]
        right.axhline(printed, color=PINK, ls=":", lw=1, label="Theorem 2.7 as printed")
        gap = curve["deterministic"].iloc[-1] / minimum - 1
        finish(left, f"θ = {keep:g}")
        finish(right, f"θ = {keep:g}: ends {gap:.2%} above the minimum")
    return figure


def checks(data: pd.DataFrame) -> list[Check]:
    """What the paper says of Figure 1."""
    return dropblock_checks("fig1", data)


def dropblock_checks(claim: str, curves: pd.DataFrame) -> list[Check]:
    """Whether masks cost what Lemma 2.1 says, and whether training ends at Theorem 2.7's value."""
    found: list[Check] = []
    for keep, curve in curves.groupby("keep"):
        what = f"mean loss under {FRESH} fresh masks over Lemma 2.1; θ = {keep:g}"
        factors = curve["sampled"] / curve["deterministic"]
        found.append(mean_factor(claim, what, factors, TELLING))
        found += _theorem_2_7(claim, f"θ = {keep:g}", curve)
    return found


def _theorem_2_7(claim: str, of: str, curve: pd.DataFrame) -> Iterator[Check]:
    """As printed its minimum is one that training can undercut (E12)."""
    forms: list[tuple[str, str, Form]] = [
        ("as printed", "printed", PRINTED),
        ("corrected", "minimum", CORRECTED),
    ]
    for name, column, form in forms:
        excess = last_objective(curve) / curve[column].iloc[-1] - 1
        what = f"last objective over the minimum of Theorem 2.7 {name}, less 1; {of}"
        yield at_least(claim, what, excess, 0, 1e-9, form)
        yield at_most(claim, what, excess, GAP, form=form)


def minimum(problem: Problem, keep: float, block: int) -> float:
    """By Theorem 2.7, with its corrections."""
    return optimum(problem.y, block, beta_at(keep, block, HIDDEN), problem.x).value


def minimum_as_printed(problem: Problem, keep: float, block: int) -> float:
    """The least F of Theorem 2.7 where F has the norm of Theorem 2.3, both as printed (E12, E13).

    X has full column rank here, as the theorem asks.
    """
    beta = beta_at(keep, block, HIDDEN)
    m = np.linalg.svd(problem.y, compute_uv=False)
    a = enumerated_prox(m, block, beta, block - 1, squared_norm_printed)
    return float(np.sum((m - a) ** 2) + beta * squared_norm_printed(a, block))
