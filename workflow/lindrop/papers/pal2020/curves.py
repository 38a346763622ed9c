"""What the shallow experiments of Pal 2020 plot (Sections 5.1 and 5.3): a table for every figure.

All trainings from one seed share the data, U₀ and V₀; those of one θ draw the same random numbers.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd

from lindrop.base.arrays import Matrix
from lindrop.dropout.samplers import (
    Scheme,
    dropblock,
    dropconnect_noise,
    dropout,
    gaussian_noise,
    overlapping_dropblock,
    seed_keep_as_printed,
    seed_keep_of,
)
from lindrop.dropout.structured import (
    dropconnect_regulariser,
    dropconnect_regulariser_as_printed,
    loss,
    losses_of_nodes,
    objective,
)
from lindrop.papers.pal2020.minima import minimum, minimum_as_printed
from lindrop.papers.pal2020.synthetic import HIDDEN, Measure, Noise, Problem, synthetic, train

BLOCK = 5  # the paper names a block size for its deep experiments only, this one
FRESH = 200  # masks drawn at every iterate shown, to see their mean
MORE_KEEPS = 0.3, 0.7, 0.9  # of Figures 5 and 6, ours: the paper's are not legible in our copy

Run = tuple[Noise, Measure]  # how masks are drawn, and what is to be computed
Runs = Callable[[float], dict[str, Run]]  # by name of the scheme, of θ


def dropblock_curves(
    seed: int, keeps: Sequence[float] = (0.5,), *, iterations: int
) -> pd.DataFrame:
    """Figures 1 and 5: DropBlock as sampled, its objective (Lemma 2.1), the minimum of this.

    The minimum is that of Theorem 2.7, corrected and as printed. The column `sampled` is the mean
    loss under many masks of each iterate, none of which trains.
    """
    problem = _problem(seed)
    *_, beyond = np.random.SeedSequence(seed).spawn(len(keeps) + 1)  # no training draws from it
    fresh = np.random.default_rng(beyond)

    def runs(keep: float) -> dict[str, Run]:
        run = _of_nodes(problem, dropblock(HIDDEN, keep, BLOCK), keep)
        return {"DropBlock": _with_fresh_masks(problem, run, fresh)}

    curves = _train_all(problem, seed, keeps, runs, iterations)
    ends = {
        name: curves["keep"].map({keep: of(problem, keep, BLOCK) for keep in keeps})
        for name, of in (("minimum", minimum), ("printed", minimum_as_printed))
    }
    return curves.assign(**ends)


def dropconnect_curves(
    seed: int, keeps: Sequence[float] = (0.5,), *, iterations: int
) -> pd.DataFrame:
    """Figures 3 and 6: DropConnect and dropout, sampled and in expectation."""
    problem = _problem(seed)

    def runs(keep: float) -> dict[str, Run]:
        return {
            "dropout": _of_nodes(problem, dropout(HIDDEN, keep), keep),
            "DropConnect": _of_connections(problem, keep),
        }

    return _train_all(problem, seed, keeps, runs, iterations)


def inputs_curves(seed: int, keep: float = 0.5, *, iterations: int) -> pd.DataFrame:
    """DropConnect where inputs are independent, as in the paper, and where a ReLU gave them."""
    found = []
    for inputs, correlated in (("independent", False), ("correlated", True)):
        problem = _problem(seed, correlated=correlated)
        curve = _train_all(problem, seed, (keep,), _dropconnect_alone(problem), iterations)
        found.append(curve.assign(inputs=inputs))
    return pd.concat(found, ignore_index=True)


def _dropconnect_alone(problem: Problem) -> Runs:
    return lambda keep: {"DropConnect": _of_connections(problem, keep)}


def overlap_curves(
    seed: int, keeps: Sequence[float] = (0.5, 0.8), *, iterations: int
) -> pd.DataFrame:
    """Figure 4: DropBlock on the grid, and the original one with several θ′.

    Only the sampling in line 5 of Algorithm 1 changes, its 1/θ stays. At θ = 1/2, the paper's only
    choice, what is printed for θ′ is right as the probability that a seed drops (E19), so the
    figure shows another θ too.
    """
    problem = _problem(seed)

    def runs(keep: float) -> dict[str, Run]:
        harmless = {
            "overlapping, same θ": keep,
            "overlapping, corrected θ′": seed_keep_of(keep, BLOCK),
            "overlapping, printed θ′": 1 - seed_keep_as_printed(keep, BLOCK),
        }
        schemes = {"grid": dropblock(HIDDEN, keep, BLOCK)} | {
            name: overlapping_dropblock(HIDDEN, theta, BLOCK) for name, theta in harmless.items()
        }
        return {name: _of_nodes(problem, scheme, keep) for name, scheme in schemes.items()}

    return _train_all(problem, seed, keeps, runs, iterations)


def scheme_matrices(
    seed: int, *, nodes: int = 20, block: int = 5, keep: float = 0.5, draws: int = 20_000
) -> pd.DataFrame:
    """C̄ of four schemes, exact and of sampled z/μ, entry by entry.

    The last has none of zeros and ones: Gaussian noise, correlated the more, the nearer two nodes.
    """
    place = np.arange(nodes)
    decay = (1 - keep) / keep * 0.8 ** np.abs(place[:, None] - place)
    of_nodes = {
        "dropout": dropout(nodes, keep),
        "DropBlock": dropblock(nodes, keep, block),
        "overlapping DropBlock": overlapping_dropblock(nodes, seed_keep_of(keep, block), block),
    }
    laws: dict[str, tuple[Noise, Matrix]] = {
        name: (scheme.noise, scheme.characteristic) for name, scheme in of_nodes.items()
    } | {"Gaussian noise": (partial(gaussian_noise, decay), decay)}
    row, column = np.indices(decay.shape)
    found = []
    streams = np.random.default_rng(seed).spawn(len(laws))
    for (name, (noise, exact)), rng in zip(laws.items(), streams, strict=True):
        entries = {"i": row, "j": column, "exact": exact, "sampled": np.cov(noise(draws, rng).T)}
        table = pd.DataFrame({key: values.ravel() for key, values in entries.items()})
        found.append(table.assign(scheme=name))
    return pd.concat(found, ignore_index=True)


def _problem(seed: int, *, correlated: bool = False) -> Problem:
    return synthetic(np.random.default_rng(seed), correlated=correlated)


def _train_all(
    problem: Problem, seed: int, keeps: Sequence[float], runs: Runs, iterations: int
) -> pd.DataFrame:
    found = []
    for keep, stream in zip(keeps, np.random.SeedSequence(seed).spawn(len(keeps)), strict=True):
        for name, (noise, expected) in runs(keep).items():
            rng = np.random.default_rng(stream)
            curve = train(problem, noise, expected, keep=keep, iterations=iterations, rng=rng)
            found.append(curve.assign(keep=keep, scheme=name))
    return pd.concat(found, ignore_index=True)


def _of_nodes(problem: Problem, scheme: Scheme, keep: float) -> Run:
    """Masks of mean μ are divided by θ, as if U were μ/θ times what it is."""
    scale = scheme.mean / keep

    def noise(draws: int, rng: np.random.Generator) -> Matrix:
        return scale * scheme.noise(draws, rng)

    def measure(u: Matrix, v: Matrix) -> dict[str, float]:
        hidden = v.T @ problem.x
        return {"deterministic": objective(problem.y, scale * u, hidden, scheme.characteristic)}

    return noise, measure


def _with_fresh_masks(problem: Problem, run: Run, rng: np.random.Generator) -> Run:
    noise, measure = run

    def measure_both(u: Matrix, v: Matrix) -> dict[str, float]:
        losses = losses_of_nodes(problem.y, u, v.T @ problem.x, noise(FRESH, rng))
        return measure(u, v) | {"sampled": float(losses.mean())}

    return noise, measure_both


def _of_connections(problem: Problem, keep: float) -> Run:
    """The objective by E18, and by Eq. 20 as printed, which is dropout's."""
    x = problem.x

    def measure(u: Matrix, v: Matrix) -> dict[str, float]:
        error = float(loss(problem.y, u, v.T @ x))
        return {
            "deterministic": error + dropconnect_regulariser(u, v, x, keep),
            "printed": error + dropconnect_regulariser_as_printed(u, v, x, keep),
        }

    return partial(dropconnect_noise, problem.v.shape, keep), measure
