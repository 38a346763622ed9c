"""Pretorius 2018: what the checks of Sections B and C share, the flow of a mode integrated."""

import numpy as np

from lindrop.base.arrays import Vector
from lindrop.claims.checks import PRINTED, Check, Form, equal
from lindrop.dropout.dynamics.descent import integrate
from lindrop.dropout.dynamics.modes import Mode, Pair, Values
from lindrop.dropout.dynamics.trajectories import trajectory

LAMS = 0.5, 1.0, 2.5
STARTS, REACH = 40, 2
TIMES = np.linspace(0, 12, 121)
ROUNDING, INTEGRATED = 1e-11, 1e-9


def random_starts(rng: np.random.Generator) -> Pair:
    w1, w2 = rng.uniform(-REACH, REACH, (2, STARTS))
    return w1, w2


def largest(claim: str, what: str, errors: Values, tolerance: float, form: Form = PRINTED) -> Check:
    found = np.abs(errors).max()
    return equal(claim, f"{what}: largest error", found, 0, tolerance, form)


def integrated(mode: Mode, w1: Vector, w2: Vector, times: Vector = TIMES) -> Vector:
    """w(t), a row for every start."""
    return _product(integrate(mode, w1, w2, times))


def exact(mode: Mode, w1: Vector, w2: Vector, times: Vector = TIMES) -> Vector:
    """The same in closed form."""
    return _product(trajectory(mode, w1[:, None], w2[:, None], times))


def _product(weights: Pair) -> Vector:
    return np.asarray(weights[0] * weights[1])
