"""Full-rank linear autoencoders of Steck 2020 in closed form, from one inverse C = (X'X + Λ̃)⁻¹."""

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.linalg.packed import InverseTriangle
from lindrop.linalg.triangle import set_diagonal
from lindrop.models.base import Fit, ScaledSymmetric, Training, dropout_penalty
from lindrop.models.dual import DualInverse, dual
from lindrop.models.precision import inverse_alone


def fit_dlae(data: Training, p: float, ridge: float) -> Fit:
    """Fit the full-rank DLAE, denoising without emphasis: B = I - C Λ̃ (Steck 2020, Eq. 5)."""
    penalty = dropout_penalty(data.gram_diagonal, p, ridge)
    inverse = _inverse(data, penalty)
    return _model(inverse, penalty, 1.0 - penalty * inverse.inverse_diagonal)


def fit_edlae(data: Training, p: float, ridge: float) -> Fit:
    """Fit the full-rank EDLAE with full emphasis; with p = 0 it is EASE.

    B = I - C dMat(1 ⊘ diag C) (Steck 2020, Eq. 8 and 9).
    """
    inverse = _inverse(data, dropout_penalty(data.gram_diagonal, p, ridge))
    return _model(inverse, 1.0 / inverse.inverse_diagonal, np.zeros(len(inverse)))


def fit_emphasised(data: Training, p: float, ridge: float, a: float, b: float) -> Fit:
    """Fit the full-rank EDLAE with any emphasis a ≥ b > 0 (Steck 2020, Eq. 6, with Λ̃ for Λ).

    Off its diagonal B equals I - C dMat(d) with d = a Λ̃ / (b + (a-b) Λ̃ diag C); the diagonal of B
    is (ap + bq) (1 - Λ̃ diag C) / (b + (a-b) Λ̃ diag C), with q = 1 - p.
    """
    penalty = dropout_penalty(data.gram_diagonal, p, ridge)
    inverse = _inverse(data, penalty)
    shrunk = penalty * inverse.inverse_diagonal
    denominator = b + (a - b) * shrunk
    diagonal = (a * p + b * (1.0 - p)) * (1.0 - shrunk) / denominator
    return _model(inverse, a * penalty / denominator, diagonal)


def emphasised_matrix(gram: Matrix, p: float, ridge: float, a: float, b: float) -> Matrix:
    """Matrix B that minimises Eq. 6 of Steck 2020 for a given G = X'X, in the precision of G."""
    penalty = dropout_penalty(gram.diagonal(), p, ridge)
    c = np.linalg.inv(gram + np.diag(penalty))
    shrunk = penalty * c.diagonal()
    denominator = b + (a - b) * shrunk
    matrix: Matrix = -c * (a * penalty / denominator)
    np.fill_diagonal(matrix, (a * p + b * (1.0 - p)) * (1.0 - shrunk) / denominator)
    return matrix


def _inverse(data: Training, penalty: Vector) -> InverseTriangle | DualInverse:
    """C = (X'X + dMat(penalty))⁻¹, from users × users where that is cheaper."""
    return dual(data, penalty) or inverse_alone(data, penalty)


def _model(inverse: InverseTriangle | DualInverse, scale: Vector, diagonal: Vector) -> Fit:
    """Fit with B = -C dMat(scale) off the diagonal and `diagonal` on it; C is overwritten."""
    triangle = inverse.take_inverse()
    set_diagonal(triangle.panels, np.zeros(triangle.items))
    scale, diagonal = (vector.astype(triangle.dtype) for vector in (-scale, diagonal))
    return Fit(ScaledSymmetric(scale, diagonal, triangle.values))
