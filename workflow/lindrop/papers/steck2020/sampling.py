"""Steck 2020 by sampling: the theorem behind EDLAE, and dropout in several layers.

The theorem (Eq. 6) says where training with dropout ends after infinitely many epochs. Here real
masks are drawn, every finite problem is solved exactly, and the distance to the closed form is what
the masks' noise leaves: it must fall as 1/√epochs, and to nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from lindrop.models.full_rank import emphasised_matrix

Matrix = npt.NDArray[np.floating[Any]]
Masks = npt.NDArray[np.bool_]
ClosedForm = Callable[[Matrix, float, float, float, float], Matrix]  # of G, p, λ, a, b

EMPHASES = {0.3: ((1.0, 1.0), (1.0, 0.5), (1.0, 0.1)), 0.6: ((1.0, 0.5),)}  # (a, b) for every p
EPOCHS = tuple(2**k for k in range(12))
DROPOUTS = 0.2, 0.5
ROWS_AT_ONCE = 1 << 13  # whose products of items fit into a cache; far below 2²⁴ (see `Moments`)
DRAWS_AT_ONCE = 100


class Moments(NamedTuple):
    """What every choice of a and b needs of the masks drawn so far.

    `inputs[0]` is Z'Z and `inputs[1 + i]` the part of it from rows that dropped feature i;
    `outputs` is Z'X and its part from the entries of X that were dropped. Counts of a block of rows
    are exact in float32, and the sum of blocks in float64, when X is binary: then nothing depends
    on the order of summation.
    """

    inputs: Matrix
    outputs: Matrix

    def plus(self, other: "Moments") -> "Moments":
        return Moments(self.inputs + other.inputs, self.outputs + other.outputs)


def correlated_sample(rows: int, items: int, rng: np.random.Generator) -> Matrix:
    """Binary columns that depend on each other through three hidden tastes; unequal shares."""
    tastes = rng.normal(size=(rows, 3)) @ rng.normal(size=(3, items))
    noisy = tastes / np.sqrt(3) + rng.normal(size=(rows, items))
    return np.asarray(noisy > np.linspace(0.2, 1.2, items), dtype=float)


def sampled_minimisers(
    x: Matrix, a: float, b: float, p: float, epochs: Sequence[int], rng: np.random.Generator
) -> Matrix:
    """B^(EDLAE) of Eqs. 1 and 2 after each number of epochs of one series of masks."""
    return np.stack([minimiser(m, a, b, p) for m in sampled_moments(x, p, epochs, rng)])


def sampled_moments(
    x: Matrix, p: float, epochs: Sequence[int], rng: np.random.Generator
) -> Iterator[Moments]:
    """Sums over ever more epochs, each with a new mask for every entry of X, its zeros too."""
    items, at_once = x.shape[1], max(ROWS_AT_ONCE // len(x), 1)
    total = Moments(np.zeros((items + 1, items, items)), np.zeros((2, items, items)))
    for before, after in pairwise((0, *epochs)):
        for start in range(before, after, at_once):
            draws = min(at_once, after - start)
            kept = rng.random((draws, *x.shape), dtype=np.float32) >= p
            total = total.plus(moments(x, kept))
        yield total


def moments(x: Matrix, kept: Masks) -> Moments:
    """Of a block of epochs, `kept` being δ of Eq. 1: one product of matrices for all columns."""
    items = x.shape[1]
    dropped = (~kept).reshape(-1, items)
    target = np.broadcast_to(x.astype(np.float32), kept.shape).reshape(-1, items)
    z = np.where(dropped, np.float32(0), target)
    pairs = (z[:, :, None] * z[:, None, :]).reshape(-1, items * items)
    weights = np.column_stack((np.ones(len(z), np.float32), dropped.astype(np.float32)))
    return Moments(
        (weights.T @ pairs).reshape(-1, items, items).astype(float),
        np.stack((z.T @ target, z.T @ (target * dropped))).astype(float),
    )


def minimiser(of: Moments, a: float, b: float, p: float) -> Matrix:
    """B^(EDLAE) = q·argmin ‖A^{1/2} ∘ (X − ZB)‖² (Eqs. 1 and 2): one linear system per column.

    A is b, and a − b more where the target was dropped; so are the normal equations.
    """
    inputs = b * of.inputs[0] + (a - b) * of.inputs[1:]
    outputs = b * of.outputs[0] + (a - b) * of.outputs[1]
    columns = np.linalg.solve(inputs, outputs.T[:, :, None])[:, :, 0]
    return (1 - p) * columns.T


def theorem_curves(
    seed: int,
    *,
    closed_form: ClosedForm = emphasised_matrix,
    rows: int = 300,
    items: int = 12,
    runs: int = 20,
    epochs: Sequence[int] = EPOCHS,
) -> pd.DataFrame:
    """Relative distance of the sampled minimisers to the theorem's, of B and of its off-diagonal.

    All emphases at one p share their masks; runs share the data, which belong to the problem.
    """
    data, *streams = np.random.default_rng(seed).spawn(1 + runs * len(EMPHASES))
    x = correlated_sample(rows, items, data)
    cases = [(p, run) for p in EMPHASES for run in range(1, runs + 1)]
    found = []
    for (p, run), rng in zip(cases, streams, strict=True):
        exact = {(a, b): closed_form(x.T @ x, p, 0.0, a, b) for a, b in EMPHASES[p]}
        for n, of in zip(epochs, sampled_moments(x, p, epochs, rng), strict=True):
            found += [
                {"a": a, "b": b, "p": p, "run": run, "epochs": n}
                | _distances(minimiser(of, a, b, p), best)
                for (a, b), best in exact.items()
            ]
    return pd.DataFrame(found)


def _distances(b: Matrix, best: Matrix) -> dict[str, float]:
    off = 1 - np.eye(len(best))
    error, error_off = (
        float(np.linalg.norm((b - best) * part) / np.linalg.norm(best * part)) for part in (1, off)
    )
    return {"error": error, "error_off_diagonal": error_off}


def deep_dropout_objective_exact(
    gram: Matrix, weights: Sequence[Matrix], p: float | Sequence[float]
) -> float:
    """E‖X − output‖² with dropout at the input of every layer, by recursion.

    M₁ = G, M_{j+1} = W_j'(M_j + c_j dMat(diag M_j))W_j with c = p/q is the second moment of what
    enters layer j + 1, the noise of the layers before it included.
    """
    moment, product = gram, np.eye(len(gram))
    for weight, c in zip(weights, _ratios(weights, p), strict=True):
        moment = weight.T @ (moment + c * np.diag(moment.diagonal())) @ weight
        product = product @ weight
    return float(np.trace(gram) - 2 * np.vdot(gram, product) + np.trace(moment))


def deep_dropout_objective_printed(
    gram: Matrix, weights: Sequence[Matrix], p: float | Sequence[float]
) -> float:
    """‖X − XB‖² + Σ_j ‖Λ^(j)^{1/2} W_j ⋯ W_L‖² as printed (supplement §5).

    Λ^(j) is that of the undropped X W₁ ⋯ W_{j−1}: terms that cross layers are missing (E6).
    """
    product = np.eye(len(gram))
    penalty = 0.0
    for j, (weight, c) in enumerate(zip(weights, _ratios(weights, p), strict=True)):
        second = c * np.diag(product.T @ gram @ product)
        following = _product(weights[j:])
        penalty += float(second @ np.sum(following**2, axis=1))
        product = product @ weight
    rest = np.eye(len(gram)) - product
    return float(np.vdot(gram @ rest, rest)) + penalty


def deep_dropout_objective_sampled(
    x: Matrix,
    weights: Sequence[Matrix],
    p: float | Sequence[float],
    draws: int,
    rng: np.random.Generator,
) -> Matrix:
    """‖X − output‖² under each of many draws of masks, scaled by 1/q, at every layer's input."""
    dropouts = np.broadcast_to(p, len(weights))
    found = []
    for start in range(0, draws, DRAWS_AT_ONCE):
        values = np.broadcast_to(x, (min(DRAWS_AT_ONCE, draws - start), *x.shape))
        for weight, share in zip(weights, dropouts, strict=True):
            kept = rng.random(values.shape, dtype=np.float32) >= share
            values = (values * kept) @ (weight / (1 - share))
        found.append(np.sum((x - values) ** 2, axis=(1, 2)))
    return np.concatenate(found)


def _ratios(weights: Sequence[Matrix], p: float | Sequence[float]) -> Matrix:
    """p/q of every layer."""
    dropouts = np.broadcast_to(p, len(weights))
    return np.asarray(dropouts / (1 - dropouts))


def _product(weights: Sequence[Matrix]) -> Matrix:
    return weights[0] if len(weights) == 1 else np.linalg.multi_dot(weights)


def deep_dropout_table(
    seed: int, *, rows: int = 100, items: int = 12, draws: int = 4_000, most_layers: int = 4
) -> pd.DataFrame:
    """The objective of random nets of 1 … `most_layers` layers: sampled, exact and as printed."""
    data, rng = np.random.default_rng(seed).spawn(2)
    x = correlated_sample(rows, items, data)
    gram = x.T @ x
    layers = range(1, most_layers + 1)
    nets = [list(data.normal(0, items**-0.5, (count, items, items))) for count in layers]
    found = []
    for p in DROPOUTS:
        for weights in nets:
            sampled = deep_dropout_objective_sampled(x, weights, p, draws, rng)
            exact = deep_dropout_objective_exact(gram, weights, p)
            printed = deep_dropout_objective_printed(gram, weights, p)
            found.append(
                {
                    "layers": len(weights),
                    "p": p,
                    "sampled": float(sampled.mean()),
                    "sampled_stderr": float(sampled.std(ddof=1) / np.sqrt(draws)),
                    "exact": exact,
                    "printed": printed,
                    "printed/exact": printed / exact,
                }
            )
    return pd.DataFrame(found)
