"""Numerical learning of modes: gradient descent, and the gradient flow that is its limit."""

from collections.abc import Sequence

import numpy as np
from scipy.integrate import solve_ivp

from lindrop.base.arrays import Matrix, Vector
from lindrop.dropout.dynamics.modes import Mode, Pair, flow


def integrate(mode: Mode, w1: Vector, w2: Vector, times: Vector) -> Pair:
    """w₁ and w₂ of the gradient flow at rising times ≥ 0, each as starts × times.

    All starts are integrated as one system of differential equations.
    """
    starts = np.stack([w1, w2])

    def slope(_: float, flat: Vector) -> Vector:
        return np.concatenate(flow(mode, *flat.reshape(starts.shape)))

    found = solve_ivp(
        slope, (0, times[-1]), starts.ravel(), "DOP853", times, rtol=1e-12, atol=1e-14
    )
    w1, w2 = found.y.reshape(*starts.shape, len(times))
    return w1, w2


def gradient_descent(
    modes: Sequence[Mode], rates: Sequence[float] | Vector, w1: Vector, w2: Vector, steps: int
) -> Matrix:
    """Weights after 0 … `steps` steps of gradient descent, indexed by step, weight, mode, start.

    Every mode has its own rate; all modes have the same starts. The weights are w₁ and w₂.
    """
    settings = Mode(*np.array(modes).T[:, :, None])
    rate = np.array(rates)[:, None]
    path = np.empty((steps + 1, 2, len(modes), len(w1)))
    path[0] = np.stack([w1, w2])[:, None]
    for step in range(steps):
        for new, old, slope in zip(
            path[step + 1], path[step], flow(settings, *path[step]), strict=True
        ):
            np.add(old, rate * slope, out=new)
    return path


def steps_to_learn(
    modes: Sequence[Mode],
    rates: Sequence[float] | Vector,
    start: float,
    steps: int,
    within: float = 0.01,
) -> Vector:
    """Steps that each mode needs, from w₁ = w₂ = `start`, until w = w₂w₁ stays near its end w*.

    Near is a relative distance of at most `within`, up to `steps`; ValueError if a mode is not near
    then.
    """
    weight = np.array([start])
    path = gradient_descent(modes, rates, weight, weight, steps)[..., 0]
    learned = path.prod(axis=1) / [mode.fixed_point for mode in modes]
    near = np.abs(learned - 1) <= within
    if not near[-1].all():
        raise ValueError(f"{steps} steps are too few for some mode at its rate")
    return np.asarray(steps + 1 - np.argmin(near[::-1], axis=0))
