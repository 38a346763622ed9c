"""Pretorius 2018, Sections B and C: the flow of one mode and its solutions, against integration."""

from collections.abc import Iterator

import numpy as np
from scipy.integrate import quad

from lindrop.arrays import Vector
from lindrop.checks import CORRECTED, PRINTED, Check, Form, equal
from lindrop.dropout.dynamics.descent import integrate
from lindrop.dropout.dynamics.loss import gradient
from lindrop.dropout.dynamics.modes import Mode, Pair, Values, flow, loss
from lindrop.dropout.dynamics.trajectories import trajectory
from lindrop.pretorius2018.as_printed import (
    balanced_time,
    balanced_trajectory,
    hyperbolic_time,
    hyperbolic_trajectory,
)

LAMS = 0.5, 1.0, 2.5
EPS, SHARE = 1.4, 0.4  # ε, and Nγ/λ
NOISY = [Mode(lam, eps=EPS) for lam in LAMS]
DECAYING = [Mode(lam, decay=SHARE * lam) for lam in LAMS]
STARTS = 40
TIMES = np.linspace(0, 12, 121)
SHORT = np.linspace(0, 2, 41)  # much later the printed form of Section B is ∞/∞
LONG = np.linspace(0, 40, 121)  # from small weights to the end
LATE = 1e9
SMALL = np.array([1e-3, 1e-3, 1e-6]), np.array([1e-4, 3e-3, 1e-5])  # w₁ and w₂, not equal
ROUNDING, INTEGRATED = 1e-11, 1e-9
STEP = 1e-30  # along the imaginary axis: a derivative without cancellation


def path_checks(seed: int) -> list[Check]:
    """Every check of this file."""
    data, starts = np.random.default_rng(seed).spawn(2)
    w1, w2 = starts.uniform(-2, 2, (2, STARTS))
    return [
        _updates("section_b", NOISY, w1, w2),
        _modes_of_a_matrix(data),
        *_coordinates(w1, w2),
        *_noisy_paths(w1, w2),
        _hyperbolic_times(starts),
        _updates("section_c", DECAYING, w1, w2),
        *_balanced_paths(w1),
        _balanced_times(starts),
        *_unequal_weights(w1, w2),
        *_e21(),
    ]


def _largest(
    claim: str, what: str, errors: Values, tolerance: float, form: Form = PRINTED
) -> Check:
    found = np.abs(errors).max()
    return equal(claim, f"{what}: largest error", found, 0, tolerance, form)


def _integrated(mode: Mode, w1: Vector, w2: Vector, times: Vector = TIMES) -> Vector:
    """w(t), a row for every start."""
    return _product(integrate(mode, w1, w2, times))


def _exact(mode: Mode, w1: Vector, w2: Vector, times: Vector = TIMES) -> Vector:
    return _product(trajectory(mode, w1[:, None], w2[:, None], times))


def _product(weights: Pair) -> Vector:
    return np.asarray(weights[0] * weights[1])


def _updates(claim: str, modes: list[Mode], w1: Vector, w2: Vector) -> Check:
    errors = []
    for mode in modes:
        slopes = loss(mode, w1 + STEP * 1j, w2), loss(mode, w1, w2 + STEP * 1j)
        errors.append(np.imag(slopes) / STEP + flow(mode, w1, w2))
    return _largest(claim, "updates plus τ times the gradient of ℓ", np.array(errors), ROUNDING)


def _modes_of_a_matrix(rng: np.random.Generator) -> Check:
    """W₁ = R diag(w₁)V' and W₂ = V diag(w₂)R' with eigenvectors V: every mode moves on its own."""
    x, variance = rng.normal(size=(5, 9)), 0.3
    samples = x.shape[1]
    lams, v = np.linalg.eigh(x @ x.T)
    r, (w1, w2) = np.linalg.qr(rng.normal(size=(8, 5)))[0], rng.normal(size=(2, 5))
    slope1, slope2 = gradient(x, (r * w1) @ v.T, (v * w2) @ r.T, variance)
    modes = [Mode(lam, eps=samples * variance) for lam in lams]
    updates = np.transpose([flow(*each) for each in zip(modes, w1, w2, strict=True)])
    turned = r.T @ slope1 @ v, v.T @ slope2 @ r
    errors = [
        samples * slope + np.diag(update) for slope, update in zip(turned, updates, strict=True)
    ]
    what = "updates plus N times the gradient of E[L] in eigenvectors"
    return _largest("section_b", what, np.array(errors), 1e-10)


def _coordinates(w1: Vector, w2: Vector) -> Iterator[Check]:
    """Equation 1, and what the hyperbolic coordinates make of it."""
    w, c0 = w1 * w2, np.abs(w2**2 - w1**2)
    theta = np.arcsinh(2 * w / c0)
    slopes, turns, drifts = [], [], []
    for mode in NOISY:
        update1, update2 = flow(mode, w1, w2)
        slope = w1 * update2 + w2 * update1
        slopes.append(slope - (mode.lam - w * mode.pull) * (w1**2 + w2**2))
        right = mode.lam * (2 - c0 * (1 + mode.eps / mode.lam) * np.sinh(theta))
        turns.append(2 * slope / (c0 * np.cosh(theta)) - right)
        one, other = integrate(mode, w1, w2, TIMES)
        drifts.append(other**2 - one**2 - (w2**2 - w1**2)[:, None])
    yield _largest("section_b", "Equation 1", np.array(slopes), ROUNDING)
    yield _largest("section_b", "τ dθ/dt = λ(2 − β sinh θ)", np.array(turns), INTEGRATED)
    what = "w₂² − w₁² along the integrated flow less that at the start"
    yield _largest("section_b", what, np.array(drifts), INTEGRATED)


def _noisy_paths(w1: Vector, w2: Vector) -> Iterator[Check]:
    printed, stable, late = [], [], []
    for mode in NOISY:
        formula = hyperbolic_trajectory(mode, w1[:, None], w2[:, None], SHORT)
        printed.append(formula - _integrated(mode, w1, w2, SHORT))
        stable.append(_exact(mode, w1, w2) - _integrated(mode, w1, w2))
        late.append(_exact(mode, w1, w2, np.array([LATE])) - mode.fixed_point)
    what = f"w(t) of θ_f(t) up to t/τ = {SHORT[-1]:g} less the integrated flow"
    yield _largest("section_b", what, np.array(printed), INTEGRATED)
    what = f"w(t) in its stable form up to t/τ = {TIMES[-1]:g} less the integrated flow"
    yield _largest("section_b", what, np.array(stable), INTEGRATED)
    what = f"w(t) in its stable form at t/τ = {LATE:g} less λ/(λ + ε)"
    yield _largest("section_b", what, np.array(late), ROUNDING)


def _hyperbolic_times(rng: np.random.Generator) -> Check:
    errors = []
    for mode in NOISY:
        c0 = rng.uniform(0.2, 2)
        beta = c0 * (1 + mode.eps / mode.lam)
        end, start = np.arcsinh(2 / beta) - np.cumsum(rng.uniform(0.1, 3, 2))
        time = quad(lambda a, m=mode, b=beta: 1 / (m.lam * (2 - b * np.sinh(a))), start, end)[0]
        errors.append(hyperbolic_time(mode, c0, start, end) / time - 1)
    what = "t from θ₀ to θ_f over the integral, less 1"
    return _largest("section_b", what, np.array(errors), INTEGRATED)


def _balanced_paths(start: Vector) -> Iterator[Check]:
    """From w₁ = w₂; E_γ corrected is e^{2λξt/τ}."""
    w, slopes = start**2, []
    found: dict[Form, list[Vector]] = {PRINTED: [], CORRECTED: []}
    for mode in DECAYING:
        slope = 2 * start * flow(mode, start, start)[0]
        slopes.append(slope - 2 * w * (mode.lam - mode.decay - w * mode.lam))
        true = _integrated(mode, start, start)
        for form, errors in found.items():
            formula = balanced_trajectory(mode, w[:, None], TIMES, corrected=form == CORRECTED)
            errors.append(formula - true)
    yield _largest("section_c", "τ dw/dt where w₁ = w₂", np.array(slopes), ROUNDING)
    what = "w_f(t) from w₁ = w₂ less the integrated flow"
    for form, errors in found.items():
        yield _largest("section_c", what, np.array(errors), INTEGRATED, form)


def _balanced_times(rng: np.random.Generator) -> Check:
    errors = []
    for mode in DECAYING:
        start, end = mode.fixed_point * np.sort(rng.uniform(0.01, 0.99, 2))
        time = quad(lambda w, m=mode: 1 / (2 * w * (m.lam - m.decay - w * m.lam)), start, end)[0]
        errors.append(balanced_time(mode, start, end) / time - 1)
    what = "t from w₀ to w_f over the integral, less 1"
    return _largest("section_c", what, np.array(errors), INTEGRATED)


def _unequal_weights(w1: Vector, w2: Vector) -> Iterator[Check]:
    """Small weights are not nearly equal: what grows from them is w₁ + w₂, whatever w₁w₂ is."""
    mode = DECAYING[1]
    true = _integrated(mode, *SMALL, LONG)
    claims: tuple[tuple[str, Vector, Form, float], ...] = (
        ("w₁w₂", SMALL[0] * SMALL[1], PRINTED, 0.01),
        ("(w₁ + w₂)²/4", (SMALL[0] + SMALL[1]) ** 2 / 4, CORRECTED, 1e-5),
    )
    for name, w_0, form, tolerance in claims:
        formula = balanced_trajectory(mode, w_0[:, None], LONG, corrected=True)
        what = f"w_f(t) from unequal weights below 0.003, w₀ = {name}, less the integrated flow"
        yield _largest("section_c", what, formula - true, tolerance, form)
    errors = [_exact(mode, w1, w2) - _integrated(mode, w1, w2) for mode in DECAYING]
    what = "w(t) in Bessel functions, from any start, less the integrated flow"
    yield _largest("section_c", what, np.array(errors), INTEGRATED, CORRECTED)


def _e21() -> Iterator[Check]:
    forms: tuple[Form, ...] = (PRINTED, CORRECTED)
    start = np.array([1e-3])
    for mode in DECAYING:
        true = _integrated(mode, start, start, LONG)
        for form in forms:
            formula = balanced_trajectory(mode, start**2, LONG, corrected=form == CORRECTED)
            what = f"w_f(t) less the integrated flow, λ = {mode.lam:g}"
            yield _largest("e21", what, formula - true, INTEGRATED, form)
