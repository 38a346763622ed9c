"""What Pal 2020 reads off Figures 1 and 3 to 6, asked of the tables of `curves`.

DropBlock's masks differ so much that one per iterate would say little: there many are drawn.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from lindrop.claims.checks import CORRECTED, PRINTED, Check, Form, at_least, at_most, equal
from lindrop.papers.pal2020.curves import FRESH
from lindrop.papers.pal2020.factors import mean_factor

TELLING = 0.03  # within which the mean factor of a loss under masks has to be known
SETTLED = 2000  # iterations after which the end of a training tells something
GAP = 0.02  # as far above its minimum as training may end
SAME = 0.01  # objectives of two trainings as different as noise leaves them
ALIKE = 0.05  # hardly seen on the paper's log axis


def dropblock_checks(claim: str, curves: pd.DataFrame) -> list[Check]:
    """Of fig1 or fig5: masks cost what Lemma 2.1 says, and training ends at Theorem 2.7's value."""
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
        excess = _last(curve) / curve[column].iloc[-1] - 1
        what = f"last objective over the minimum of Theorem 2.7 {name}, less 1; {of}"
        yield at_least(claim, what, excess, 0, 1e-9, form)
        yield at_most(claim, what, excess, GAP, form=form)


def dropconnect_checks(claim: str, curves: pd.DataFrame) -> list[Check]:
    """Of fig3 or fig6: whether DropConnect costs what dropout does (E18)."""
    found: list[Check] = []
    for keep, of_keep in curves.groupby("keep"):
        connect, dropout = (of_keep[of_keep["scheme"] == s] for s in ("DropConnect", "dropout"))
        found += _theorem_4_1(claim, f"θ = {keep:g}", connect)
        ratio = _last(connect) / _last(dropout)
        what = f"last objective of DropConnect over dropout's, θ = {keep:g}"
        found.append(equal(claim, what, ratio, 1, SAME))
    return found


def inputs_checks(curves: pd.DataFrame) -> list[Check]:
    """E18 along whole trainings, with independent and with correlated inputs."""
    cases = curves.groupby("inputs", sort=False)
    return [
        check
        for name, case in cases
        for check in _theorem_4_1("dropconnect", f"{name} inputs", case)
    ]


def overlap_checks(curves: pd.DataFrame) -> list[Check]:
    """Of fig4: overlapping blocks as good as a grid's once θ′ is right (E19)."""
    found: list[Check] = []
    for keep, of_keep in curves.groupby("keep"):
        last = {name: _last(curve) for name, curve in of_keep.groupby("scheme")}
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


def _theorem_4_1(claim: str, of: str, curve: pd.DataFrame) -> Iterator[Check]:
    forms: list[tuple[str, str, Form]] = [
        ("Theorem 4.1", "printed", PRINTED),
        ("Theorem 4.1, variances added", "deterministic", CORRECTED),
    ]
    for theorem, column, form in forms:
        what = f"loss under the mask over {theorem}; {of}"
        yield mean_factor(claim, what, curve["stochastic"] / curve[column], TELLING, form)


def _last(curve: pd.DataFrame) -> float:
    """The objective where training ends; not a number if it was too short to end anywhere."""
    settled = curve["iteration"].iloc[-1] >= SETTLED
    return float(curve["deterministic"].iloc[-1]) if settled else np.nan
