"""Pretorius 2018, abstract: what noise has in common with weight decay, and what not."""

from collections.abc import Iterator

import numpy as np

from lindrop.base.arrays import Vector
from lindrop.claims.checks import Check, at_least, at_most, equal
from lindrop.dropout.dynamics.modes import Mode, equivalents
from lindrop.dropout.dynamics.trajectories import trajectory
from lindrop.papers.pretorius2018.flows import INTEGRATED, integrated

LAMS, NOISES = (0.5, 1.0, 2.5), (0.2, 1.0, 5.0)  # values of λ and ε
SMALL = np.array([1e-3])  # w₁ = w₂ at the start
TIMES = np.linspace(0, 40, 401)
EPS, EXTREME = 1.0, 100  # modes with λ = EXTREME ε are kept, with λ = ε/EXTREME ignored
LATE = np.array([1e9])
ROUNDING = 1e-11


def checks(seed: int) -> list[Check]:
    """Checks of the speeds of noise and weight decay, and of directions that noise ignores."""
    return [*_faster(), *_ignored()]


def _faster() -> Iterator[Check]:
    """Checks that noise learns faster than the weight decay with the same fixed point.

    From w₁ = w₂, dw/dt is 2w(λ + ε)(w* − w) for a DAE and 2wλ(w* − w) for its WDAE.
    """
    exact, flows, ahead = [], [], []
    for lam, eps in ((lam, eps) for lam in LAMS for eps in NOISES):
        dae, wdae = equivalents(lam, eps)
        w = _path(dae, TIMES)
        exact.append(w - _path(wdae, TIMES * (1 + eps / lam)))
        late = integrated(wdae, SMALL, SMALL, TIMES * (1 + eps / lam))
        flows.append(integrated(dae, SMALL, SMALL, TIMES) - late)
        ahead.append(w - _path(wdae, TIMES))
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
