"""Steck 2020, supplement, Section 2: the numbered lines of the proof, in expectation."""

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.papers.steck2020.problems import ITEMS, Masked, noise, off

P, A, B = 0.3, 1.0, 0.4  # p, a and b; p is not 1/2, where p and q could not be told apart
Q = 1 - P


class Part:
    """The epochs that dropped feature i, part (a), or kept it, part (b): means over masks."""

    def __init__(self, lines: "Lines", i: int, kept: bool):
        masks, probability = lines.masked.outcomes
        self.x, self.i = lines.x, i
        self.weights: Vector = probability * (masks[:, i] == kept)
        self.z = lines.masked.inputs

    @property
    def share(self) -> float:
        """Rows of the part per row of all epochs."""
        return float(self.weights.sum())

    def loss(self, column: Vector) -> float:
        """(1/n)‖X_i − ZB_i‖² over the rows of the part."""
        errors = np.sum((self.x[:, self.i] - self.z @ column) ** 2, axis=1)
        return float(self.weights @ errors)

    def moments(self, scale: Vector) -> tuple[Vector, Matrix]:
        """(1/n)X_i'ZQ and (1/n)QZ'ZQ, Q = dMat(scale)."""
        z = self.z * scale
        first = np.einsum("s,srj,r->j", self.weights, z, self.x[:, self.i])
        return first, np.einsum("s,srj,srk->jk", self.weights, z, z, optimize=True)


class Lines:
    """The numbered lines; `raw` is the paper's B, `edlae` its B^(EDLAE)."""

    def __init__(self, x: Matrix, raw: Matrix):
        self.x, self.gram, self.masked = x, x.T @ x, Masked(x, P)
        self.raw, self.edlae, self.off = raw, Q * raw, Q * off(raw)
        self.noise, self.beta = noise(x, P), Q * np.diag(raw)

    def part(self, i: int, kept: bool) -> Part:
        return Part(self, i, kept)

    def penalty(self, i: int) -> float:
        """‖Λ^½ B_i^(off)‖²."""
        return float(self.noise @ self.off[:, i] ** 2)

    def dropped(self, i: int) -> float:
        """The braces of line 15."""
        return float(np.sum((self.x[:, i] - self.x @ self.off[:, i]) ** 2) + self.penalty(i))

    def kept(self, i: int) -> float:
        """The braces of line 25."""
        rest = self.x[:, i] * (1 - self.beta[i] / Q) - self.x @ self.off[:, i]
        return float(np.sum(rest**2) + self.penalty(i))

    def line_4(self, raw: Matrix) -> float:
        """With what is left of the columns of B."""
        return sum(
            weight * self.part(i, kept).loss(raw[:, i])
            for i in range(ITEMS)
            for kept, weight in ((False, A), (True, B))
        )

    def line_5(self) -> float:
        return sum(A * P * self.dropped(i) + B * Q * self.kept(i) for i in range(ITEMS))

    def line_6(self) -> float:
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
