"""Linear autoencoders x̂ = W₂W₁x (Pretorius 2018), trained without touching a sample.

The loss knows the samples through X'X/N alone, and gradient descent from V'-rotated weights is the
rotated descent: in the eigenvectors of X'X all that is left of the data are its eigenvalues. So an
epoch costs four products with a hidden × hidden matrix, whatever the number of samples. Here
`spectrum` are the eigenvalues of X'X/N, and the weights those in its eigenvectors.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from lindrop.base.arrays import Vector
from lindrop.dropout.autoencoders.weights import Weights


def expected_loss(weights: Weights, spectrum: Vector, variance: float, decay: float) -> float:
    """½E‖x − W₂W₁(x + noise)‖² + (γ/2)(‖W₁‖² + ‖W₂‖²), a mean over the samples.

    Noise of variance s² adds (s²/2) tr(W₂W₁W₁'W₂'): Section A prints N s² for it (E20).
    """
    w1, w2 = weights
    residual = w2 @ w1 - np.eye(len(spectrum))
    noise = variance * np.sum((w2 @ w1) ** 2)
    penalty = decay * (np.sum(w1**2) + np.sum(w2**2))
    return float(np.sum(residual**2 @ spectrum) + noise + penalty) / 2


def gradient(weights: Weights, spectrum: Vector, variance: float, decay: float) -> Weights:
    """Of `expected_loss`."""
    w1, w2 = weights
    noisy = w1 * (spectrum + variance)
    slope1 = (w2.T @ w2) @ noisy
    slope1 -= w2.T * spectrum
    slope2 = w2 @ (noisy @ w1.T)
    slope2 -= (w1 * spectrum).T
    if decay:
        slope1 += decay * w1
        slope2 += decay * w2
    return Weights(slope1, slope2)


def mapping(weights: Weights) -> Vector:
    """What Section F estimates, λ̂_j/λ_j of every mode: the diagonal of W₂W₁."""
    return np.asarray(np.einsum("hj,jh->j", *weights))


def scalar_start(weights: Weights) -> tuple[Vector, Vector]:
    """w₁ and w₂ of the scalar theory for every mode, each a mode's two vectors of weights.

    Apart from other modes, vectors move as scalars whose sum and difference are as long as theirs.
    """
    plus, minus = (np.linalg.norm(weights.w1.T + sign * weights.w2, axis=1) for sign in (1, -1))
    return (plus + minus) / 2, (plus - minus) / 2


def train(
    weights: Weights,
    spectrum: Vector,
    at: Sequence[int],
    *,
    rate: float,
    variance: float = 0.0,
    decay: float = 0.0,
) -> Iterator[Vector]:
    """The mapping of all modes after each of `at`, rising numbers of epochs; trained in place."""
    spectrum = spectrum.astype(weights.w1.dtype)
    for before, after in pairwise((0, *at)):
        for _ in range(before, after):
            weights.descend(gradient(weights, spectrum, variance, decay), rate)
        yield mapping(weights)
