"""Steck 2020, Section 3.2: how dropout's penalty differs from weight decay."""

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import EXTENSION, Check, at_least, equal, relative_distance
from lindrop.papers.steck2020.problems import (
    EXACT,
    Masked,
    Quadratic,
    descended,
    enumerable,
    induced_penalty,
    noise,
    product_of,
    ratio,
)

ROWS, ITEMS, RANK, STARTS = 30, 8, 3, 6
DESCENT = 1e-6  # relative error of B after a descent
DIFFERENT = 0.1  # least relative difference that counts
P = 0.4
DIVERGED = 1e5  # penalty at p = 1 − 1e-6 over that at p = 1/2


def checks(seed: int) -> list[Check]:
    """Checks of weight decay and of dropout's penalty: what they depend on and what they shrink."""
    data, weights, starts = np.random.default_rng(seed).spawn(3)
    x = enumerable(data)
    spread = data.normal(size=(ROWS, ITEMS)) * np.linspace(2, 0.5, ITEMS)
    return [
        *_parametrisations(x, weights),
        *_shrinkage(spread.T @ spread, starts),
        *_feature_checks(x),
        *_strength_checks(x),
    ]


def _parametrisations(x: Matrix, rng: np.random.Generator) -> list[Check]:
    """Checks at one B = UV', written with other factors and with three layers.

    What dropout adds is the mean loss of every mask of the inputs, layer by layer, less the loss
    without dropout.
    """
    u, v = rng.normal(size=(2, x.shape[1], RANK))
    change, middle = rng.normal(size=(2, RANK, RANK))
    nets = (
        (u, v.T),
        (u @ change, np.linalg.solve(change, v.T)),
        (u, middle, np.linalg.solve(middle, v.T)),
    )
    decays = [sum(map(_square, net)) for net in nets]
    penalty = float(noise(x, P) @ np.sum((u @ v.T) ** 2, axis=1))
    shares = np.array([_added(x, net) / penalty for net in nets])
    claim, what = (
        "section_3_2_invariance",
        "one B as UV', as other U and V, as three layers; largest over smallest:",
    )
    added = "three parametrisations, every mask: what dropout adds over ‖Λ^½ B‖², farthest from 1"
    return [
        equal(claim, added, _far(shares), 1, EXACT),
        at_least(claim, f"{what} weight decay", max(decays) / min(decays), 1 + DIFFERENT),
    ]


def _added(x: Matrix, net: tuple[Matrix, ...]) -> float:
    """What dropout of the inputs adds to the loss of a network, over every mask."""
    masked = Masked(x, P)
    hidden, plain = masked.inputs / (1 - P), x
    for weight in net:
        hidden, plain = hidden @ weight, plain @ weight
    losses = np.sum((x - hidden) ** 2, axis=(1, 2))
    return float(masked.outcomes[1] @ losses - np.sum((x - plain) ** 2))


def _shrinkage(gram: Matrix, rng: np.random.Generator) -> list[Check]:
    """Checks of the eigenvalues of B: weight decay zeroes those of G below λ.

    The penalty λ‖UV'‖² zeroes none. λ is above the smallest eigenvalue here.
    """
    values, vectors = np.linalg.eigh(gram)
    first, axes = values[: -RANK - 1 : -1], vectors[:, : -RANK - 1 : -1]
    lam = float(first[-2:].mean())
    kept = {"weight decay": np.maximum(1 - lam / first, 0), "‖UV'‖²": first / (first + lam)}
    claim, what = "section_3_2_weight_decay", "distance of the best B from random starts to"
    checks, best = [], []
    for name, formula in (("weight decay", "Σ (1 − λ/σ²)₊ vv'"), ("‖UV'‖²", "Σ σ²/(σ² + λ) vv'")):
        decays = name == "weight decay"
        loss = Quadratic(gram, np.full(ITEMS, 0.0 if decays else lam))
        found = product_of(descended(loss, RANK, STARTS, rng, lam if decays else 0.0))
        distance = np.abs(found - axes * kept[name] @ axes.T).max()
        best.append(found)
        checks.append(equal(claim, f"{name}: {what} {formula}", distance, 0, DESCENT, EXTENSION))
    apart = relative_distance(*best)
    both = "relative distance of the best B with weight decay to that with ‖UV'‖², the same λ"
    return [at_least(claim, both, apart, DIFFERENT), *checks]


def _feature_checks(x: Matrix) -> list[Check]:
    """Checks of what dropout adds by feature, over every mask: of raw and standardised features."""
    claim = "section_3_2_moments"
    shifted = x + np.linspace(-1, 3, x.shape[1])  # means that differ more than the deviations
    per_moment = induced_penalty(shifted, P) / np.mean(shifted**2, axis=0)
    found = induced_penalty((x - x.mean(axis=0)) / x.std(axis=0), P)
    what = "every mask: penalty of standardised features, the largest over"
    return [
        equal(
            claim,
            "every mask: penalty over the uncentred second moment, largest over smallest",
            per_moment.max() / per_moment.min(),
            1,
            EXACT,
        ),
        equal(claim, f"{what} the smallest", found.max() / found.min(), 1, EXACT),
        equal(claim, f"{what} p/q times rows of X", found.max() / ratio(P) / len(x), 1, EXACT),
    ]


def _strength_checks(x: Matrix) -> list[Check]:
    """Checks of how the penalty over every mask changes with p."""
    grid = np.linspace(0.05, 0.95, 19)
    found, middle = np.array([induced_penalty(x, p) for p in grid]), induced_penalty(x, 0.5)
    last = induced_penalty(x, 1 - 1e-6) / middle
    per_ratio = found / middle * ((1 - grid) / grid)[:, None]
    claim, what = "section_3_2_strength", "every mask: penalty in units of that at p = 1/2,"
    return [
        at_least(
            claim,
            f"{what} least rise as p rises from 0.05 to 0.95 in steps of 1/20",
            (np.diff(found, axis=0) / middle).min(),
            EXACT,
        ),
        equal(claim, f"{what} over p/q, farthest from 1", _far(per_ratio), 1, EXACT),
        at_least(claim, f"{what} smallest at p = 1 − 1e-6", last.min(), DIVERGED),
    ]


def _far(ratios: Vector) -> float:
    return float(ratios.flat[np.argmax(np.abs(ratios - 1))])


def _square(weight: Matrix) -> float:
    return float(np.sum(weight**2))
