"""What a linear denoising autoencoder minimises (Pretorius 2018, supplement A).

Columns of X (inputs × samples) are the samples; the network answers W₂W₁(x + noise), and every
component of the noise has mean 0 and variance s².
"""

import numpy as np

from lindrop.base.arrays import Matrix


def loss(x: Matrix, corrupted: Matrix, w1: Matrix, w2: Matrix) -> Matrix:
    """(1/2N) Σ ‖x_i − W₂W₁x̃_i‖² of one corrupted copy of X, or of each of many."""
    return np.asarray(np.sum((x - w2 @ w1 @ corrupted) ** 2, axis=(-2, -1)) / (2 * x.shape[1]))


def expected_loss(x: Matrix, w1: Matrix, w2: Matrix, variance: float) -> float:
    """(1/2N) Σ ‖x_i − W₂W₁x_i‖² + (s²/2) tr(W₂W₁W₁'W₂'), the mean over the noise.

    The paper prints the last term with the factor N s² (E20).
    """
    return float(loss(x, x, w1, w2)) + variance / 2 * float(np.sum((w2 @ w1) ** 2))


def gradient(x: Matrix, w1: Matrix, w2: Matrix, variance: float) -> tuple[Matrix, Matrix]:
    """∂E[L]/∂W₁ and ∂E[L]/∂W₂."""
    both = w2 @ w1
    slope = (both - np.eye(len(x))) @ x @ x.T / x.shape[1] + variance * both
    return w2.T @ slope, slope @ w1.T
