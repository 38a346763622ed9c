"""A mode: a linear autoencoder of two weights for an eigenvalue of Σ_xx = Σ xx' (Pretorius 2018).

A linear autoencoder whose initial weights are aligned with the eigenvectors of Σ_xx learns each
mode independently, with the loss ℓ = [λ(1 − w₂w₁)² + ε(w₂w₁)² + Nγ(w₁² + w₂²)] / 2τ. With noise
only (ε > 0) it is a denoising autoencoder (DAE), with weight decay only (γ > 0) a weight-decayed
one (WDAE), with neither a plain one (AE). Here τ = 1: a time t is t/τ = αt/N of the paper, and a
rate is its α/N.

The inverses of the curvatures are the rates α/N of gradient descent (supplement D). On a balanced
path, w₁ = w₂ = √w, the eigenvalues of the Hessian are 3(λ + ε)w + Nγ − λ along the path and
λ + Nγ − (λ + ε)w across it.
"""

from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix, Vector

Values = float | Vector  # one number or many
Pair = tuple[Vector, Vector]  # w₁ and w₂, or a quantity of each


class Mode(NamedTuple):
    """Parameters of a mode: its eigenvalue λ, the noise ε = N s² and the weight decay Nγ."""

    lam: float  # λ, the eigenvalue
    eps: float = 0.0  # ε = N s²
    decay: float = 0.0  # Nγ

    @property
    def pull(self) -> float:
        """λ + ε, the second derivative of ℓ by w = w₂w₁."""
        return self.lam + self.eps

    @property
    def fixed_point(self) -> float:
        """Limit w* of w = w₂w₁: λ/(λ + ε) for a DAE, max(1 − Nγ/λ, 0) for a WDAE."""
        return max(self.lam - self.decay, 0.0) / self.pull


def equivalents(lam: float, eps: float) -> tuple[Mode, Mode]:
    """DAE and WDAE with the same fixed point: Nγ = λε/(λ + ε) (Pretorius 2018, supplement E)."""
    return Mode(lam, eps=eps), Mode(lam, decay=lam * eps / (lam + eps))


def loss(mode: Mode, w1: Vector, w2: Vector) -> Vector:
    """Loss ℓ = [λ(1 − w)² + εw² + Nγ(w₁² + w₂²)] / 2 with w = w₂w₁ (supplement C and D)."""
    lam, eps, decay = mode
    w = w1 * w2
    return np.asarray(lam * (1 - w) ** 2 + eps * w**2 + decay * (w1**2 + w2**2)) / 2


def flow(mode: Mode, w1: Vector, w2: Vector) -> Pair:
    """Derivatives dw₁/dt and dw₂/dt of the gradient flow: the negative gradient of `loss`."""
    error = mode.lam - mode.pull * w1 * w2
    return w2 * error - mode.decay * w1, w1 * error - mode.decay * w2


def hessian(mode: Mode, w1: float, w2: float) -> Matrix:
    """Hessian of `loss` by w₁ and w₂, 2 × 2 (Pretorius 2018, supplement D)."""
    across = 2 * mode.pull * w1 * w2 - mode.lam
    return np.array(
        [
            [mode.pull * w2**2 + mode.decay, across],
            [across, mode.pull * w1**2 + mode.decay],
        ]
    )


def curvature_printed(mode: Mode) -> float:
    """Curvature at w₁ = w₂ = 1, 2λ + 3ε for a DAE and 2λ + Nγ for a WDAE (Pretorius 2018, Eq. 8).

    It is the largest where both weights are equal and at most 1. With noise or weight decay,
    paths of small weights end at w* < 1 and meet less curvature (E22).
    """
    return 2 * mode.lam + 3 * mode.eps + mode.decay


def curvature_of_path(mode: Mode) -> float:
    """Largest curvature along the path, at its end w*: 2λ for a DAE, 2(λ − Nγ) for a WDAE."""
    return 2 * (mode.lam - mode.decay)


def largest_curvature(mode: Mode) -> float:
    """Largest curvature in any direction on the path up to w*.

    Across the path it is largest at the start, with λ + Nγ.
    """
    return max(curvature_of_path(mode), mode.lam + mode.decay)
