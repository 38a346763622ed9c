"""Formulas as the supplement of Pretorius 2018 prints them, with τ = 1."""

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.dropout.dynamics.loss import loss
from lindrop.dropout.dynamics.modes import Mode, Pair, Values


def expected_loss(x: Matrix, w1: Matrix, w2: Matrix, variance: float, *, bracketed: bool) -> float:
    """E[L] of Section A, in which the factor 1/2N is that of the sum, or of both terms (E20)."""
    samples = x.shape[1]
    added = samples * variance * np.trace(w2 @ w1 @ w1.T @ w2.T)
    return float(loss(x, x, w1, w2) + added / (2 * samples if bracketed else 1))


def noisy_loss(mode: Mode, w1: Vector, w2: Vector) -> Vector:
    """ℓ of a DAE (Section D)."""
    w = w2 * w1
    return np.asarray(mode.lam / 2 * (1 - w) ** 2 + mode.eps / 2 * w**2)


def noisy_updates(mode: Mode, w1: Vector, w2: Vector) -> Pair:
    """dw₁/dt and dw₂/dt of a DAE (Section B)."""
    left = mode.lam - w2 * w1 * mode.lam
    return w2 * left - mode.eps * w2**2 * w1, w1 * left - mode.eps * w2 * w1**2


def noisy_hessian(mode: Mode, w1: float, w2: float) -> Matrix:
    """Hessian H of a DAE (Section D)."""
    across = 2 * w2 * w1 * (mode.lam + mode.eps) - mode.lam
    along = np.array([w2**2, w1**2]) * (mode.lam + mode.eps)
    return np.array([[along[0], across], [across, along[1]]])


def hyperbolic_weights(c0: Vector, theta: Vector, second_is_larger: Vector) -> Pair:
    """w₁ and w₂ at the angle θ (Section B)."""
    small, large = np.sqrt(c0) * np.sinh(theta / 2), np.sqrt(c0) * np.cosh(theta / 2)
    return np.where(second_is_larger, small, large), np.where(second_is_larger, large, small)


def hyperbolic_trajectory(mode: Mode, w1: Vector, w2: Vector, t: Vector) -> Vector:
    """w(t) of a DAE from |w₁| ≠ |w₂| (Section B).

    The formula is right, but is ∞/∞ where λζt is large.
    """
    c0 = np.abs(w2**2 - w1**2)
    beta = c0 * (1 + mode.eps / mode.lam)
    zeta = np.sqrt(beta**2 + 4)
    delta = np.tanh(np.arcsinh(2 * w1 * w2 / c0) / 2)
    e = np.exp(mode.lam * zeta * t)
    above = (1 - e) * (zeta**2 - beta**2 - 2 * beta * delta) - 2 * (1 + e) * zeta * delta
    below = (1 - e) * (2 * beta + 4 * delta) - 2 * (1 + e) * zeta
    return np.asarray(c0 / 2 * np.sinh(2 * np.arctanh(above / below)))


def hyperbolic_time(mode: Mode, c0: float, theta_0: float, theta: float) -> float:
    """Time at which the angle `theta` is reached from `theta_0` (Section B)."""
    beta = c0 * (1 + mode.eps / mode.lam)
    zeta = np.sqrt(beta**2 + 4)
    start, end = 2 * np.tanh(theta_0 / 2), 2 * np.tanh(theta / 2)
    gained = (zeta + beta + end) * (zeta - beta - start)
    left = (zeta - beta - end) * (zeta + beta + start)
    return float(np.log(gained / left) / (mode.lam * zeta))


def hyperbolic_integral(mode: Mode, c0: Vector, theta: Vector) -> Vector:
    """Function of θ whose differences are the times from one angle to another (Section B).

    Above the fixed point the quotient is negative; its sign cancels in every difference.
    """
    beta = c0 * (1 + mode.eps / mode.lam)
    zeta, twice = np.sqrt(beta**2 + 4), 2 * np.tanh(theta / 2)
    quotient = (zeta + beta + twice) / (zeta - beta - twice)
    return np.asarray(np.log(quotient * np.sign(quotient.real)) / (mode.lam * zeta))


def hyperbolic_solved(
    e: Vector, beta: Vector, start: Vector, end: Vector
) -> tuple[Vector, Vector, Vector]:
    """Errors of the displays that solve e^{λζt/τ} = E for δ_f, given δ₀ and δ_f (Section B)."""
    zeta = np.sqrt(beta**2 + 4)
    square, crossed = zeta**2 - beta**2 - 2 * beta * start, 2 * zeta * start
    multiplied = -2 * e * end * (zeta + beta + 2 * start) + e * (square + crossed)
    multiplied -= 2 * end * (zeta - beta - 2 * start) + square - crossed
    above = (1 - e) * square - (1 + e) * crossed
    below = (1 - e) * (2 * beta + 4 * start) - 2 * (1 + e) * zeta
    return multiplied, end * below - above, above / below - end


def decaying_loss(mode: Mode, w1: Vector, w2: Vector) -> Vector:
    """ℓ of a WDAE (Section C)."""
    penalty = mode.decay / 2 * (w1**2 + w2**2)
    return np.asarray(mode.lam / 2 * (1 - w2 * w1) ** 2 + penalty)


def decaying_updates(mode: Mode, w1: Vector, w2: Vector) -> Pair:
    """dw₁/dt and dw₂/dt of a WDAE (Section C)."""
    left = mode.lam - w2 * w1 * mode.lam
    return w2 * left - mode.decay * w1, w1 * left - mode.decay * w2


def balanced_trajectory(mode: Mode, w_0: Values, t: Vector, *, corrected: bool) -> Vector:
    """w(t) of a WDAE from w₁ = w₂ (Section C).

    The printed E_γ is e^{2ξt/τ}; corrected, it has λ in the exponent (E21).
    """
    xi = 1 - mode.decay / mode.lam
    e = np.exp(2 * xi * t * (mode.lam if corrected else 1))
    return np.asarray(xi * e / (e - 1 + xi / w_0))


def balanced_time(mode: Mode, w_0: float, w: float) -> float:
    """Time at which `w` is reached from `w_0` (Section C)."""
    left = mode.lam - mode.decay
    return float(np.log(w * (left - w_0 * mode.lam) / (w_0 * (left - w * mode.lam))) / (2 * left))


def rotated_moment(x: Matrix, reconstructed: Matrix, vectors: Matrix) -> Matrix:
    """V'(Σ xx̂')V (Section F).

    Its diagonal over the eigenvalues of Σ xx' estimates the mapping of every mode.
    """
    return np.asarray(vectors.T @ x @ reconstructed.T @ vectors)
