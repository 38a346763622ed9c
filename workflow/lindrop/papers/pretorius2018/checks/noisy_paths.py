"""Pretorius 2018, Section B: flow and solution of a DAE's mode, against numerical integration."""

from collections.abc import Iterator

import numpy as np
from scipy.integrate import quad

from lindrop.base.arrays import Vector
from lindrop.claims.checks import CHARITABLE, Check
from lindrop.dropout.dynamics.descent import integrate
from lindrop.dropout.dynamics.modes import Mode, Values, flow, loss
from lindrop.papers.pretorius2018.as_printed import (
    hyperbolic_integral,
    hyperbolic_solved,
    hyperbolic_time,
    hyperbolic_trajectory,
    hyperbolic_weights,
    noisy_loss,
    noisy_updates,
)
from lindrop.papers.pretorius2018.flows import (
    INTEGRATED,
    LAMS,
    ROUNDING,
    STARTS,
    STEP,
    TIMES,
    exact,
    integrated,
    largest,
    less_matrix_slopes,
    less_slopes,
    random_starts,
)

EPS = 1.4
MODES = [Mode(lam, eps=EPS) for lam in LAMS]
VARIANCE = 0.3
SHORT = np.linspace(0, 2, 41)  # times t/τ; much later the printed form is ∞/∞
LATE = 1e9


def checks(seed: int) -> list[Check]:
    """Checks of the updates, of Eq. 1, of hyperbolic coordinates, of w(t), and of times."""
    data, starts, times, angles = np.random.default_rng(seed).spawn(4)
    w1, w2 = random_starts(starts)
    return [
        *_updates(data, w1, w2),
        _equation_1(w1, w2),
        *_coordinates(w1, w2),
        *_angles(w1, w2),
        *_differentials(angles),
        *_integrals(angles),
        *_displays(angles),
        _times(times),
        *_solutions(w1, w2),
    ]


def _updates(rng: np.random.Generator, w1: Vector, w2: Vector) -> Iterator[Check]:
    claim, what = "section_b_updates", "updates plus"
    errors = less_matrix_slopes(noisy_updates, rng, VARIANCE, 0)
    yield largest(claim, f"{what} N times the gradient of E[L] in eigenvectors", errors, ROUNDING)
    of_modes = [less_slopes(noisy_updates, noisy_loss, mode, w1, w2) for mode in MODES]
    yield largest(claim, f"{what} τ times the gradient of ℓ", np.array(of_modes), ROUNDING)
    ours = [np.subtract(noisy_updates(mode, w1, w2), flow(mode, w1, w2)) for mode in MODES]
    yield largest(claim, "updates less the flow that is integrated", np.array(ours), ROUNDING)
    drawn = [noisy_loss(mode, w1, w2) - loss(mode, w1, w2) for mode in MODES]
    yield largest(claim, "ℓ less the loss that figures show", np.array(drawn), ROUNDING)


def _slope(mode: Mode, w1: Vector, w2: Vector) -> Vector:
    """dw/dt of the flow."""
    update1, update2 = flow(mode, w1, w2)
    return np.asarray(w1 * update2 + w2 * update1)


def _equation_1(w1: Vector, w2: Vector) -> Check:
    """Check of Eq. 1, dw/dt in terms of w₁ and w₂."""
    errors = [
        _slope(mode, w1, w2) - (mode.lam - w1 * w2 * (mode.lam + mode.eps)) * (w1**2 + w2**2)
        for mode in MODES
    ]
    return largest("section_b_product", "Equation 1", np.array(errors), ROUNDING)


def _angle(w1: Vector, w2: Vector) -> tuple[Vector, Vector]:
    """Hyperbolic coordinates c₀ and θ."""
    c0 = np.abs(w2**2 - w1**2)
    return c0, np.arcsinh(2 * w1 * w2 / c0)


def _coordinates(w1: Vector, w2: Vector) -> Iterator[Check]:
    """Checks of hyperbolic coordinates.

    cosh is positive, so the larger weight is, too. Nothing is lost by that, since w and the flow
    do not change with the sign of both weights.
    """
    claim = "section_b_coordinates"
    c0, theta = _angle(w1, w2)
    printed = np.array(hyperbolic_weights(c0, theta, w2**2 > w1**2))
    errors = printed.prod(axis=0) - w1 * w2, (printed**2).sum(axis=0) - c0 * np.cosh(theta)
    what = "w = (c₀/2) sinh θ and w₁² + w₂² = c₀ cosh θ of the hyperbolic weights"
    yield largest(claim, what, np.array(errors), ROUNDING)
    drifts: list[Values] = []
    for mode in MODES:
        one, other = integrate(mode, w1, w2, TIMES)
        drifts.append(other**2 - one**2 - (w2**2 - w1**2)[:, None])
    what = "w₂² − w₁² along the integrated flow less that at the start"
    yield largest(claim, what, np.array(drifts), INTEGRATED)
    what = "less √c₀ (sinh θ/2, cosh θ/2)"
    yield largest(claim, f"weights from random starts {what}", [w1, w2] - printed, ROUNDING)
    sign = np.sign(np.where(w2**2 > w1**2, w2, w1))
    turned = f"weights, both turned so that the larger one is positive, {what}"
    yield largest(claim, turned, sign * [w1, w2] - printed, ROUNDING, CHARITABLE)


def _angles(w1: Vector, w2: Vector) -> Iterator[Check]:
    """Check of dθ/dt, which is the derivative of θ in the direction of the flow."""
    c0, _ = _angle(w1, w2)
    sign, errors = np.sign(w2**2 - w1**2), []
    for mode in MODES:
        moved1, moved2 = (
            weight + 1j * STEP * update
            for weight, update in zip((w1, w2), flow(mode, w1, w2), strict=True)
        )
        theta = np.arcsinh(2 * moved1 * moved2 / (sign * (moved2**2 - moved1**2)))
        beta = c0 * (1 + mode.eps / mode.lam)
        claimed = mode.lam * (2 - beta * np.sinh(theta.real))
        errors.append(np.imag(theta) / STEP - claimed)
    yield largest("section_b_angle", "τ dθ/dt = λ(2 − β sinh θ)", np.array(errors), INTEGRATED)


def _differentials(rng: np.random.Generator) -> Iterator[Check]:
    """Checks of dw by dθ, and of Eq. 1 in the angle."""
    claim = "section_b_differential"
    c0, theta = rng.uniform(0.2, 2, STARTS), rng.uniform(-2, 2, STARTS)
    larger = rng.uniform(size=STARTS) < 0.5
    turned = np.prod(hyperbolic_weights(c0, theta + 1j * STEP, larger), axis=0)
    slope = c0 / 2 * np.cosh(theta)
    yield largest(claim, "dw/dθ = (c₀/2) cosh θ", np.imag(turned) / STEP - slope, ROUNDING)
    errors = []
    for mode in MODES:
        moved = _slope(mode, *hyperbolic_weights(c0, theta, larger))
        pull = mode.lam - c0 / 2 * np.sinh(theta) * mode.pull
        errors.append(moved - pull * c0 * np.cosh(theta))
    what = "Equation 1 as (λ − (c₀/2) sinh θ (λ + ε)) c₀ cosh θ"
    yield largest(claim, what, np.array(errors), ROUNDING)


def _integrals(rng: np.random.Generator) -> Iterator[Check]:
    """Check that the derivative of the printed integral is its integrand, below and above rest."""
    errors = []
    for mode in MODES:
        c0, offset = rng.uniform(0.2, 2, STARTS), rng.uniform(0.1, 2, STARTS)
        beta = c0 * (1 + mode.eps / mode.lam)
        theta = np.arcsinh(2 / beta) + np.where(rng.uniform(size=STARTS) < 0.5, offset, -offset)
        slope = np.imag(hyperbolic_integral(mode, c0, theta + 1j * STEP)) / STEP
        errors.append(slope * mode.lam * (2 - beta * np.sinh(theta)) - 1)
    what = "derivative of the integral over τ/λ(2 − β sinh θ), less 1"
    yield largest("section_b_integral", what, np.array(errors), INTEGRATED)


def _displays(rng: np.random.Generator) -> Iterator[Check]:
    """Checks of the lines between the time and θ_f(t), for any δ₀ and δ_f."""
    beta = rng.uniform(0.2, 3, STARTS)
    zeta = np.sqrt(beta**2 + 4)
    at_rest = (zeta - beta) / 2  # tanh θ/2 at the fixed point
    start, end = at_rest * rng.uniform(-0.9, 0.9, (2, STARTS))
    e = (zeta + beta + 2 * end) * (zeta - beta - 2 * start)
    e /= (zeta - beta - 2 * end) * (zeta + beta + 2 * start)
    found = hyperbolic_solved(e, beta, start, end)
    names = "multiplied by the denominator", "collected in δ_f", "solved for δ_f"
    for name, errors in zip(names, found, strict=True):
        what = f"display of e^(λζt/τ) {name}, from random δ₀ and δ_f"
        yield largest("section_b_displays", what, errors, ROUNDING)


def _times(rng: np.random.Generator) -> Check:
    """Check of the printed time, from below and from above the fixed point."""
    errors = []
    for mode in MODES:
        c0 = rng.uniform(0.2, 2)
        beta = c0 * (1 + mode.eps / mode.lam)
        near, far = np.cumsum(rng.uniform(0.1, 1.5, 2))
        for side in (-1, 1):
            start, end = np.arcsinh(2 / beta) + side * np.array([far, near])
            time = quad(lambda a, m=mode, b=beta: 1 / (m.lam * (2 - b * np.sinh(a))), start, end)[0]
            errors.append(hyperbolic_time(mode, c0, start, end) / time - 1)
    what = "t from θ₀ to θ_f over the integral, less 1"
    return largest("section_b_time", what, np.array(errors), INTEGRATED)


def _solutions(w1: Vector, w2: Vector) -> Iterator[Check]:
    claim, ends = "section_b_solution", np.array([LATE])
    printed, stable, late = [], [], []
    for mode in MODES:
        formula = hyperbolic_trajectory(mode, w1[:, None], w2[:, None], SHORT)
        printed.append(formula - integrated(mode, w1, w2, SHORT))
        stable.append(exact(mode, w1, w2) - integrated(mode, w1, w2))
        late.append(exact(mode, w1, w2, ends) - mode.fixed_point)
    what = f"w(t) of θ_f(t) up to t/τ = {SHORT[-1]:g} less the integrated flow"
    yield largest(claim, what, np.array(printed), INTEGRATED)
    what = f"w(t) in its stable form up to t/τ = {TIMES[-1]:g} less the integrated flow"
    yield largest(claim, what, np.array(stable), INTEGRATED)
    what = f"w(t) in its stable form at t/τ = {LATE:g} less λ/(λ + ε)"
    yield largest(claim, what, np.array(late), ROUNDING)
