"""Pretorius 2018, Section D: the Hessian of a mode, and optimal learning rates (E21, E22).

The optimal rates are computed in `lindrop.dropout.dynamics.modes`.
"""

from collections.abc import Callable, Iterator

import numpy as np

from lindrop.base.arrays import Vector
from lindrop.claims.checks import CORRECTED, PRINTED, Check, Form, at_most, equal
from lindrop.dropout.dynamics.descent import steps_to_learn
from lindrop.dropout.dynamics.modes import (
    Mode,
    curvature_of_path,
    curvature_printed,
    equivalents,
    hessian,
    largest_curvature,
)
from lindrop.dropout.dynamics.trajectories import trajectory
from lindrop.papers.pretorius2018.as_printed import noisy_hessian, noisy_updates
from lindrop.papers.pretorius2018.flows import STEP

Curvature = Callable[[Mode], float]

LAM, NOISES = 1.0, (0.5, 2.0, 5.0)  # λ, and values of ε
UNLIKE = 0.5  # a decay over the decay that is equivalent to the noise
SAMPLES, DECAY = 5, 0.1  # N and γ
SMALL = 1e-3  # w₁ = w₂ at the start
TIMES = np.linspace(0, 100, 4001)
TRIED = np.arange(1, 16) / 10  # rates tried, relative to the optimal rate of the path
SLOWER = 1.5
STEPS = 2000
ROUNDING, MEASURED = 1e-11, 1e-5
NAMES = "DAE", "WDAE"
RATES = ("1/(2λ + 3ε)", "1/2λ"), ("1/(2λ + γ)", "1/(2λ − 2γ)")  # as printed, and of the path


def checks(seed: int) -> list[Check]:
    """Checks of the Hessian, of the largest curvature, and of optimal rates and their ratio."""
    rng = np.random.default_rng(seed)
    return [
        *_hessians(rng),
        *_at_one(),
        *(check for eps in NOISES for part in (_maximum, _steps, _ratio) for check in part(eps)),
        *(_same_curve(eps) for eps in NOISES),
    ]


def _hessians(rng: np.random.Generator) -> Iterator[Check]:
    errors, roots = [], []
    for mode in (Mode(LAM, eps=eps) for eps in NOISES):
        w1, w2 = rng.uniform(-2, 2, 2)
        columns = noisy_updates(mode, w1 + STEP * 1j, w2), noisy_updates(mode, w1, w2 + STEP * 1j)
        errors.append(noisy_hessian(mode, w1, w2) + np.imag(columns).T / STEP)
        (a, b), _ = matrix = noisy_hessian(mode, w1, w1)
        roots.append(np.sort([a - b, a + b]) - np.linalg.eigvalsh(matrix))
    what = "entries of τH plus the slopes of the updates: largest error"
    yield equal("section_d_hessian", what, np.abs(errors).max(), 0, ROUNDING)
    what = "a ± b less the eigenvalues of τH where w₁ = w₂: largest error"
    yield equal("section_d_eigenvalues", what, np.abs(roots).max(), 0, ROUNDING)


def _at_one() -> Iterator[Check]:
    """Checks of the Hessian at w₁ = w₂ = 1, where γ stands for Nγ (E21)."""
    what = "largest eigenvalue of τH at w₁ = w₂ = 1 less"
    found = [np.linalg.eigvalsh(noisy_hessian(Mode(LAM, eps), 1, 1)).max() for eps in NOISES]
    error = np.abs(np.subtract(found, [2 * LAM + 3 * eps for eps in NOISES])).max()
    yield equal("section_d_at_one", f"DAE: {what} 2λ + 3ε", error, 0, ROUNDING)
    forms: tuple[tuple[int, str, float, Form], ...] = (
        (1, "2λ + γ", DECAY, PRINTED),
        (SAMPLES, "2λ + γ", DECAY, PRINTED),
        (SAMPLES, "2λ + Nγ", SAMPLES * DECAY, CORRECTED),
    )
    for samples, name, decay, form in forms:
        curvature = np.linalg.eigvalsh(hessian(Mode(LAM, decay=samples * DECAY), 1, 1)).max()
        named = f"WDAE, N = {samples}: {what} {name}"
        yield equal("section_d_wdae_at_one", named, curvature - 2 * LAM - decay, 0, ROUNDING, form)


def _curvatures(mode: Mode) -> tuple[float, float]:
    """Largest curvatures along and across the path.

    They are a + b and a − b, with a = ∂²ℓ/∂w₁² and b = ∂²ℓ/∂w₁∂w₂.
    """
    weights, _ = trajectory(mode, SMALL, SMALL, TIMES)
    a, b = np.transpose([hessian(mode, w, w)[0] for w in weights])
    return float(np.max(a + b)), float(np.max(a - b))


def _maximum(eps: float) -> Iterator[Check]:
    """Checks of the largest curvature: a path from a small start ends at w* < 1 (E22)."""
    for name, mode in zip(NAMES, equivalents(LAM, eps), strict=True):
        along, across = _curvatures(mode)
        claims: tuple[tuple[str, float, float, Form], ...] = (
            ("along the path, as at w = 1", along, curvature_printed(mode), PRINTED),
            ("along the path, as at w*", along, curvature_of_path(mode), CORRECTED),
            ("in any direction", max(along, across), largest_curvature(mode), CORRECTED),
        )
        for where, found, claimed, form in claims:
            what = f"{name}, ε = {eps:g}: largest curvature {where}"
            yield equal("section_d_maximum", what, found, claimed, MEASURED, form)


def _steps(eps: float) -> Iterator[Check]:
    """Checks that no rate takes much fewer steps than an optimal one (E22)."""
    for name, mode, (printed, of_path) in zip(NAMES, equivalents(LAM, eps), RATES, strict=True):
        forms: tuple[tuple[str, Curvature, Form], ...] = (
            (printed, curvature_printed, PRINTED),
            (of_path, curvature_of_path, CORRECTED),
        )
        rates = TRIED / curvature_of_path(mode)
        fewest = steps_to_learn([mode] * len(rates), rates, SMALL, STEPS).min()
        for rate, curvature, form in forms:
            steps = steps_to_learn([mode], [1 / curvature(mode)], SMALL, STEPS).item()
            claim = f"section_d_{name.lower()}_rate"
            what = f"{name}, ε = {eps:g}: steps to w* within 1 %, rate {rate} over the best found"
            yield at_most(claim, what, steps / fewest, SLOWER, form=form)


def _ratio(eps: float) -> Iterator[Check]:
    """Checks of the ratio of the rates of a DAE and a WDAE.

    For equivalents, both printed rates are too small by the same factor, so their ratio is right.
    """
    dae, equivalent = equivalents(LAM, eps)
    unlike = equivalent._replace(decay=UNLIKE * equivalent.decay)
    what = f"ε = {eps:g}: largest curvature along the WDAE's path over that of the DAE, less"
    for name, wdae in (("γ = λε/(λ + ε)", equivalent), (f"{UNLIKE:g} of this γ", unlike)):
        found = _curvatures(wdae)[0] / _curvatures(dae)[0]
        printed = curvature_printed(wdae) / curvature_printed(dae)
        ratios: tuple[tuple[str, float, Form], ...] = (
            ("(2λ + γ)/(2λ + 3ε)", printed, PRINTED),
            ("1 − γ/λ", 1 - wdae.decay / LAM, CORRECTED),
        )
        for formula, ratio, form in ratios:
            named = f"{what} {formula}; {name}"
            yield equal("section_d_ratio", named, found - ratio, 0, MEASURED, form)


def _same_curve(eps: float) -> Check:
    """Check that a DAE and its WDAE have the same curve, each at its printed rate."""
    one, other = (_printed_path(mode) for mode in equivalents(LAM, eps))
    what = f"w(t) of DAE less WDAE, each with its printed rate, w₁ = w₂ and ε = {eps:g}"
    return equal("section_d_same_curve", what, np.abs(one - other).max(), 0, ROUNDING)


def _printed_path(mode: Mode) -> Vector:
    """w(t), with time in steps of the printed rate."""
    return np.asarray(np.prod(trajectory(mode, SMALL, SMALL, TIMES / curvature_printed(mode)), 0))
