"""Pretorius 2018, Section C: flow and solution of a WDAE's mode, against numerical integration."""

from collections.abc import Iterator

import numpy as np
from scipy.integrate import quad

from lindrop.base.arrays import Vector
from lindrop.claims.checks import CHARITABLE, EXTENSION, PRINTED, Check, Form, at_most, equal
from lindrop.dropout.dynamics.modes import Mode, flow, loss
from lindrop.papers.pretorius2018.as_printed import (
    balanced_time,
    balanced_trajectory,
    decaying_loss,
    decaying_updates,
)
from lindrop.papers.pretorius2018.flows import (
    INTEGRATED,
    LAMS,
    ROUNDING,
    TIMES,
    exact,
    integrated,
    largest,
    less_matrix_slopes,
    less_slopes,
    random_starts,
)

SHARE, STRONG = 0.4, 1.6  # Nγ/λ of the modes, and of modes that weight decay shrinks to zero
MODES = [Mode(lam, decay=SHARE * lam) for lam in LAMS]
SHRINKING = [Mode(lam, decay=STRONG * lam) for lam in LAMS]
DECAY = 0.2  # γ of the random network
LONG = np.linspace(0, 40, 121)  # times from small weights until w is at rest
UNEQUAL = np.array([1.0, 1.0, 0.1]), np.array([0.5, 3.0, 1.0])  # w₁ and w₂ of unequal starts
SCALES = 1e-2, 1e-4, 1e-8  # factors of these starts, each the square of the one before
EXACT = 1e-5
MEASURED = 1e-3  # of times read from paths


def checks(seed: int) -> list[Check]:
    """Checks of the updates, of w(t) from equal and unequal weights, and of times."""
    data, starts, times = np.random.default_rng(seed).spawn(3)
    w1, w2 = random_starts(starts)
    return [
        *_updates(data, w1, w2),
        _balanced(w1),
        *_unequal_weights(w1, w2),
        _times(times),
        *_solutions(w1),
    ]


def _updates(rng: np.random.Generator, w1: Vector, w2: Vector) -> Iterator[Check]:
    claim, what = "section_c_updates", "updates plus"
    errors = less_matrix_slopes(decaying_updates, rng, 0, DECAY)
    of_matrix = f"{what} N times the gradient of L + (γ/2)(‖W₁‖² + ‖W₂‖²) in eigenvectors"
    yield largest(claim, of_matrix, errors, ROUNDING)
    of_modes = [less_slopes(decaying_updates, decaying_loss, mode, w1, w2) for mode in MODES]
    yield largest(claim, f"{what} τ times the gradient of ℓ", np.array(of_modes), ROUNDING)
    ours = [np.subtract(decaying_updates(mode, w1, w2), flow(mode, w1, w2)) for mode in MODES]
    yield largest(claim, "updates less the flow that is integrated", np.array(ours), ROUNDING)
    drawn = [decaying_loss(mode, w1, w2) - loss(mode, w1, w2) for mode in MODES]
    yield largest(claim, "ℓ less the loss that figures show", np.array(drawn), ROUNDING)


def _balanced(start: Vector) -> Check:
    """Check of τ dw/dt at w₁ = w₂."""
    w, errors = start**2, []
    for mode in MODES:
        slope = 2 * start * flow(mode, start, start)[0]
        errors.append(slope - 2 * w * (mode.lam - mode.decay - w * mode.lam))
    return largest("section_c_balanced", "τ dw/dt where w₁ = w₂", np.array(errors), ROUNDING)


def _unequal_weights(w1: Vector, w2: Vector) -> Iterator[Check]:
    """Checks of w(t) from small unequal weights of one sign, and from any start.

    The printed path with the same w₀ is late by τ ln[(w₁ + w₂)²/4w₁w₂]/2(λ − Nγ), since small
    weights soon are equal, each (w₁ + w₂)/2. This does not depend on the size of the weights, while
    the time of learning grows without bound as they shrink.
    """
    claim, mode = "section_c_small_start", MODES[1]
    one, other = UNEQUAL
    known = np.log((one + other) ** 2 / (4 * one * other)) / (2 * (mode.lam - mode.decay))
    found, by_formula = zip(*(_half_time(mode, scale) for scale in SCALES), strict=True)
    late = np.array(by_formula) - np.array(found)
    what = "time to half of w* by the formula with w₀ = w₁w₂, less that from w₁ and w₂"
    named = (
        f"{what}, over ln[(w₁ + w₂)²/4w₁w₂]/2(λ − Nγ), weights of {SCALES[-1]:g}, farthest from 1"
    )
    ratios = late[-1] / known
    yield equal(claim, named, ratios[np.argmax(np.abs(ratios - 1))], 1, MEASURED)
    shares = np.abs(late / np.array(by_formula)).max(axis=1)
    named = f"{what}, relative: weights of {SCALES[-1]:g} over weights of {SCALES[0]:g}"
    yield at_most(claim, named, shares[-1] / shares[0], 1)
    start = SCALES[0] * np.array([[*UNEQUAL[0], 1.0], [*UNEQUAL[1], -0.5]])
    true = integrated(mode, start[0], start[1], LONG)
    formula = balanced_trajectory(mode, start.sum(0)[:, None] ** 2 / 4, LONG, corrected=True)
    what = f"w_f(t) with w₀ = (w₁ + w₂)²/4 less the integrated flow, weights of {SCALES[0]:g}"
    yield largest(claim, what, formula - true, 10 * SCALES[0] ** 2, EXTENSION)
    modes = (*MODES, *SHRINKING)
    errors = [exact(mode, w1, w2) - integrated(mode, w1, w2) for mode in modes]
    what = "w(t) in Bessel functions, any start, Nγ below and above λ, less the integrated flow"
    yield largest(claim, what, np.array(errors), INTEGRATED, EXTENSION)


def _half_time(mode: Mode, scale: float) -> tuple[Vector, Vector]:
    """Times to half of w* from UNEQUAL weights times `scale`: of the flow, and of the formula."""
    w1, w2 = (scale * weights for weights in UNEQUAL)
    half = mode.fixed_point / 2
    formula = np.array([balanced_time(mode, start, half) for start in w1 * w2])
    times = np.linspace(0, 1.5 * formula.max(), 30_001)
    paths = integrated(mode, w1, w2, times)
    return np.array([np.interp(half, path, times) for path in paths]), formula


def _times(rng: np.random.Generator) -> Check:
    """Check of the printed time, from below and from above the fixed point."""
    errors = []
    for mode in MODES:
        for low, high in ((0.01, 0.99), (2, 1.01)):
            start, end = mode.fixed_point * (low + (high - low) * np.sort(rng.uniform(size=2)))
            time = quad(lambda w, m=mode: 1 / (2 * w * (m.lam - m.decay - w * m.lam)), start, end)[
                0
            ]
            errors.append(balanced_time(mode, start, end) / time - 1)
    what = "t from w₀ to w_f over the integral, less 1"
    return largest("section_c_time", what, np.array(errors), INTEGRATED)


def _solutions(start: Vector) -> Iterator[Check]:
    """Checks of w(t) with E_γ as our copy prints it, and as the time of Section C gives it (E21).

    The time gives E_γ = e^{2λξt/τ}, which for λ = 1 is what the copy prints.
    """
    forms: tuple[tuple[Form, str], ...] = (
        (PRINTED, "e^(2ξt/τ)"),
        (CHARITABLE, "e^(2λξt/τ), solved from the printed time"),
    )
    for mode in MODES:
        true = integrated(mode, start, start)
        for form, name in forms:
            formula = balanced_trajectory(
                mode, start[:, None] ** 2, TIMES, corrected=form == CHARITABLE
            )
            what = f"w_f(t) from w₁ = w₂ less the integrated flow, E_γ = {name}, λ = {mode.lam:g}"
            claim = "e21" if form == PRINTED else "section_c_solution"
            yield largest(claim, what, formula - true, INTEGRATED, form)
