"""Loss of a linear denoising autoencoder (Pretorius 2018, supplement A).

Columns of X (inputs × samples) are the samples. The network reconstructs x as W₂W₁(x + noise); the
components of the noise are independent, with mean 0 and variance s².
"""

import numpy as np

from lindrop.base.arrays import Matrix


def loss(x: Matrix, corrupted: Matrix, w1: Matrix, w2: Matrix) -> Matrix:
    """(1/2N) Σ ‖x_i − W₂W₁x̃_i‖² of a corrupted copy of X, or of each copy in an array of many."""
    return np.asarray(np.sum((x - w2 @ w1 @ corrupted) ** 2, axis=(-2, -1)) / (2 * x.shape[1]))


def expected_loss(x: Matrix, w1: Matrix, w2: Matrix, variance: float) -> float:
    """Mean of `loss` over the noise, (1/2N) Σ ‖x_i − W₂W₁x_i‖² + (s²/2) tr(W₂W₁W₁'W₂').

    `variance` is s². Our copy of Pretorius 2018 misses a bracket in this formula (erratum E20).
    """
    return float(loss(x, x, w1, w2)) + variance / 2 * float(np.sum((w2 @ w1) ** 2))


def gradient(x: Matrix, w1: Matrix, w2: Matrix, variance: float) -> tuple[Matrix, Matrix]:
    """Derivatives of `expected_loss` by W₁ and by W₂, in their shapes."""
    both = w2 @ w1
    slope = (both - np.eye(len(x))) @ x @ x.T / x.shape[1] + variance * both
    return w2.T @ slope, slope @ w1.T
