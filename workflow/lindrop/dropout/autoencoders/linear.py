"""Linear autoencoders x̂ = W₂W₁x (Pretorius 2018), trained from the eigenvalues of X'X alone.

The loss depends on the samples through X'X/N only, and gradient descent commutes with a rotation of
the inputs. So all weights here are coordinates in the eigenvectors of X'X/N, where only its
eigenvalues, `spectrum`, are left of the data. An epoch costs four products with a hidden × hidden
matrix, whatever the number of samples.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from lindrop.base.arrays import Vector
from lindrop.dropout.autoencoders.weights import Weights


def expected_loss(weights: Weights, spectrum: Vector, variance: float, decay: float) -> float:
    """Expected loss ½E‖x − W₂W₁(x + noise)‖² + (γ/2)(‖W₁‖² + ‖W₂‖²), a mean over the samples.

    Noise of `variance` s² adds (s²/2) tr(W₂W₁W₁'W₂') (Section A of the supplement of Pretorius
    2018, where our copy misses a bracket: erratum E20). `decay` is γ.
    """
    w1, w2 = weights
    residual = w2 @ w1 - np.eye(len(spectrum))
    noise = variance * np.sum((w2 @ w1) ** 2)
    penalty = decay * (np.sum(w1**2) + np.sum(w2**2))
    return float(np.sum(residual**2 @ spectrum) + noise + penalty) / 2


def gradient(weights: Weights, spectrum: Vector, variance: float, decay: float) -> Weights:
    """Gradient of `expected_loss`."""
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
    """Identity mapping λ̂_j/λ_j of every mode: the diagonal of W₂W₁ (Pretorius 2018, Section F)."""
    return np.asarray(np.einsum("hj,jh->j", *weights))


def scalar_start(weights: Weights) -> tuple[Vector, Vector]:
    """Start w₁ and w₂ of the scalar dynamics of every mode, from the weights of a network.

    If a mode is not affected by others, its two weight vectors move like the scalars w₁, w₂ for
    which |w₁ + w₂| and |w₁ − w₂| are the lengths of the sum and the difference of the vectors.
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
    """Yield the mapping of all modes after each number of epochs in `at`, which must rise.

    The weights are trained in place.
    """
    spectrum = spectrum.astype(weights.w1.dtype)
    for before, after in pairwise((0, *at)):
        for _ in range(before, after):
            weights.descend(gradient(weights, spectrum, variance, decay), rate)
        yield mapping(weights)
