"""Pretorius 2018, abstract: what noise has in common with weight decay, and what not."""

from collections.abc import Iterator

import numpy as np
from scipy.optimize import minimize

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import Check, at_least, at_most, equal
from lindrop.dropout.dynamics.loss import expected_loss
from lindrop.dropout.dynamics.modes import Mode, equivalents
from lindrop.dropout.dynamics.trajectories import trajectory
from lindrop.dropout.multistart import EXACT
from lindrop.papers.pretorius2018.flows import INTEGRATED, integrated

LAMS, NOISES = (0.5, 1.0, 2.5), (0.2, 1.0, 5.0)  # values of λ and ε
SMALL = np.array([1e-3])  # w₁ = w₂ at the start
TIMES = np.linspace(0, 40, 401)
HIGH, LOW = np.array([8.0, 5.0, 3.0]), np.array([0.3, 0.2])  # eigenvalues of the inputs' Σ xx'
SAMPLES, HIDDEN, STARTS = 9, 5, 3
MEASURED = 1e-5
ROUNDING = 1e-11


def checks(seed: int) -> list[Check]:
    """Checks of the speeds of noise and weight decay, and of directions that noise ignores."""
    return [*_faster(), *_ignored(np.random.default_rng(seed))]


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


def _ignored(rng: np.random.Generator) -> Iterator[Check]:
    """Checks of a whole network trained with noise on inputs of high and of low variance.

    The noise is between them, ε = N s² being the geometric mean of the eigenvalues on both sides.
    The network is trained by L-BFGS on its expected loss, from random starts; what it keeps of a
    direction is the diagonal of V'W₂W₁V. A direction counts as ignored if less than half of it is
    reconstructed.
    """
    values = np.concatenate((HIGH, LOW))
    vectors = np.linalg.qr(rng.normal(size=(len(values),) * 2))[0]
    rows = np.linalg.qr(rng.normal(size=(SAMPLES, len(values))))[0].T
    x = vectors * np.sqrt(values) @ rows
    eps = float(np.sqrt(HIGH[-1] * LOW[0]))
    kept = [np.diag(vectors.T @ _trained(x, eps / SAMPLES, rng) @ vectors) for _ in range(STARTS)]
    high, low = np.split(np.array(kept), [len(HIGH)], axis=1)
    claim, what = (
        "ignored_directions",
        f"DAE of {len(values)} inputs after training, {STARTS} starts",
    )
    of_low = f"{what}: share of a direction of low variance that is kept, largest"
    yield at_most(claim, of_low, low.max(), 0.5)
    of_high = f"{what}: share of a direction of high variance that is kept, least"
    yield at_least(claim, of_high, high.min(), 0.5)
    error = np.abs(np.array(kept) - values / (values + eps)).max()
    yield equal(claim, f"{what}: share kept less λ/(λ + ε), largest", error, 0, MEASURED)


def _trained(x: Matrix, variance: float, rng: np.random.Generator) -> Matrix:
    """W₂W₁ of a linear DAE where L-BFGS on its expected loss ends."""
    inputs, samples = x.shape
    shapes = (HIDDEN, inputs), (inputs, HIDDEN)
    moment = x @ x.T

    def parts(flat: Vector) -> tuple[Matrix, Matrix]:
        w1, w2 = np.split(flat, 2)
        return w1.reshape(shapes[0]), w2.reshape(shapes[1])

    def value_and_slope(flat: Vector) -> tuple[float, Vector]:
        w1, w2 = parts(flat)
        by_both = ((w2 @ w1 - np.eye(inputs)) @ moment) / samples + variance * w2 @ w1
        slopes = w2.T @ by_both, by_both @ w1.T
        return expected_loss(x, w1, w2, variance), np.concatenate([s.ravel() for s in slopes])

    start = rng.normal(scale=0.3, size=2 * inputs * HIDDEN)
    end = minimize(value_and_slope, start, jac=True, method="L-BFGS-B", options=EXACT)
    w1, w2 = parts(end.x)
    return w2 @ w1
