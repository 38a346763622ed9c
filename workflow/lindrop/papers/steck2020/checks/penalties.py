"""Steck 2020, Section 3.2: how dropout's penalty differs from weight decay."""

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import Check, at_least, equal
from lindrop.papers.steck2020.problems import (
    EXACT,
    Quadratic,
    descended,
    enumerable,
    induced_penalty,
    product_of,
    ratio,
)

ROWS, ITEMS, RANK, STARTS = 30, 8, 3, 6
DESCENT = 1e-6  # relative error of B after a descent
DIFFERENT = 0.1


def checks(seed: int) -> list[Check]:
    """Checks of weight decay and of dropout's penalty: what they depend on and what they shrink."""
    data, weights, starts = np.random.default_rng(seed).spawn(3)
    x = enumerable(data)
    spread = data.normal(size=(ROWS, ITEMS)) * np.linspace(2, 0.5, ITEMS)
    return [
        *_parametrisations(weights),
        *_shrinkage(spread.T @ spread, starts),
        *_feature_checks(x),
        *_strength_checks(x),
    ]


def _parametrisations(rng: np.random.Generator) -> list[Check]:
    """Checks at one B = UV', written with other factors and with three layers."""
    u, v = rng.normal(size=(2, ITEMS, RANK))
    change, middle = rng.normal(size=(2, RANK, RANK))
    nets = (
        (u, v.T),
        (u @ change, np.linalg.solve(change, v.T)),
        (u, middle, np.linalg.solve(middle, v.T)),
    )
    products = [_square(np.linalg.multi_dot(net)) for net in nets]
    decays = [sum(map(_square, net)) for net in nets]
    claim, what = "section_3_2_invariance", "largest over smallest of three parametrisations:"
    return [
        equal(claim, f"{what} ‖B‖²", max(products) / min(products), 1, EXACT),
        at_least(claim, f"{what} weight decay", max(decays) / min(decays), 1 + DIFFERENT),
    ]


def _shrinkage(gram: Matrix, rng: np.random.Generator) -> list[Check]:
    """Checks of the eigenvalues of B: weight decay zeroes those of G below λ.

    The penalty λ‖UV'‖² zeroes none. λ is above the smallest eigenvalue here.
    """
    values, vectors = np.linalg.eigh(gram)
    first, axes = values[: -RANK - 1 : -1], vectors[:, : -RANK - 1 : -1]
    lam = float(first[-2:].mean())
    kept = {"weight decay": np.maximum(1 - lam / first, 0), "‖UV'‖²": first / (first + lam)}
    claim, what = "section_3_2_weight_decay", "distance of the best B from random starts to"
    checks = []
    for name, formula in (("weight decay", "Σ (1 − λ/σ²)₊ vv'"), ("‖UV'‖²", "Σ σ²/(σ² + λ) vv'")):
        decays = name == "weight decay"
        loss = Quadratic(gram, np.full(ITEMS, 0.0 if decays else lam))
        found = product_of(descended(loss, RANK, STARTS, rng, lam if decays else 0.0))
        distance = np.abs(found - axes * kept[name] @ axes.T).max()
        checks.append(equal(claim, f"{name}: {what} {formula}", distance, 0, DESCENT))
    return checks


def _feature_checks(x: Matrix) -> list[Check]:
    """Checks of what dropout adds by feature, over every mask: of raw and standardised features."""
    p, claim = 0.4, "section_3_2_standardised"
    shifted = x + np.linspace(-1, 3, x.shape[1])  # means that differ more than the deviations
    per_moment = induced_penalty(shifted, p) / np.mean(shifted**2, axis=0)
    found = induced_penalty((x - x.mean(axis=0)) / x.std(axis=0), p)
    what = "every mask: penalty of standardised features, the largest over"
    return [
        equal(
            "section_3_2_moments",
            "every mask: penalty over the uncentred second moment, largest over smallest",
            per_moment.max() / per_moment.min(),
            1,
            EXACT,
        ),
        equal(claim, f"{what} the smallest", found.max() / found.min(), 1, EXACT),
        equal(claim, f"{what} p/q, per row of X", found.max() / ratio(p) / len(x), 1, EXACT),
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
            f"{what} least rise as p rises by 1/20",
            (np.diff(found, axis=0) / middle).min(),
            0.05,
        ),
        equal(claim, f"{what} over p/q, farthest from 1", _far(per_ratio), 1, EXACT),
        at_least(claim, f"{what} smallest at p = 1 − 1e-6", last.min(), 0.9e6),
    ]


def _far(ratios: Vector) -> float:
    return float(ratios.flat[np.argmax(np.abs(ratios - 1))])


def _square(weight: Matrix) -> float:
    return float(np.sum(weight**2))
