"""Pal 2020's synthetic set, and training by Algorithm 1 on it (Sections 2 and 5.1).

A thousand x ~ N(0, I₁₀₀) and y = U_true V_true'x, 50 hidden nodes, N(0, 1) in every matrix; all
experiments start from the same U₀ and V₀. As Y = MX, objectives and gradients know the samples
through XX' alone: its triangular root, of 100 columns, stands for X exactly.

The paper gives neither the step size nor the number of iterations of its shallow experiments (its
axes reach 10⁵). Here every iteration draws one mask for all samples, as in (3), and takes the mean
over the samples of Algorithm 1's steps: −η/(2N) times a gradient of (3) in expectation. Noise is of
size 1/θ, and with steps that shrink training settles: η = θ RATE/(1 + t/HALVED).
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from lindrop.base.arrays import Matrix

Noise = Callable[[int, np.random.Generator], Matrix]  # z/θ, many draws at once
Measure = Callable[[Matrix, Matrix], dict[str, float]]  # of U and V: columns of a curve

SAMPLES, INPUTS, OUTPUTS, HIDDEN = 1000, 100, 80, 50
RATE = 6e-4
HALVED = 500  # iterations after which η is half of what it was
SHOWN = 2000  # places in a curve, evenly in log scale; whole iterations: about half of them
SMOOTHED = 100  # iterations in the centre of mass of the moving average
DRAWS_AT_ONCE = 100


class Problem(NamedTuple):
    """X (or a root of XX' of fewer columns), Y = MX, and where training starts."""

    x: Matrix
    y: Matrix
    u: Matrix
    v: Matrix
    samples: int  # N


def synthetic(rng: np.random.Generator, *, correlated: bool = False) -> Problem:
    """D_syn of Section 5.1; correlated: its inputs pass a ReLU, hence have a mean and share it."""
    x = rng.normal(size=(INPUTS, SAMPLES))
    u_true, v_true, u, v = (
        rng.normal(size=(size, HIDDEN)) for size in (OUTPUTS, INPUTS, OUTPUTS, INPUTS)
    )
    if correlated:
        x = np.maximum(x, 0)
    root = np.linalg.cholesky(x @ x.T)
    return Problem(root, u_true @ (v_true.T @ root), u, v, SAMPLES)


def train(
    problem: Problem,
    noise: Noise,
    measure: Measure,
    *,
    keep: float,
    iterations: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Algorithm 1 from U₀, V₀; masks of nodes, or of V for DropConnect.

    Of the iterate that an iteration starts from: `stochastic` is its loss under the mask drawn,
    other columns are what `measure` says of it, and `smoothed` is an exponential moving average of
    `stochastic` over all iterations. A longer training continues a shorter one.
    """
    x, y, samples = problem.x, problem.y, problem.samples
    u, v = problem.u.copy(), problem.v.copy()
    shown, rows, stochastic = set(_log_spaced(iterations)), [], np.empty(iterations)
    for t, mask in enumerate(_masks(noise, iterations, rng)):
        if t + 1 in shown:
            rows.append({"iteration": t + 1} | measure(u, v))
        # a dropped node neither answers nor learns; a mask of weights leaves no node idle
        kept = np.flatnonzero(mask) if mask.ndim == 1 else slice(None)
        factor, u_kept, v_kept = mask[..., kept], u[:, kept], v[:, kept]
        hidden = (v_kept * factor).T @ x
        error = u_kept @ hidden - y
        stochastic[t] = np.vdot(error, error)
        step = keep * RATE / (1 + t / HALVED) / samples
        v[:, kept] -= step * factor * (x @ (error.T @ u_kept))
        u[:, kept] -= step * error @ hidden.T
    smoothed = pd.Series(stochastic).ewm(com=SMOOTHED).mean().to_numpy()
    curve = pd.DataFrame(rows)
    place = curve["iteration"] - 1
    return curve.assign(stochastic=stochastic[place], smoothed=smoothed[place])


def _log_spaced(iterations: int) -> list[int]:
    return [int(t) for t in np.unique(np.geomspace(1, iterations, SHOWN).round())]


def _masks(noise: Noise, iterations: int, rng: np.random.Generator) -> Iterator[Matrix]:
    for start in range(0, iterations, DRAWS_AT_ONCE):
        yield from noise(min(DRAWS_AT_ONCE, iterations - start), rng)
