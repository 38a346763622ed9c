"""Pretorius 2018, Section E: where training ends, and the weight decay that equals a noise."""

from collections.abc import Iterator

import numpy as np

from lindrop.arrays import Matrix, Vector
from lindrop.checks import CORRECTED, PRINTED, Check, equal
from lindrop.dropout.dynamics.descent import integrate
from lindrop.dropout.dynamics.modes import Mode, equivalents, flow, hessian

LAMS, NOISES = (0.5, 1.0, 2.5), (0.2, 1.0, 5.0)  # λ, ε
STARTS = 20
TIMES = np.array([0.0, 300.0])
SAMPLES, DECAY = 5, 0.1  # N, γ
ROUNDING, INTEGRATED = 1e-11, 1e-9


def fixed_point_checks(seed: int) -> list[Check]:
    """Every check of this file."""
    starts = np.abs(np.random.default_rng(seed).normal(size=(2, STARTS)))
    return [*_section_e(starts), *_samples(starts)]


def _end(mode: Mode, starts: Matrix) -> Vector:
    """w after a long time."""
    w1, w2 = integrate(mode, starts[0], starts[1], TIMES)
    return np.asarray(w1[:, -1] * w2[:, -1])


def _section_e(starts: Matrix) -> Iterator[Check]:
    errors: dict[str, list[Vector]] = {}
    for lam in LAMS:
        for eps in NOISES:
            modes = equivalents(lam, eps)
            dae, wdae = (_end(mode, starts) for mode in modes)
            claimed = lam / (lam + eps), 1 - modes[1].decay / lam
            found = {
                "end of a DAE's integrated flow less λ/(λ + ε)": dae - claimed[0],
                "end of a WDAE's integrated flow less 1 − γ/λ (N = 1)": wdae - claimed[1],
                "ends of a DAE and of a WDAE with γ = λε/(λ + ε): difference": dae - wdae,
            }
            for what, error in found.items():
                errors.setdefault(what, []).append(error)
    for what, found_errors in errors.items():
        yield equal("section_e", what, np.abs(found_errors).max(), 0, INTEGRATED)
    w, mode = starts[0] ** 2, Mode(LAMS[0], decay=DECAY)
    slope = -flow(mode, starts[0], starts[0])[0] / starts[0]  # dℓ/dw where w₁ = w₂ = √w
    error = slope - (DECAY - LAMS[0] * (1 - w))
    yield equal("section_e", "τ ∂ℓ_γ/∂w: largest error", np.abs(error).max(), 0, ROUNDING)
    strong = Mode(LAMS[0], decay=1.5 * LAMS[0])
    what = "w of a WDAE with Nγ > λ: end of the integrated flow less 0"
    yield equal("section_e", what, np.abs(_end(strong, starts)).max(), 0, INTEGRATED, CORRECTED)


def _samples(starts: Matrix) -> Iterator[Check]:
    """E21: with N samples and the loss of Section C, γ of Sections D and E is N times that of C."""
    for lam in LAMS[1:]:
        mode = Mode(lam, decay=SAMPLES * DECAY)
        end, curvature = _end(mode, starts).mean(), np.linalg.eigvalsh(hessian(mode, 1, 1)).max()
        for name, decay, form in (("γ", DECAY, PRINTED), ("Nγ", SAMPLES * DECAY, CORRECTED)):
            what = f"N = {SAMPLES}, λ = {lam:g}: end of a WDAE's integrated flow less 1 − {name}/λ"
            yield equal("e21", what, end - (1 - decay / lam), 0, INTEGRATED, form)
            what = f"N = {SAMPLES}, λ = {lam:g}: curvature at w = 1 less 2λ + {name}"
            yield equal("e21", what, curvature - 2 * lam - decay, 0, ROUNDING, form)
