"""Small dense problems for the checks of Steck 2020: all dropout masks, and quadratic losses."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from lindrop.base.arrays import Matrix, Vector
from lindrop.dropout.enumeration import outcomes
from lindrop.dropout.multistart import descents
from lindrop.models.base import Fit, LowRank, Training
from lindrop.papers.steck2020.sampling import correlated_sample

ROWS, ITEMS = 7, 5  # size of X where all masks are enumerated
USERS, FEATURES = 300, 20  # size of X where models are fitted
EXACT = 1e-9  # relative tolerance for rounding errors


@dataclass(frozen=True)
class Masked:
    """X under every mask of a row with its probability; all rows share the mask.

    Losses are sums over rows, so independent masks for the rows have the same mean loss.
    """

    x: Matrix
    p: float

    @cached_property
    def outcomes(self) -> tuple[Matrix, Vector]:
        """Masks δ (masks × items) and their probabilities."""
        return outcomes(self.x.shape[1], 1 - self.p)

    @cached_property
    def inputs(self) -> Matrix:
        """Masked inputs Z: masks × rows × items."""
        kept, _ = self.outcomes
        return np.asarray(kept[:, None, :] * self.x)

    def weights(self, a: float, b: float) -> Matrix:
        """Weights A of Eq. 1 times the probabilities of the masks: masks × items."""
        kept, probability = self.outcomes
        return np.asarray(probability[:, None] * np.where(kept, b, a))

    def loss(self, matrix: Matrix, a: float, b: float) -> float:
        """Loss of Eq. 1 at a given B, in the limit of infinitely many epochs."""
        errors = np.sum((self.x - self.inputs @ matrix) ** 2, axis=1)
        return float(np.sum(self.weights(a, b) * errors))

    def minimiser(self, a: float, b: float, ridge: float = 0.0) -> Matrix:
        """B^(EDLAE), the minimiser of Eq. 1 times q (Eq. 2), from normal equations by column.

        `ridge` is the weight of ‖B^(EDLAE)‖² beside the loss.
        """
        weights, z = self.weights(a, b), self.inputs
        second = np.einsum("si,srj,srk->ijk", weights, z, z, optimize=True)
        second += ridge * (1 - self.p) ** 2 * np.eye(self.x.shape[1])
        first = np.einsum("si,srj,ri->ij", weights, z, self.x, optimize=True)
        return np.asarray((1 - self.p) * np.linalg.solve(second, first[:, :, None])[:, :, 0].T)


def induced_penalty(x: Matrix, p: float, a: float = 1, b: float = 1) -> Vector:
    """What dropout adds to the loss of a single weight 1 of each feature, over every mask.

    The weight predicts another feature than its own, and the mean loss is divided by ap + bq. No
    formula of Λ enters.
    """
    masked, items = Masked(x, p), x.shape[1]
    found = []
    for i in range(items):
        weight = np.zeros((items, items))
        weight[i, (i + 1) % items] = 1
        mean = masked.loss(weight / (1 - p), a, b) / (a * p + b * (1 - p))
        found.append(mean - np.sum((x - x @ weight) ** 2))
    return np.array(found)


def left_of_diagonal(x: Matrix, p: float, a: float, b: float) -> tuple[Vector, Vector]:
    """Fractions of the diagonal of B in the squared error and in the penalty, by feature.

    They follow from how the mean loss over every mask, divided by ap + bq, changes with the
    diagonal entry β of an otherwise empty B: −2fGβ + (f²G + g²Λ)β², with f and g the fractions and
    Λ that of `induced_penalty`.
    """
    masked, scale = Masked(x, p), a * p + b * (1 - p)
    gram, penalty = np.sum(x**2, axis=0), induced_penalty(x, p)
    units = np.eye(x.shape[1])
    plus, none, minus = (
        np.array([masked.loss(np.outer(unit, sign * unit) / (1 - p), a, b) for unit in units])
        / scale
        for sign in (1, 0, -1)
    )
    error = (minus - plus) / (4 * gram)
    curvature = (plus + minus - 2 * none) / 2
    return error, np.sqrt(np.maximum(curvature - error**2 * gram, 0) / penalty)


@dataclass(frozen=True)
class Quadratic:
    """The loss ‖X − XB‖² + ‖Λ̃^½ B‖² (Eq. 3), from G = X'X and the diagonal of Λ̃."""

    gram: Matrix
    penalty: Vector

    @cached_property
    def h(self) -> Matrix:
        """The matrix G + Λ̃."""
        return np.asarray(self.gram + np.diag(self.penalty))

    def value(self, b: Matrix) -> float:
        """Value of Eq. 3 at B."""
        return float(np.trace(self.gram) - 2 * np.vdot(self.gram, b) + np.vdot(b, self.h @ b))

    def slope(self, b: Matrix) -> Matrix:
        """Gradient of Eq. 3 at B."""
        return np.asarray(2 * (self.h @ b - self.gram))

    def edlae(self, b: Matrix) -> float:
        """Value of Eq. 10 at B = UV'."""
        return self.value(off(b))

    def edlae_slope(self, b: Matrix) -> Matrix:
        """Gradient of Eq. 10 with respect to B = UV'."""
        return off(self.slope(off(b)))


def descended(
    loss: Quadratic, rank: int, starts: int, rng: np.random.Generator, decay: float = 0.0
) -> LowRank:
    """Minimiser UV' of Eq. 3 by L-BFGS from random starts, knowing no closed form.

    `decay` is the weight of ‖U‖² + ‖V‖² beside the loss.
    """
    items = len(loss.gram)

    def value_and_slope(flat: Vector) -> tuple[float, Vector]:
        u, v = flat.reshape(2, items, rank)
        b = u @ v.T
        slope = loss.slope(b)
        of_weights = np.stack((slope @ v, slope.T @ u)).ravel() + 2 * decay * flat
        return loss.value(b) + float(decay * flat @ flat), of_weights

    _, flat = descents(value_and_slope, 2 * items * rank, starts, rng)[0]
    return LowRank(*flat.reshape(2, items, rank))


def steepness(slope: Matrix, model: LowRank, gram: Matrix) -> float:
    """Largest entry of the gradients in U and V, relative to the size of their terms.

    `slope` is the gradient in B = UV'. U and V are taken in the balanced gauge.
    """
    even = model.balanced()
    largest = max(np.abs(slope @ even.decoder).max(), np.abs(slope.T @ even.encoder).max())
    return float(largest / np.abs(2 * gram @ even.decoder).max())


def product_of(model: LowRank) -> Matrix:
    """The matrix UV' of a low-rank model."""
    return np.asarray(model.encoder @ model.decoder.T)


def low_rank(fit: Fit) -> LowRank:
    """The low-rank model of a fit."""
    assert isinstance(fit.model, LowRank)
    return fit.model


def off(b: Matrix) -> Matrix:
    """B without its diagonal."""
    return np.asarray(b - np.diag(np.diag(b)))


def ratio(p: float) -> float:
    """The ratio p/q with q = 1 − p."""
    return p / (1 - p)


def noise(x: Matrix, p: float) -> Vector:
    """Diagonal of Λ (Eq. 4)."""
    return np.asarray(ratio(p) * np.sum(x**2, axis=0))


def equation_6(x: Matrix, matrix: Matrix, p: float, a: float, b: float) -> float:
    """Value of Eq. 6, the theorem's objective, at B^(EDLAE) = `matrix`."""
    mean, diagonal = a * p + b * (1 - p), np.diag(np.diag(matrix))
    rest = x - x @ (matrix - (1 - b / mean) * diagonal)
    shrunk = matrix - (1 - np.sqrt(a * b) / mean) * diagonal
    return float(np.sum(rest**2) + noise(x, p) @ np.sum(shrunk**2, axis=1))


def enumerable(rng: np.random.Generator) -> Matrix:
    """Random real X, small enough to enumerate masks, with features of unequal sizes."""
    return np.asarray(rng.normal(0.5, 1, (ROWS, ITEMS)) * np.linspace(0.5, 2, ITEMS))


def fitted(rng: np.random.Generator, users: int = USERS, items: int = FEATURES) -> Matrix:
    """Random binary X to which models are fitted."""
    return correlated_sample(users, items, rng)


def training(x: Matrix) -> Training:
    """Training data of the library's models, from X."""
    return Training.of(sp.csr_array(x), dtype=np.float64)
