"""Steck 2020, supplement, Section 2: the proof of the theorem (Eq. 6) by line, over all masks.

The shares of rows that Section 2.1 counts are those of the masks that the library's training draws.
"""

import numpy as np
import scipy.sparse as sp

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import STANDARD_ERRORS, Check, equal, relative_distance
from lindrop.models.base import dropped
from lindrop.papers.steck2020.problems import (
    EXACT,
    ITEMS,
    Masked,
    enumerable,
    equation_6,
    noise,
    off,
    ratio,
)

P, A, B = 0.3, 1.0, 0.4  # p, a and b; at p = 1/2, exchanging p and q would go unnoticed
Q = 1 - P
EPOCHS = 400_000  # rows of X^(n) in which dropped and kept entries are counted


class Part:
    """Epochs that dropped feature i (part a) or kept it (part b): means over their masks."""

    def __init__(self, lines: "Lines", i: int, kept: bool):
        masks, probability = lines.masked.outcomes
        self.x, self.i = lines.x, i
        self.weights: Vector = probability * (masks[:, i] == kept)
        self.z = lines.masked.inputs

    def loss(self, column: Vector) -> float:
        """(1/n)‖X_i − ZB_i‖² over the rows of the part, with n the number of all epochs."""
        errors = np.sum((self.x[:, self.i] - self.z @ column) ** 2, axis=1)
        return float(self.weights @ errors)

    def moments(self, scale: Vector) -> tuple[Vector, Matrix]:
        """(1/n)X_i'ZQ and (1/n)QZ'ZQ over the rows of the part, with Q = dMat(scale)."""
        z = self.z * scale
        first = np.einsum("s,srj,r->j", self.weights, z, self.x[:, self.i])
        return first, np.einsum("s,srj,srk->jk", self.weights, z, z, optimize=True)


class Lines:
    """Numbered lines of the proof, at the paper's B (`raw`) and at its B^(EDLAE) (`edlae`)."""

    def __init__(self, x: Matrix, raw: Matrix):
        self.x, self.gram, self.masked = x, x.T @ x, Masked(x, P)
        self.raw, self.edlae, self.off = raw, Q * raw, Q * off(raw)
        self.noise, self.beta = noise(x, P), Q * np.diag(raw)

    def part(self, i: int, kept: bool) -> Part:
        return Part(self, i, kept)

    def penalty(self, i: int) -> float:
        """‖Λ^½ B_i^(off)‖², the penalty of column i without its diagonal entry."""
        return float(self.noise @ self.off[:, i] ** 2)

    def dropped(self, i: int) -> float:
        """Value of the braces in line 15."""
        return float(np.sum((self.x[:, i] - self.x @ self.off[:, i]) ** 2) + self.penalty(i))

    def kept(self, i: int) -> float:
        """Value of the braces in line 25."""
        rest = self.x[:, i] * (1 - self.beta[i] / Q) - self.x @ self.off[:, i]
        return float(np.sum(rest**2) + self.penalty(i))

    def line_4(self, raw: Matrix) -> float:
        """Value of line 4 at the matrix `raw`."""
        return sum(
            weight * self.part(i, kept).loss(raw[:, i])
            for i in range(ITEMS)
            for kept, weight in ((False, A), (True, B))
        )

    def line_5(self) -> float:
        """Value of line 5."""
        return sum(A * P * self.dropped(i) + B * Q * self.kept(i) for i in range(ITEMS))

    def line_6(self) -> float:
        """Value of line 6."""
        without = np.sum((self.x - self.x @ self.off) ** 2)
        rest = self.x - self.x @ (self.off + np.diag(self.beta / Q))
        penalty = self.noise @ np.sum(self.off**2, axis=1)
        return float(A * P * without + B * Q * np.sum(rest**2) + (A * P + B * Q) * penalty)

    def line_7(self) -> float:
        mean = A * P + B * Q
        rest = self.x - self.x @ (self.off + np.diag(self.beta) * B / mean)
        penalty = self.noise @ np.sum(self.off**2, axis=1)
        diagonal = A / B * self.noise @ (self.beta * B / mean) ** 2
        return float(mean * (np.sum(rest**2) + penalty + diagonal))


def checks(seed: int) -> list[Check]:
    """Checks of the proof's lines: overview, and the parts of Sections 2.2 and 2.3."""
    data, weights = np.random.default_rng(seed).spawn(2)
    x, matrix = enumerable(data), weights.normal(size=(ITEMS, ITEMS))
    lines = Lines(x, matrix)
    return [
        *_overview_checks(lines),
        _split(lines),
        *_dropped_checks(lines),
        *_kept_checks(lines),
        *_counted(np.random.default_rng([seed, EPOCHS])),
    ]


def _overview_checks(lines: Lines) -> list[Check]:
    start = lines.masked.loss(lines.raw, A, B)
    values = {
        "5": lines.line_5(),
        "6": lines.line_6(),
        "7": lines.line_7(),
        "8": (A * P + B * Q) * equation_6(lines.x, lines.edlae, P, A, B),
    }
    return [
        equal(
            "supplement_equations_2_to_8",
            f"line {line} over line 2, the mean loss over every mask",
            value / start,
            1,
            EXACT,
        )
        for line, value in values.items()
    ]


def _split(lines: Lines) -> Check:
    whole = lines.line_4(lines.raw) / lines.masked.loss(lines.raw, A, B)
    return equal("supplement_equation_4", "line 4 over line 2", whole, 1, EXACT)


def _counted(rng: np.random.Generator) -> list[Check]:
    """Checks of Section 2.1 and 2.3 by the masks of training: rows are counted, feature by feature.

    The standard error of a share s of n rows is the root of s(1 − s)/n.
    """
    kept = dropped(sp.csr_array(np.ones((EPOCHS, ITEMS))), P, rng).toarray() > 0
    sizes = [np.sum(~column) / np.sum(column) for column in kept.T]
    present = [kept[kept[:, i], i - 1].mean() for i in range(ITEMS)]
    error = np.sqrt(P * Q / EPOCHS)
    of = f"{EPOCHS:,} rows with the masks of training:"
    return [
        equal(
            "supplement_2_1",
            f"{of} rows that dropped a feature over those that kept it, farthest from p/q",
            max(sizes, key=lambda size: abs(size - ratio(P))),
            ratio(P),
            STANDARD_ERRORS * error / Q**2,
        ),
        equal(
            "supplement_2_3_probability",
            f"{of} share of those that kept a feature in which another is present, farthest from q",
            max(present, key=lambda share: abs(share - Q)),
            Q,
            STANDARD_ERRORS * error / np.sqrt(Q),
        ),
    ]


def _dropped_checks(lines: Lines) -> list[Check]:
    """Checks of Section 2.2 of the proof: epochs in which feature i is dropped."""
    first_errors, second_errors, values, shifts = [], [], [], []
    for i in range(ITEMS):
        part, others = lines.part(i, False), np.arange(ITEMS) != i
        first, second = (of[..., others] for of in part.moments(np.ones(ITEMS)))
        gram = lines.gram[np.ix_(others, others)]
        claimed = P * Q**2 * (gram + np.diag(lines.noise[others]))
        first_errors.append(relative_distance(first, P * Q * lines.gram[i, others]))
        second_errors.append(relative_distance(second[others], claimed))
        values.append(part.loss(lines.raw[:, i]) / (P * lines.dropped(i)))
        shifted = lines.raw[:, i] + 10 * np.eye(ITEMS)[i]
        shifts.append(part.loss(shifted) / part.loss(lines.raw[:, i]))
    moment = "relative distance of the moment of Z to its limit:"
    return [
        equal("supplement_2_2", f"{moment} X_i'Z", max(first_errors), 0, EXACT),
        equal("supplement_equation_16", f"{moment} Z'Z", max(second_errors), 0, EXACT),
        equal("supplement_equations_9_to_15", "line 9 over line 15", _far(values), 1, EXACT),
        equal(
            "supplement_2_2_diagonal", "part (a) after B_ii + 10, relative", _far(shifts), 1, EXACT
        ),
    ]


def _kept_checks(lines: Lines) -> list[Check]:
    """Checks of Section 2.3 of the proof: epochs in which feature i is kept.

    Column i is never dropped there, so Q scales it by q.
    """
    first_errors, second_errors, values = [], [], []
    for i in range(ITEMS):
        part, here = lines.part(i, True), np.arange(ITEMS) == i
        first, second = part.moments(np.where(here, Q, 1))
        claimed = Q**3 * (lines.gram + np.diag(np.where(here, 0, lines.noise)))
        first_errors.append(relative_distance(first, Q**2 * lines.gram[i]))
        second_errors.append(relative_distance(second, claimed))
        values.append(part.loss(lines.raw[:, i]) / (Q * lines.kept(i)))
    moment = "relative distance of the moment of ZQ to its limit:"
    return [
        equal("supplement_2_3", f"{moment} X_i'ZQ", max(first_errors), 0, EXACT),
        equal("supplement_2_3", f"{moment} QZ'ZQ", max(second_errors), 0, EXACT),
        equal("supplement_equations_17_to_25", "line 17 over line 25", _far(values), 1, EXACT),
    ]


def _far(ratios: list[float]) -> float:
    """The ratio that is farthest from 1."""
    return max(ratios, key=lambda found: abs(found - 1))
