"""Pal 2020, Sections 2 and 5.1: the synthetic dataset, and training on it by Algorithm 1.

The dataset has 1000 samples x ~ N(0, I₁₀₀) and y = U_true V_true'x with 50 hidden nodes; all
matrices are N(0, 1), and all experiments start from the same U₀ and V₀. As Y = MX, objectives and
gradients depend on the samples through XX' alone, so its triangular root of 100 columns replaces X
exactly.

The paper gives neither the step size nor the number of iterations of its shallow experiments (its
axes reach 10⁵). Here every iteration draws one mask for all samples, as in Eq. 3, and takes the
mean over the samples of Algorithm 1's steps, which is −η/(2N) times the gradient of Eq. 3 in
expectation. The noise is of size 1/θ, and training settles if steps shrink: η = θ RATE/(1 +
t/HALVED).
"""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from lindrop.base.arrays import Matrix

Noise = Callable[[int, np.random.Generator], Matrix]  # many draws of z/θ
Measure = Callable[
    [Matrix, Matrix], dict[str, float]
]  # columns of a curve as a function of U and V

Inputs = Literal["normal", "relu", "white"]

SAMPLES, INPUTS, OUTPUTS, HIDDEN = 1000, 100, 80, 50
RATE = 6e-4
HALVED = 500  # iterations after which η is half its first value
SHOWN = 2000  # points of a curve in log scale; about half are distinct iterations
SMOOTHED = 100  # centre of mass of the moving average, in iterations
DRAWS_AT_ONCE = 100


class Problem(NamedTuple):
    """X or a root of XX' with fewer columns, Y = MX, and the weights at the start."""

    x: Matrix
    y: Matrix
    u: Matrix
    v: Matrix
    samples: int  # number of samples N


def synthetic(rng: np.random.Generator, inputs: Inputs = "normal") -> Problem:
    """The dataset D_syn of Section 5.1, or one with other inputs.

    Inputs that pass a ReLU are as independent as before, but have a mean, so XX' is not diagonal.
    White ones stand for the expectation over the paper's inputs: XX' is N I.
    """
    x = rng.normal(size=(INPUTS, SAMPLES))
    u_true, v_true, u, v = (
        rng.normal(size=(size, HIDDEN)) for size in (OUTPUTS, INPUTS, OUTPUTS, INPUTS)
    )
    if inputs == "relu":
        x = np.maximum(x, 0)
    root = np.linalg.cholesky(x @ x.T) if inputs != "white" else np.sqrt(SAMPLES) * np.eye(INPUTS)
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
    """Curves of Algorithm 1 from U₀, V₀, with masks of nodes, or of V for DropConnect.

    A row describes the iterate from which an iteration starts. `stochastic` is its loss under the
    mask drawn, `smoothed` an exponential moving average of `stochastic` over all iterations, and
    the other columns are those of `measure`. A longer training continues a shorter one.
    """
    x, y, samples = problem.x, problem.y, problem.samples
    u, v = problem.u.copy(), problem.v.copy()
    shown, rows, stochastic = set(_log_spaced(iterations)), [], np.empty(iterations)
    for t, mask in enumerate(_masks(noise, iterations, rng)):
        if t + 1 in shown:
            rows.append({"iteration": t + 1} | measure(u, v))
        # a dropped node has no output and no gradient; a mask of weights drops no node
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
    """Iterations that are shown, evenly spaced in log scale."""
    return [int(t) for t in np.unique(np.geomspace(1, iterations, SHOWN).round())]


def _masks(noise: Noise, iterations: int, rng: np.random.Generator) -> Iterator[Matrix]:
    """One mask per iteration."""
    for start in range(0, iterations, DRAWS_AT_ONCE):
        yield from noise(min(DRAWS_AT_ONCE, iterations - start), rng)
