"""Pretorius 2018, Section E: where training ends, and the weight decay equivalent to a noise."""

from collections.abc import Iterator

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import CHARITABLE, PRINTED, Check, Form, equal
from lindrop.dropout.dynamics.descent import integrate
from lindrop.dropout.dynamics.modes import Mode, equivalents
from lindrop.papers.pretorius2018.as_printed import decaying_loss
from lindrop.papers.pretorius2018.flows import INTEGRATED, ROUNDING, STEP

LAMS, NOISES = (0.5, 1.0, 2.5), (0.2, 1.0, 2.0)  # values of λ and ε
STARTS = 20
TIMES = np.array([0.0, 150.0])
SAMPLES, DECAY, STRONG = 5, 0.09, 1.5  # N, γ, and a value of Nγ/λ above 1


def checks(seed: int) -> list[Check]:
    """Checks of fixed points, of ℓ_γ, and of equivalent noise and weight decay."""
    starts = np.abs(np.random.default_rng(seed).normal(size=(2, STARTS)))
    return [
        _noisy_ends(starts),
        *_losses(starts[0]),
        *_decaying_ends(starts),
        *_equivalents(starts),
    ]


def _ends(mode: Mode, starts: Matrix) -> Vector:
    """w after a long time."""
    w1, w2 = integrate(mode, starts[0], starts[1], TIMES)
    return np.asarray(w1[:, -1] * w2[:, -1])


def _noisy_ends(starts: Matrix) -> Check:
    errors = [
        _ends(Mode(lam, eps=eps), starts) - lam / (lam + eps) for lam in LAMS for eps in NOISES
    ]
    what = "end of a DAE's integrated flow less λ/(λ + ε): largest error"
    return equal("section_e_dae", what, np.abs(errors).max(), 0, INTEGRATED)


def _readings(samples: int) -> Iterator[tuple[str, float, Form]]:
    """What Section E writes as γ, the Nγ of Section C."""
    yield ("γ", DECAY, PRINTED) if samples == 1 else ("Nγ", samples * DECAY, CHARITABLE)


def _losses(start: Vector) -> Iterator[Check]:
    """Checks of ℓ_γ and its slope at w₁ = w₂ = √w."""
    claim, lam, w = "section_e_loss", LAMS[0], start**2
    for samples in (1, SAMPLES):
        mode = Mode(lam, decay=samples * DECAY)
        root = np.sqrt(w + STEP * 1j)
        slope = np.imag(decaying_loss(mode, root, root)) / STEP
        for name, decay, form in _readings(samples):
            what = f"N = {samples}: ℓ_γ(w) with τℓ_γ = (λ/2)(1 − w)² + {name} w: largest error"
            error = decaying_loss(mode, start, start) - lam / 2 * (1 - w) ** 2 - decay * w
            yield equal(claim, what, np.abs(error).max(), 0, ROUNDING, form)
            what = f"N = {samples}: τ ∂ℓ_γ/∂w = −λ(1 − w) + {name}: largest error"
            error = slope + lam * (1 - w) - decay
            yield equal(claim, what, np.abs(error).max(), 0, ROUNDING, form)


def _decaying_ends(starts: Matrix) -> Iterator[Check]:
    claim, what = "section_e_wdae", "end of a WDAE's integrated flow less"
    for samples in (1, SAMPLES):
        for name, decay, form in _readings(samples):
            errors = [
                _ends(Mode(lam, decay=samples * DECAY), starts) - (1 - decay / lam)
                for lam in LAMS[1:]
            ]
            named = f"N = {samples}: {what} 1 − {name}/λ: largest error"
            yield equal(claim, named, np.abs(errors).max(), 0, INTEGRATED, form)
    ends = _ends(Mode(LAMS[0], decay=STRONG * LAMS[0]), starts)
    named = f"γ = {STRONG:g}λ: {what} 0: largest error"
    yield equal(claim, named, np.abs(ends).max(), 0, INTEGRATED)


def _equivalents(starts: Matrix) -> Iterator[Check]:
    """Checks that a DAE and the WDAE with γ = λε/(λ + ε) end at the same point."""
    errors = [
        _ends(dae, starts) - _ends(wdae, starts)
        for dae, wdae in (equivalents(lam, eps) for lam in LAMS for eps in NOISES)
    ]
    what = "end of a DAE less that of a WDAE with Nγ = λε/(λ + ε): largest error"
    yield equal("section_e_equivalent", what, np.abs(errors).max(), 0, INTEGRATED)
