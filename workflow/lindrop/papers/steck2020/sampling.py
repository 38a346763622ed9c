"""Steck 2020 with sampled masks: the theorem (Eq. 6), and dropout in several layers (E6).

Eq. 6 says where training with dropout ends after infinitely many epochs. Here random masks are
drawn, every finite problem is solved exactly, and the distance to the closed form must fall to zero
as 1/√epochs.
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
ClosedForm = Callable[[Matrix, float, float, float, float], Matrix]  # B by G, p, λ, a, b

EMPHASES = {0.3: ((1.0, 1.0), (1.0, 0.5), (1.0, 0.1)), 0.6: ((1.0, 0.5),)}  # (a, b) by p
EPOCHS = tuple(2**k for k in range(12))
DROPOUTS = 0.2, 0.5
ROWS_AT_ONCE = 1 << 13  # fits into a cache; below 2²⁴, counts are exact in float32
DRAWS_AT_ONCE = 100


class Moments(NamedTuple):
    """Sums over the masks drawn so far that the minimiser needs for any a and b.

    `inputs[0]` is Z'Z and `inputs[1 + i]` the part of Z'Z from rows that dropped feature i.
    `outputs` is Z'X and the part of Z'X from dropped entries of X. For binary X, counts of a block
    of rows are exact in float32 and sums of blocks in float64, so the order of summation does not
    matter.
    """

    inputs: Matrix
    outputs: Matrix

    def plus(self, other: "Moments") -> "Moments":
        """Sum of two sets of moments."""
        return Moments(self.inputs + other.inputs, self.outputs + other.outputs)


def correlated_sample(rows: int, items: int, rng: np.random.Generator) -> Matrix:
    """Binary columns that depend on each other through three hidden tastes.

    The columns have unequal shares of ones.
    """
    tastes = rng.normal(size=(rows, 3)) @ rng.normal(size=(3, items))
    noisy = tastes / np.sqrt(3) + rng.normal(size=(rows, items))
    return np.asarray(noisy > np.linspace(0.2, 1.2, items), dtype=float)


def sampled_moments(
    x: Matrix, p: float, epochs: Sequence[int], rng: np.random.Generator
) -> Iterator[Moments]:
    """Moments after each number of epochs; every entry of X has a new mask in each epoch."""
    items, at_once = x.shape[1], max(ROWS_AT_ONCE // len(x), 1)
    total = Moments(np.zeros((items + 1, items, items)), np.zeros((2, items, items)))
    for before, after in pairwise((0, *epochs)):
        for start in range(before, after, at_once):
            draws = min(at_once, after - start)
            kept = rng.random((draws, *x.shape), dtype=np.float32) >= p
            total = total.plus(moments(x, kept))
        yield total


def moments(x: Matrix, kept: Masks) -> Moments:
    """Moments of a block of epochs from its masks `kept` (δ of Eq. 1)."""
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
    """B^(EDLAE) = q·argmin ‖A^{1/2} ∘ (X − ZB)‖² (Eq. 1 and 2), one linear system per column.

    Weights are b, plus a − b where the target was dropped; the normal equations split alike.
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
    """Relative distances of sampled minimisers to the theorem's, of B and off its diagonal.

    All pairs (a, b) of one p share their masks, and all runs share the data.
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
    """Mean of ‖X − output‖² with dropout at the input of every layer, by recursion (E6).

    M₁ = G and M_{j+1} = W_j'(M_j + c_j dMat(diag M_j))W_j with c = p/q. M_{j+1} is the second
    moment of the input of layer j + 1, including the noise of the layers before it.
    """
    moment, product = gram, np.eye(len(gram))
    for weight, c in zip(weights, _ratios(weights, p), strict=True):
        moment = weight.T @ (moment + c * np.diag(moment.diagonal())) @ weight
        product = product @ weight
    return float(np.trace(gram) - 2 * np.vdot(gram, product) + np.trace(moment))


def deep_dropout_objective_printed(
    gram: Matrix, weights: Sequence[Matrix], p: float | Sequence[float]
) -> float:
    """‖X − XB‖² + Σ_j ‖Λ^(j)^{1/2} W_j ⋯ W_L‖² as printed (supplement, Section 5).

    Λ^(j) is that of X W₁ ⋯ W_{j−1} without dropout, so terms that cross layers are missing (E6).
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
    """‖X − output‖² under each of `draws` random masks of every layer's input.

    Kept values are scaled by 1/q.
    """
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
    """The ratio p/q of every layer."""
    dropouts = np.broadcast_to(p, len(weights))
    return np.asarray(dropouts / (1 - dropouts))


def _product(weights: Sequence[Matrix]) -> Matrix:
    return weights[0] if len(weights) == 1 else np.linalg.multi_dot(weights)


def deep_dropout_table(
    seed: int, *, rows: int = 100, items: int = 12, draws: int = 4_000, most_layers: int = 4
) -> pd.DataFrame:
    """Sampled, exact and printed objectives of random networks by number of layers."""
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
