"""Steck 2020: small dense problems, and every dropout mask of them in turn."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from lindrop.base.arrays import Matrix, Vector
from lindrop.dropout.enumeration import outcomes
from lindrop.models.base import Fit, LowRank, Training
from lindrop.papers.steck2020.sampling import correlated_sample

ROWS, ITEMS = 7, 5  # where every mask is enumerated
USERS, FEATURES = 300, 20  # where models are fitted
EXACT = 1e-9  # what rounding may leave, relative


@dataclass(frozen=True)
class Masked:
    """X under every mask of a row, the same one in all rows, with the mask's probability.

    Losses are sums over rows, so masks that differ from row to row have the same mean.
    """

    x: Matrix
    p: float

    @cached_property
    def outcomes(self) -> tuple[Matrix, Vector]:
        """δ of every mask, masks × items, and the probabilities."""
        return outcomes(self.x.shape[1], 1 - self.p)

    @cached_property
    def inputs(self) -> Matrix:
        """Z, masks × rows × items."""
        kept, _ = self.outcomes
        return np.asarray(kept[:, None, :] * self.x)

    def weights(self, a: float, b: float) -> Matrix:
        """A of Eq. 1 times the probabilities, masks × items."""
        kept, probability = self.outcomes
        return np.asarray(probability[:, None] * np.where(kept, b, a))

    def loss(self, matrix: Matrix, a: float, b: float) -> float:
        """Eq. 1 at a given B, in the limit of infinitely many epochs."""
        errors = np.sum((self.x - self.inputs @ matrix) ** 2, axis=1)
        return float(np.sum(self.weights(a, b) * errors))

    def minimiser(self, a: float, b: float) -> Matrix:
        """B^(EDLAE) of Eq. 1 and 2, from the normal equations of each column."""
        weights, z = self.weights(a, b), self.inputs
        second = np.einsum("si,srj,srk->ijk", weights, z, z, optimize=True)
        first = np.einsum("si,srj,ri->ij", weights, z, self.x, optimize=True)
        return np.asarray((1 - self.p) * np.linalg.solve(second, first[:, :, None])[:, :, 0].T)


@dataclass(frozen=True)
class Quadratic:
    """‖X − XB‖² + ‖Λ̃^½ B‖² (Eq. 3) of any B, from G = X'X and the diagonal of Λ̃."""

    gram: Matrix
    penalty: Vector

    @cached_property
    def h(self) -> Matrix:
        """G + Λ̃."""
        return np.asarray(self.gram + np.diag(self.penalty))

    def value(self, b: Matrix) -> float:
        return float(np.trace(self.gram) - 2 * np.vdot(self.gram, b) + np.vdot(b, self.h @ b))

    def slope(self, b: Matrix) -> Matrix:
        return np.asarray(2 * (self.h @ b - self.gram))

    def edlae(self, b: Matrix) -> float:
        """Eq. 10."""
        return self.value(off(b))

    def edlae_slope(self, b: Matrix) -> Matrix:
        return off(self.slope(off(b)))


def steepness(slope: Matrix, model: LowRank, gram: Matrix) -> float:
    """Largest slope in U or V, of a slope in UV', by the size of its terms, in a balanced gauge."""
    even = model.balanced()
    largest = max(np.abs(slope @ even.decoder).max(), np.abs(slope.T @ even.encoder).max())
    return float(largest / np.abs(2 * gram @ even.decoder).max())


def product_of(model: LowRank) -> Matrix:
    """UV'."""
    return np.asarray(model.encoder @ model.decoder.T)


def low_rank(fit: Fit) -> LowRank:
    assert isinstance(fit.model, LowRank)
    return fit.model


def off(b: Matrix) -> Matrix:
    """B without its diagonal."""
    return np.asarray(b - np.diag(np.diag(b)))


def ratio(p: float) -> float:
    """p/q."""
    return p / (1 - p)


def noise(x: Matrix, p: float) -> Vector:
    """The diagonal of Λ (Eq. 4)."""
    return np.asarray(ratio(p) * np.sum(x**2, axis=0))


def equation_6(x: Matrix, matrix: Matrix, p: float, a: float, b: float) -> float:
    mean, diagonal = a * p + b * (1 - p), np.diag(np.diag(matrix))
    rest = x - x @ (matrix - (1 - b / mean) * diagonal)
    shrunk = matrix - (1 - np.sqrt(a * b) / mean) * diagonal
    return float(np.sum(rest**2) + noise(x, p) @ np.sum(shrunk**2, axis=1))


def enumerable(rng: np.random.Generator) -> Matrix:
    """X of real numbers, whose features have unequal sizes."""
    return np.asarray(rng.normal(0.5, 1, (ROWS, ITEMS)) * np.linspace(0.5, 2, ITEMS))


def fitted(rng: np.random.Generator, users: int = USERS, items: int = FEATURES) -> Matrix:
    """Binary X for the models."""
    return correlated_sample(users, items, rng)


def training(x: Matrix) -> Training:
    return Training.of(sp.csr_array(x), dtype=np.float64)
