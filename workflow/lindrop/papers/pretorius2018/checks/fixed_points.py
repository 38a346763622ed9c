"""Pretorius 2018, Section E and abstract: where training ends, and noise as weight decay."""

from collections.abc import Iterator

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import CORRECTED, PRINTED, Check, Form, at_least, at_most, equal
from lindrop.dropout.dynamics.descent import integrate
from lindrop.dropout.dynamics.modes import Mode, equivalents
from lindrop.dropout.dynamics.trajectories import trajectory
from lindrop.papers.pretorius2018.as_printed import decaying_loss
from lindrop.papers.pretorius2018.flows import INTEGRATED, ROUNDING, STEP, integrated

LAMS, NOISES = (0.5, 1.0, 2.5), (0.2, 1.0, 2.0)  # values of λ and ε
STRENGTHS = 0.2, 1.0, 5.0  # values of ε where speeds are compared
STARTS = 20
TIMES = np.array([0.0, 150.0])
SAMPLES, DECAY, STRONG = 5, 0.09, 1.5  # N, γ, and a value of Nγ/λ above 1
SMALL = np.array([1e-3])  # w₁ = w₂ at the start of paths
PATH_TIMES = np.linspace(0, 40, 401)
EPS, EXTREME = 1.0, 100  # λ = EXTREME ε is kept, λ = ε/EXTREME is ignored
LATE = np.array([1e9])


def checks(seed: int) -> list[Check]:
    """Checks of fixed points, of equivalent noise and decay, and of their speed."""
    starts = np.abs(np.random.default_rng(seed).normal(size=(2, STARTS)))
    return [
        _noisy_ends(starts),
        *_losses(starts[0]),
        *_decaying_ends(starts),
        *_equivalents(starts),
        *_faster(),
        *_ignored(),
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
    """Values of γ in Section E: as printed, and Nγ as in Section C (E21)."""
    yield "γ", DECAY, PRINTED
    if samples > 1:
        yield "Nγ", samples * DECAY, CORRECTED


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
    limits: tuple[tuple[str, float, Form], ...] = (
        ("1 − γ/λ", 1 - STRONG, PRINTED),
        ("max(1 − γ/λ, 0)", 0, CORRECTED),
    )
    for name, limit, form in limits:
        named = f"N = 1, γ = {STRONG:g}λ: {what} {name}: largest error"
        yield equal(claim, named, np.abs(ends - limit).max(), 0, INTEGRATED, form)


def _equivalents(starts: Matrix) -> Iterator[Check]:
    """Checks that a DAE and the WDAE with γ = λε/(λ + ε) end at the same point."""
    cases: tuple[tuple[int, str, int, Form], ...] = (
        (1, "γ", 1, PRINTED),
        (SAMPLES, "γ", SAMPLES, PRINTED),
        (SAMPLES, "Nγ", 1, CORRECTED),
    )
    for samples, name, factor, form in cases:
        errors = [
            _ends(dae, starts) - _ends(wdae._replace(decay=factor * wdae.decay), starts)
            for dae, wdae in (equivalents(lam, eps) for lam in LAMS for eps in NOISES)
        ]
        what = f"N = {samples}: end of a DAE less that of a WDAE with {name} = λε/(λ + ε)"
        error = np.abs(errors).max()
        yield equal("section_e_equivalent", f"{what}: largest error", error, 0, INTEGRATED, form)


def _faster() -> Iterator[Check]:
    """Checks that noise learns faster than the weight decay with the same fixed point.

    From w₁ = w₂, dw/dt is 2w(λ + ε)(w* − w) for a DAE and 2wλ(w* − w) for its WDAE.
    """
    exact, flows, ahead = [], [], []
    for lam, eps in ((lam, eps) for lam in LAMS for eps in STRENGTHS):
        dae, wdae = equivalents(lam, eps)
        w = _path(dae, PATH_TIMES)
        exact.append(w - _path(wdae, PATH_TIMES * (1 + eps / lam)))
        late = integrated(wdae, SMALL, SMALL, PATH_TIMES * (1 + eps / lam))
        flows.append(integrated(dae, SMALL, SMALL, PATH_TIMES) - late)
        ahead.append(w - _path(wdae, PATH_TIMES))
    what = "w(t) of a DAE less that of its WDAE at (1 + ε/λ)t"
    claim, largest = "faster_than_decay", "largest error"
    yield equal(claim, f"{what}, closed form: {largest}", np.abs(exact).max(), 0, ROUNDING)
    yield equal(claim, f"{what}, integrated: {largest}", np.abs(flows).max(), 0, INTEGRATED)
    what = "w(t) of a DAE less that of its WDAE, every t, λ and ε: least"
    yield at_least(claim, what, np.min(ahead), 0, ROUNDING)


def _path(mode: Mode, times: Vector) -> Vector:
    """w(t) from small equal weights."""
    return np.asarray(np.prod(trajectory(mode, SMALL, SMALL, times), axis=0))


def _ignored() -> Iterator[Check]:
    """Checks that a DAE keeps modes with λ ≫ ε and ignores modes with λ ≪ ε."""
    kept, ignored = (_path(Mode(share * EPS, EPS), LATE).item() for share in (EXTREME, 1 / EXTREME))
    claim, what = "ignored_directions", "end of a DAE's closed form where"
    yield at_least(claim, f"{what} λ = {EXTREME:g}ε", kept, 1 - 1 / EXTREME)
    yield at_most(claim, f"{what} λ = ε/{EXTREME:g}", ignored, 1 / EXTREME)
