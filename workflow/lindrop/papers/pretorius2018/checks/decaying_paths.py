"""Pretorius 2018, Section C: flow and solution of a WDAE's mode, against numerical integration."""

from collections.abc import Iterator

import numpy as np
from scipy.integrate import quad

from lindrop.base.arrays import Vector
from lindrop.claims.checks import CORRECTED, PRINTED, Check, Form
from lindrop.dropout.dynamics.modes import Mode, flow
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

SHARE = 0.4  # Nγ/λ of the modes
MODES = [Mode(lam, decay=SHARE * lam) for lam in LAMS]
DECAY = 0.2  # γ of the random network
LONG = np.linspace(0, 40, 121)  # times from small weights until w is at rest
SMALL = np.array([1e-3, 1e-3, 1e-6]), np.array([1e-4, 3e-3, 1e-5])  # small unequal w₁ and w₂


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


def _balanced(start: Vector) -> Check:
    """Check of τ dw/dt at w₁ = w₂."""
    w, errors = start**2, []
    for mode in MODES:
        slope = 2 * start * flow(mode, start, start)[0]
        errors.append(slope - 2 * w * (mode.lam - mode.decay - w * mode.lam))
    return largest("section_c_balanced", "τ dw/dt where w₁ = w₂", np.array(errors), ROUNDING)


def _unequal_weights(w1: Vector, w2: Vector) -> Iterator[Check]:
    """Checks of w(t) from small unequal weights and from any start.

    Small weights are not nearly equal. The part that grows is w₁ + w₂, whatever w₁w₂ is.
    """
    claim, mode = "section_c_small_start", MODES[1]
    true = integrated(mode, *SMALL, LONG)
    starts: tuple[tuple[str, Vector, Form, float], ...] = (
        ("w₁w₂", SMALL[0] * SMALL[1], PRINTED, 0.01),
        ("(w₁ + w₂)²/4", (SMALL[0] + SMALL[1]) ** 2 / 4, CORRECTED, 1e-5),
    )
    for name, w_0, form, tolerance in starts:
        formula = balanced_trajectory(mode, w_0[:, None], LONG, corrected=True)
        what = f"w_f(t) from unequal weights below 0.003, w₀ = {name}, less the integrated flow"
        yield largest(claim, what, formula - true, tolerance, form)
    errors = [exact(mode, w1, w2) - integrated(mode, w1, w2) for mode in MODES]
    what = "w(t) in Bessel functions, from any start, less the integrated flow"
    yield largest(claim, what, np.array(errors), INTEGRATED, CORRECTED)


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
    """Checks of w(t) with E_γ printed and corrected (E21).

    The corrected E_γ is e^{2λξt/τ}, so the printed one is right for λ = 1.
    """
    forms: tuple[Form, ...] = (PRINTED, CORRECTED)
    for mode in MODES:
        true = integrated(mode, start, start)
        for form in forms:
            formula = balanced_trajectory(
                mode, start[:, None] ** 2, TIMES, corrected=form == CORRECTED
            )
            what = f"w_f(t) from w₁ = w₂ less the integrated flow, λ = {mode.lam:g}"
            yield largest("section_c_solution", what, formula - true, INTEGRATED, form)
