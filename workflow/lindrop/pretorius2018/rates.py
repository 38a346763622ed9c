"""Pretorius 2018, Section D: the Hessian, and rates that are to be optimal."""

from collections.abc import Callable, Iterator

import numpy as np

from lindrop.checks import CORRECTED, PRINTED, Check, Form, at_most, equal
from lindrop.dropout.dynamics.descent import steps_to_learn
from lindrop.dropout.dynamics.modes import Mode, equivalents, flow, hessian
from lindrop.dropout.dynamics.rates import (
    curvature_of_path,
    curvature_printed,
    largest_curvature,
)
from lindrop.dropout.dynamics.trajectories import trajectory

Curvature = Callable[[Mode], float]

LAM, NOISES = 1.0, (0.5, 2.0, 5.0)  # λ, ε
SMALL = 1e-3  # w₁ = w₂ at the start
TIMES = np.linspace(0, 100, 4001)
TRIED = np.arange(1, 16) / 10  # rates, times 1/2λ
STEPS = 1000
ROUNDING, MEASURED = 1e-11, 1e-5
STEP = 1e-30  # along the imaginary axis: a derivative without cancellation
NAMES = "DAE", "WDAE"


def rate_checks(seed: int) -> list[Check]:
    """Every check of this file."""
    rng = np.random.default_rng(seed)
    return [
        *_hessians(rng),
        *_at_one(),
        *(check for eps in NOISES for part in (_on_the_path, _e22) for check in part(eps)),
    ]


def _hessians(rng: np.random.Generator) -> Iterator[Check]:
    errors, roots = [], []
    for mode in (mode for eps in NOISES for mode in equivalents(LAM, eps)):
        w1, w2 = rng.uniform(-2, 2, 2)
        columns = flow(mode, w1 + STEP * 1j, w2), flow(mode, w1, w2 + STEP * 1j)
        errors.append(hessian(mode, w1, w2) + np.imag(columns).T / STEP)
        (a, b), _ = matrix = hessian(mode, w1, w1)
        roots.append(np.sort([a - b, a + b]) - np.linalg.eigvalsh(matrix))
    yield equal("section_d", "entries of H: largest error", np.abs(errors).max(), 0, ROUNDING)
    what = "a ± b less the eigenvalues of H where w₁ = w₂"
    yield equal("section_d", what, np.abs(roots).max(), 0, ROUNDING)


def _at_one() -> Iterator[Check]:
    pairs = [equivalents(LAM, eps) for eps in NOISES]
    for name, modes in zip(NAMES, zip(*pairs, strict=True), strict=True):
        errors = [np.linalg.eigvalsh(hessian(m, 1, 1)).max() - curvature_printed(m) for m in modes]
        what = f"{name}: largest eigenvalue of τH at w₁ = w₂ = 1 less the printed λ_H"
        yield equal("section_d", what, np.abs(errors).max(), 0, ROUNDING)


def _on_the_path(eps: float) -> Iterator[Check]:
    """Both printed rates are too small by one factor: so their ratio R is right."""
    modes = equivalents(LAM, eps)
    along, across = np.transpose([_curvatures(mode) for mode in modes])
    for name, mode, one, other in zip(NAMES, modes, along, across, strict=True):
        what = f"{name}, ε = {eps:g}: largest curvature"
        claims: tuple[tuple[str, float, float, Form], ...] = (
            ("along the path, as at w = 1", one, curvature_printed(mode), PRINTED),
            ("along the path, as at w*", one, curvature_of_path(mode), CORRECTED),
            ("in any direction", max(one, other), largest_curvature(mode), CORRECTED),
        )
        for where, found, claimed, form in claims:
            yield equal("section_d", f"{what} {where}", found, claimed, MEASURED, form)
    dae, wdae = (curvature_printed(mode) for mode in modes)
    what = f"R: largest curvature along the WDAE's path over that of the DAE, ε = {eps:g}"
    yield equal("section_d", what, along[1] / along[0], wdae / dae, MEASURED)


def _curvatures(mode: Mode) -> tuple[float, float]:
    """The largest along and across the path; a = ∂²ℓ/∂w₁², b = ∂²ℓ/∂w₁∂w₂."""
    weights, _ = trajectory(mode, SMALL, SMALL, TIMES)
    a, b = np.transpose([hessian(mode, w, w)[0] for w in weights])
    return float(np.max(a + b)), float(np.max(a - b))


def _e22(eps: float) -> Iterator[Check]:
    dae, wdae = equivalents(LAM, eps)
    rates = TRIED / curvature_of_path(dae)
    fewest = steps_to_learn([dae] * len(rates), rates, SMALL, STEPS).min()
    forms: tuple[tuple[str, Curvature, Form], ...] = (
        ("1/(2λ + 3ε)", curvature_printed, PRINTED),
        ("1/2λ", curvature_of_path, CORRECTED),
    )
    for name, curvature, form in forms:
        steps = steps_to_learn([dae], [1 / curvature(dae)], SMALL, STEPS).item()
        what = (
            f"DAE, ε = {eps:g}, rate {name}: steps to within 1 % of w*, the best rate's times 1.5"
        )
        yield at_most("e22", what, steps, 1.5 * fewest, form=form)
    one, other = (
        np.prod(trajectory(mode, SMALL, SMALL, TIMES / curvature_printed(mode)), axis=0)
        for mode in (dae, wdae)
    )
    what = f"w(t) of DAE less WDAE, each with its printed rate, w₁ = w₂ and ε = {eps:g}"
    yield equal("e22", what, np.abs(one - other).max(), 0, ROUNDING)
