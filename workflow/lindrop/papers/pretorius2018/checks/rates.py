"""Pretorius 2018, Section D: the Hessian of a mode, and optimal learning rates (E21, E22).

The section calls optimal the inverse of the largest curvature where both weights are equal and at
most 1. Curvatures are found here from differences of the printed losses, independently of the
formulas in `lindrop.dropout.dynamics.modes`.
"""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import minimize_scalar

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import (
    CHARITABLE,
    EXTENSION,
    PRINTED,
    Check,
    Form,
    at_least,
    at_most,
    equal,
)
from lindrop.dropout.dynamics.descent import gradient_descent, integrate, steps_to_learn
from lindrop.dropout.dynamics.modes import (
    Mode,
    curvature_of_path,
    curvature_printed,
    equivalents,
    hessian,
    largest_curvature,
)
from lindrop.papers.pretorius2018.as_printed import (
    decaying_loss,
    decaying_updates,
    noisy_hessian,
    noisy_loss,
    noisy_updates,
)
from lindrop.papers.pretorius2018.flows import STEP, Updates

Loss = Callable[[Mode, Vector, Vector], Vector]

LAM, NOISES = 1.0, (0.5, 2.0, 5.0)  # λ, and values of ε
UNLIKE = 0.5  # a decay over the decay that is equivalent to the noise
SAMPLES, DECAY = 5, 0.1  # N and γ
SMALL = 1e-3  # w₁ = w₂ at the start
TIMES = np.linspace(0, 100, 201)
SHORT = np.linspace(0, 12, 121)
UNEQUAL = 2.0  # w₂ over w₁ at a small start with unequal weights
STEPS = 2000
NEAR = 0.01  # relative distance to w* at which a mode counts as learned
STARTS, REACH, CONVERGED = 2000, 2.0, 200  # random starts as in the public code, and steps
ROUNDING, INTEGRATED, MEASURED = 1e-11, 1e-9, 1e-5
SEARCHED = 1e-7  # tolerance of a maximum at the end of an interval that was searched numerically
NAMES = "DAE", "WDAE"
LOSSES: tuple[Loss, Loss] = noisy_loss, decaying_loss
UPDATES: tuple[Updates, Updates] = noisy_updates, decaying_updates
RATES = ("1/(2λ + 3ε)", "1/2λ"), ("1/(2λ + γ)", "1/(2λ − 2γ)")  # as printed, and of the path
ANY = "1/max(2λ − 2γ, λ + γ)"  # of any direction


def checks(seed: int) -> list[Check]:
    """Checks of the Hessian, of the largest curvature, and of optimal rates and their ratio."""
    hessians, starts = np.random.default_rng(seed).spawn(2)
    w1, w2 = starts.uniform(-REACH, REACH, (2, STARTS))
    return [
        *_hessians(hessians),
        *_at_one(),
        *(check for eps in NOISES for part in (_maximum, _steps, _ratio) for check in part(eps)),
        *(check for eps in NOISES for check in _diverging(eps, w1, w2)),
        *(_same_curve(eps) for eps in NOISES),
    ]


def differences(loss: Loss, mode: Mode, w1: float, w2: float) -> Matrix:
    """Hessian from second differences of length 1.

    They are exact, since the losses have no higher power of either weight than its square.
    """

    def at(one: int, other: int) -> float:
        return float(loss(mode, np.array(w1 + one), np.array(w2 + other)))

    center = at(0, 0)
    across = (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / 4
    return np.array(
        [
            [at(1, 0) - 2 * center + at(-1, 0), across],
            [across, at(0, 1) - 2 * center + at(0, -1)],
        ]
    )


def _largest(loss: Loss, mode: Mode, w: float) -> float:
    """Largest eigenvalue of the Hessian where both weights are `w`."""
    return float(np.linalg.eigvalsh(differences(loss, mode, w, w))[-1])


def _hessians(rng: np.random.Generator) -> Iterator[Check]:
    errors, roots, updates, used = [], [], [], []
    for mode in (Mode(LAM, eps=eps) for eps in NOISES):
        w1, w2 = rng.uniform(-2, 2, 2)
        errors.append(noisy_hessian(mode, w1, w2) - differences(noisy_loss, mode, w1, w2))
        wdae = Mode(LAM, decay=mode.eps)
        used.append(hessian(mode, w1, w2) - differences(noisy_loss, mode, w1, w2))
        used.append(hessian(wdae, w1, w2) - differences(decaying_loss, wdae, w1, w2))
        (a, b), _ = matrix = noisy_hessian(mode, w1, w1)
        roots.append(np.sort([a - b, a + b]) - np.linalg.eigvalsh(matrix))
        slope = np.imag(noisy_loss(mode, np.array(w1 + STEP * 1j), np.array(w1))) / STEP
        newton = np.linalg.solve(differences(noisy_loss, mode, w1, w1), np.full(2, slope))
        updates.append(newton - slope / (a + b))
    what = "entries of τH less second differences of the loss: largest error"
    yield equal("section_d_hessian", what, np.abs(errors).max(), 0, ROUNDING)
    what = "entries of τH of a DAE and a WDAE as computed in figures, less these: largest error"
    yield equal("section_d_hessian", what, np.abs(used).max(), 0, ROUNDING)
    what = "a ± b less the eigenvalues of τH where w₁ = w₂: largest error"
    yield equal("section_d_eigenvalues", what, np.abs(roots).max(), 0, ROUNDING)
    what = "Newton's step of both weights where w₁ = w₂, less (∂ℓ/∂w)/λ_H: largest error"
    yield equal("section_d_update", what, np.abs(updates).max(), 0, ROUNDING)


def _at_one() -> Iterator[Check]:
    """Checks of the Hessian at w₁ = w₂ = 1, where γ stands for the Nγ of Section C."""
    what = "largest eigenvalue of τH at w₁ = w₂ = 1 less"
    found = [_largest(noisy_loss, Mode(LAM, eps), 1) for eps in NOISES]
    error = np.abs(np.subtract(found, [2 * LAM + 3 * eps for eps in NOISES])).max()
    yield equal("section_d_at_one", f"DAE: {what} 2λ + 3ε", error, 0, ROUNDING)
    forms: tuple[tuple[int, str, float, Form], ...] = (
        (1, "2λ + γ", DECAY, PRINTED),
        (SAMPLES, "2λ + Nγ", SAMPLES * DECAY, CHARITABLE),
    )
    for samples, name, decay, form in forms:
        curvature = _largest(decaying_loss, Mode(LAM, decay=samples * DECAY), 1)
        named = f"WDAE, N = {samples}: {what} {name}"
        yield equal("section_d_wdae_at_one", named, curvature - 2 * LAM - decay, 0, ROUNDING, form)


def _found(loss: Loss, mode: Mode) -> tuple[float, float]:
    """Weight from 0 to 1 with the largest curvature, both weights equal, and this curvature."""
    search = minimize_scalar(
        lambda w: -_largest(loss, mode, w), bounds=(0.5, 1), method="bounded", options={"xatol": 0}
    )
    low = max(_largest(loss, mode, w) for w in np.linspace(0, 0.5, 51))
    return (float(search.x), -float(search.fun)) if -search.fun > low else (0.0, low)


def _curvatures(loss: Loss, mode: Mode) -> tuple[float, float]:
    """Largest curvatures along and across the path from a small start.

    They are a + b and a − b, with a = ∂²ℓ/∂w₁² and b = ∂²ℓ/∂w₁∂w₂.
    """
    weights, _ = integrate(mode, np.array([SMALL]), np.array([SMALL]), TIMES)
    a, b = np.transpose([differences(loss, mode, w, w)[0] for w in weights[0]])
    return float(np.max(a + b)), float(np.max(a - b))


def _maximum(eps: float) -> Iterator[Check]:
    """Checks of the largest curvature.

    It is at w = 1 of all equal weights from 0 to 1. A path from a small start ends at w* < 1 and
    meets less.
    """
    claim = "section_d_maximum"
    for name, loss, mode in zip(NAMES, LOSSES, equivalents(LAM, eps), strict=True):
        what = f"{name}, ε = {eps:g}:"
        at, _ = _found(loss, mode)
        named = f"{what} w₁ = w₂ from 0 to 1 with the largest curvature"
        yield equal(claim, named, at, 1, SEARCHED)
        along, across = _curvatures(loss, mode)
        claims = (
            ("along the path from a small start, as at w*", along, curvature_of_path(mode)),
            ("in any direction on this path", max(along, across), largest_curvature(mode)),
        )
        for where, found, claimed in claims:
            named = f"{what} largest curvature {where}"
            yield equal(claim, named, found, claimed, MEASURED, EXTENSION)


def _steps(eps: float) -> Iterator[Check]:
    """Checks of the printed rates, and of what other rates do from a small start (E22)."""
    for name, loss, updates, mode, (printed, of_path) in zip(
        NAMES, LOSSES, UPDATES, equivalents(LAM, eps), RATES, strict=True
    ):
        claim = f"section_d_{name.lower()}_rate"
        what = (
            f"{name}, ε = {eps:g}: largest curvature of equal weights from 0 to 1, by differences"
        )
        share = _found(loss, mode)[1] / curvature_printed(mode)
        yield equal(claim, f"{what}, times the rate {printed}", share, 1, SEARCHED)
        what = f"{name}, ε = {eps:g}, small equal weights: steps to w* within 1 % at rate {printed}"
        slow, fast = (
            steps_to_learn([mode], [1 / curvature(mode)], SMALL, STEPS, NEAR).item()
            for curvature in (curvature_printed, curvature_of_path)
        )
        yield at_least(claim, f"{what} less those at {of_path}", slow - fast, 1, form=EXTENSION)
        rates = 1 / (2 * mode.lam + 3 * mode.eps + mode.decay), 1 / (2 * mode.lam - 2 * mode.decay)
        for named, rate, found in zip((printed, of_path), rates, (slow, fast), strict=True):
            what = (
                f"{name}, ε = {eps:g}, small equal weights: steps to w* within 1 %, rate {named},"
            )
            counted = found - _counted_steps(updates, mode, rate)
            what = f"{what} less those counted one by one with the printed updates"
            yield equal(claim, what, counted, 0, 0, EXTENSION)
    yield from _unequal(eps, equivalents(LAM, eps)[1])


def _counted_steps(updates: Updates, mode: Mode, rate: float) -> int:
    """Steps along the updates from a small start, until w is within 1 % of w* and stays there."""
    w1 = w2 = np.array([SMALL])
    last_far = 0
    for step in range(STEPS):
        if abs(float(w1[0] * w2[0]) / mode.fixed_point - 1) > NEAR:
            last_far = step
        change1, change2 = updates(mode, w1, w2)
        w1, w2 = w1 + rate * change1, w2 + rate * change2
    return last_far + 1


def _unequal(eps: float, wdae: Mode) -> Iterator[Check]:
    """Checks of a WDAE's rates where the small weights at the start are not equal.

    Near zero a step multiplies w₁ − w₂ by 1 − (λ + Nγ) times the rate. With the inverse curvature
    of the balanced path this grows if Nγ > 3λ/5; with that of any direction it does not.
    """
    claim = "section_d_wdae_rate"
    what = f"WDAE, ε = {eps:g}, unequal small weights: |w₁ − w₂| after a step over before, rate"
    growing = wdae.decay > 3 * LAM / 5
    for name, curvature in (("1/(2λ − 2γ)", curvature_of_path), (ANY, largest_curvature)):
        rate = 1 / curvature(wdae)
        w1, w2 = np.array([SMALL]), np.array([UNEQUAL * SMALL])
        path = gradient_descent([wdae], [rate], w1, w2, 1)[:, :, 0, 0]
        growth = abs((path[1, 0] - path[1, 1]) / (path[0, 0] - path[0, 1]))
        if growing and name != ANY:
            yield at_least(claim, f"{what} {name}", growth, 1, form=EXTENSION)
        else:
            yield at_most(claim, f"{what} {name}", growth, 1, form=EXTENSION)
    slow, fast = (
        _steps_from_unequal(wdae, 1 / curvature(wdae))
        for curvature in (curvature_printed, largest_curvature)
    )
    what = f"WDAE, ε = {eps:g}, unequal small weights: steps to w* within 1 % at rate 1/(2λ + γ)"
    yield at_least(claim, f"{what} less those at {ANY}", slow - fast, 1, form=EXTENSION)


def _steps_from_unequal(mode: Mode, rate: float) -> int:
    """Steps until w stays within 1 % of its end, from small unequal weights."""
    w1, w2 = np.array([SMALL]), np.array([UNEQUAL * SMALL])
    w = gradient_descent([mode], [rate], w1, w2, STEPS)[:, :, 0, 0].prod(axis=1)
    near = np.abs(w / mode.fixed_point - 1) <= NEAR
    return int(len(near) - np.argmin(near[::-1]))


def _diverging(eps: float, w1: Vector, w2: Vector) -> Iterator[Check]:
    """Checks of how many random starts diverge, with the DAE's printed rate and with 1/2λ."""
    mode, claim = Mode(LAM, eps=eps), "section_d_dae_rate"
    what = f"DAE, ε = {eps:g}: how many of {STARTS} starts in (−2, 2)² diverge, rate"
    lost = [_lost(mode, rate, w1, w2) for rate in (1 / curvature_printed(mode), 1 / (2 * LAM))]
    yield equal(claim, f"{what} 1/(2λ + 3ε)", lost[0], 0, 0, EXTENSION)
    yield at_least(claim, f"{what} 1/2λ", lost[1], 1, form=EXTENSION)


def _lost(mode: Mode, rate: float, w1: Vector, w2: Vector) -> int:
    """Number of the starts from which gradient descent diverges."""
    with np.errstate(over="ignore", invalid="ignore"):
        path = gradient_descent([mode], [rate], w1, w2, CONVERGED)
    return int(np.sum(~np.isfinite(path[-1, :, 0]).all(axis=0)))


def _ratio(eps: float) -> Iterator[Check]:
    """Checks of the ratio of the rates of a DAE and a WDAE.

    On paths from small equal weights it is 1 − γ/λ.
    """
    claim = "section_d_ratio"
    dae, equivalent = equivalents(LAM, eps)
    unlike = equivalent._replace(decay=UNLIKE * equivalent.decay)
    for name, wdae in (("γ = λε/(λ + ε)", equivalent), (f"{UNLIKE:g} of this γ", unlike)):
        what = f"ε = {eps:g}, {name}: largest curvature of the WDAE over that of the DAE"
        printed = (2 * LAM + wdae.decay) / (2 * LAM + 3 * eps)
        found = _found(decaying_loss, wdae)[1] / _found(noisy_loss, dae)[1]
        named = f"{what}, up to w₁ = w₂ = 1, less (2λ + γ)/(2λ + 3ε)"
        yield equal(claim, named, found - printed, 0, SEARCHED)
        along = _curvatures(decaying_loss, wdae)[0] / _curvatures(noisy_loss, dae)[0]
        named = f"{what}, along paths from small starts, less 1 − γ/λ"
        yield equal(claim, named, along - 1 + wdae.decay / LAM, 0, MEASURED, EXTENSION)


def _same_curve(eps: float) -> Check:
    """Check that a DAE and its WDAE have the same curve, each at its printed rate."""
    one, other = (_printed_path(mode) for mode in equivalents(LAM, eps))
    what = f"w(t) of DAE less WDAE, each with its printed rate, w₁ = w₂ and ε = {eps:g}"
    return equal("section_d_same_curve", what, np.abs(one - other).max(), 0, INTEGRATED)


def _printed_path(mode: Mode) -> Vector:
    """w(t) of the integrated flow, with time in steps of the printed rate."""
    start, curvature = np.array([SMALL]), float(np.linalg.eigvalsh(hessian(mode, 1, 1))[-1])
    return np.asarray(np.prod(integrate(mode, start, start, 8 * SHORT / curvature), axis=0))
