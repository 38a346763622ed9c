"""One mode of Pretorius 2018: its updates against its loss, its flow against w(t), for checks."""

from collections.abc import Callable

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import PRINTED, Check, Form, equal
from lindrop.dropout.dynamics.descent import integrate
from lindrop.dropout.dynamics.loss import gradient
from lindrop.dropout.dynamics.modes import Mode, Pair, Values
from lindrop.dropout.dynamics.trajectories import trajectory

LAMS = 0.5, 1.0, 2.5
STARTS, REACH = 40, 2
TIMES = np.linspace(0, 12, 121)
ROUNDING, INTEGRATED = 1e-11, 1e-9

Loss = Callable[[Mode, Vector, Vector], Vector]
Updates = Callable[[Mode, Vector, Vector], Pair]

STEP = 1e-30  # an imaginary step, for derivatives without cancellation


def random_starts(rng: np.random.Generator) -> Pair:
    """Random w₁ and w₂, uniform in (−REACH, REACH)²."""
    w1, w2 = rng.uniform(-REACH, REACH, (2, STARTS))
    return w1, w2


def largest(claim: str, what: str, errors: Values, tolerance: float, form: Form = PRINTED) -> Check:
    """Check that the largest of the errors is zero within a tolerance."""
    found = np.abs(errors).max()
    return equal(claim, f"{what}: largest error", found, 0, tolerance, form)


def integrated(mode: Mode, w1: Vector, w2: Vector, times: Vector = TIMES) -> Vector:
    """w(t) by numerical integration, with a row for every start."""
    return _product(integrate(mode, w1, w2, times))


def exact(mode: Mode, w1: Vector, w2: Vector, times: Vector = TIMES) -> Vector:
    """w(t) in closed form, with a row for every start."""
    return _product(trajectory(mode, w1[:, None], w2[:, None], times))


def _product(weights: Pair) -> Vector:
    return np.asarray(weights[0] * weights[1])


def less_slopes(updates: Updates, loss: Loss, mode: Mode, w1: Vector, w2: Vector) -> Matrix:
    """Updates plus the gradient of a mode's loss, which is zero if they descend on it."""
    slopes = loss(mode, w1 + STEP * 1j, w2), loss(mode, w1, w2 + STEP * 1j)
    return np.asarray(np.imag(slopes) / STEP + updates(mode, w1, w2))


def less_matrix_slopes(
    updates: Updates, rng: np.random.Generator, variance: float, decay: float
) -> Matrix:
    """Updates plus N times the gradient of E[L] + (γ/2)(‖W₁‖² + ‖W₂‖²), in eigenvectors.

    W₁ = R diag(w₁)V' and W₂ = V diag(w₂)R' with the eigenvectors V of XX', so every mode moves on
    its own, with ε = N s².
    """
    x = rng.normal(size=(5, 9))
    samples = x.shape[1]
    lams, v = np.linalg.eigh(x @ x.T)
    r, weights = np.linalg.qr(rng.normal(size=(8, 5)))[0], rng.normal(size=(2, 5))
    slopes = gradient(x, (r * weights[0]) @ v.T, (v * weights[1]) @ r.T, variance)
    turned = r.T @ slopes[0] @ v, v.T @ slopes[1] @ r
    modes = [Mode(lam, samples * variance, samples * decay) for lam in lams]
    moved = np.transpose([updates(*each) for each in zip(modes, *weights, strict=True)])
    return np.array(
        [
            samples * (slope + decay * np.diag(weight)) + np.diag(update)
            for slope, weight, update in zip(turned, weights, moved, strict=True)
        ]
    )
