"""Full-rank linear autoencoders: one inverse serves every degree of emphasis."""

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.linalg.packed import PackedGram
from lindrop.models.base import Fit, FullRank, Training, dropout_penalty
from lindrop.models.precision import inverted


def fit_dlae(data: Training, p: float, ridge: float) -> Fit:
    """Denoising without emphasis, B = I - C Λ̃ (Eq. 5)."""
    penalty = dropout_penalty(data.gram_diagonal, p, ridge)
    gram = inverted(data, penalty)
    return _model(gram, penalty, 1.0 - penalty * gram.inverse_diagonal)


def fit_edlae(data: Training, p: float, ridge: float) -> Fit:
    """Full emphasis, B = I - C dMat(1 ⊘ diag C) (Eq. 8, 9); with p = 0 it is EASE."""
    gram = inverted(data, dropout_penalty(data.gram_diagonal, p, ridge))
    return _model(gram, 1.0 / gram.inverse_diagonal, np.zeros(len(gram)))


def fit_emphasised(data: Training, p: float, ridge: float, a: float, b: float) -> Fit:
    """Any emphasis a ≥ b > 0, the minimiser of Eq. 6 with Λ̃ in place of Λ.

    W = I - C dMat(d), d = a Λ̃ / (b + (a-b) Λ̃ diag C), holds the off-diagonal of B; its diagonal is
    (ap + bq) (1 - Λ̃ diag C) / (b + (a-b) Λ̃ diag C).
    """
    penalty = dropout_penalty(data.gram_diagonal, p, ridge)
    gram = inverted(data, penalty)
    shrunk = penalty * gram.inverse_diagonal
    denominator = b + (a - b) * shrunk
    diagonal = (a * p + b * (1.0 - p)) * (1.0 - shrunk) / denominator
    return _model(gram, a * penalty / denominator, diagonal)


def emphasised_matrix(gram: Matrix, p: float, ridge: float, a: float, b: float) -> Matrix:
    """The same from a given G = X'X, in its precision."""
    penalty = dropout_penalty(gram.diagonal(), p, ridge)
    c = np.linalg.inv(gram + np.diag(penalty))
    shrunk = penalty * c.diagonal()
    denominator = b + (a - b) * shrunk
    matrix: Matrix = -c * (a * penalty / denominator)
    np.fill_diagonal(matrix, (a * p + b * (1.0 - p)) * (1.0 - shrunk) / denominator)
    return matrix


def _model(gram: PackedGram, scale: Vector, diagonal: Vector) -> Fit:
    """-C dMat(scale) with another diagonal, in the memory of C."""
    matrix = gram.take_inverse()
    matrix *= -scale.astype(matrix.dtype)
    np.fill_diagonal(matrix, diagonal)
    return Fit(FullRank(matrix))
