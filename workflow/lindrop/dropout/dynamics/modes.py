"""One eigenvalue of Σ_xx = Σ xx': a linear autoencoder of two weights (Pretorius 2018).

Started in the eigenvectors of Σ_xx, a linear autoencoder learns each of its modes on its own, with
the loss ℓ = [λ(1 − w₂w₁)² + ε(w₂w₁)² + Nγ(w₁² + w₂²)] / 2τ. Noise alone makes it a denoising
autoencoder (DAE), weight decay alone one with weight decay (WDAE), neither a plain one (AE). Here
τ = 1: a time t is what the paper calls t/τ = αt/N, a rate is α/N.
"""

from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix, Vector

Values = float | Vector  # one number or many
Pair = tuple[Vector, Vector]  # w₁ and w₂, or what belongs to each


class Mode(NamedTuple):
    """The strength of everything that acts on a mode."""

    lam: float  # λ, the eigenvalue
    eps: float = 0.0  # ε = N s²
    decay: float = 0.0  # Nγ

    @property
    def pull(self) -> float:
        """λ + ε: ∂²ℓ/∂(w₂w₁)²."""
        return self.lam + self.eps

    @property
    def fixed_point(self) -> float:
        """w* = w₂w₁ where training ends: λ/(λ + ε) of a DAE, 1 − Nγ/λ of a WDAE."""
        return max(self.lam - self.decay, 0.0) / self.pull


def equivalents(lam: float, eps: float) -> tuple[Mode, Mode]:
    """A DAE and the WDAE with its fixed point: Nγ = λε/(λ + ε) (supplement E)."""
    return Mode(lam, eps=eps), Mode(lam, decay=lam * eps / (lam + eps))


def loss(mode: Mode, w1: Vector, w2: Vector) -> Vector:
    """ℓ of supplement C and D."""
    lam, eps, decay = mode
    w = w1 * w2
    return np.asarray(lam * (1 - w) ** 2 + eps * w**2 + decay * (w1**2 + w2**2)) / 2


def flow(mode: Mode, w1: Vector, w2: Vector) -> Pair:
    """dw₁/dt and dw₂/dt: the negative gradient of ℓ."""
    error = mode.lam - mode.pull * w1 * w2
    return w2 * error - mode.decay * w1, w1 * error - mode.decay * w2


def hessian(mode: Mode, w1: float, w2: float) -> Matrix:
    """∇²ℓ (supplement D)."""
    across = 2 * mode.pull * w1 * w2 - mode.lam
    return np.array(
        [
            [mode.pull * w2**2 + mode.decay, across],
            [across, mode.pull * w1**2 + mode.decay],
        ]
    )
