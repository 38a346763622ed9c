"""Steck 2020, Section 3.2: how dropout's penalty differs from weight decay."""

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import CORRECTED, Check, at_least, equal
from lindrop.dropout.multistart import descents
from lindrop.papers.steck2020.problems import EXACT, Quadratic, enumerable, noise, ratio

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
        found = _best(gram, lam, name == "weight decay", rng)
        distance = np.abs(found - axes * kept[name] @ axes.T).max()
        checks.append(equal(claim, f"{name}: {what} {formula}", distance, 0, DESCENT))
    return checks


def _best(gram: Matrix, lam: float, decay: bool, rng: np.random.Generator) -> Matrix:
    """Minimiser B = UV' of row 1 or 2 of Table 1, by descent."""
    loss = Quadratic(gram, np.full(ITEMS, 0.0 if decay else lam))

    def value_and_slope(flat: Vector) -> tuple[float, Vector]:
        u, v = flat.reshape(2, ITEMS, RANK)
        b, weights = u @ v.T, lam * float(decay) * flat
        slope = loss.slope(b)
        of_weights = np.stack((slope @ v, slope.T @ u)).ravel() + 2 * weights
        return loss.value(b) + float(weights @ flat), of_weights

    _, flat = descents(value_and_slope, 2 * ITEMS * RANK, STARTS, rng)[0]
    u, v = flat.reshape(2, ITEMS, RANK)
    return np.asarray(u @ v.T)


def _feature_checks(x: Matrix) -> list[Check]:
    """Checks of Λ_ii of standardised features: p/q times the number of rows."""
    p, claim = 0.4, "section_3_2_standardised"
    moments = np.mean(x**2, axis=0)
    per_moment = noise(x, p) / moments
    found = noise((x - x.mean(axis=0)) / x.std(axis=0), p)
    what = "Λ_ii of standardised features, the largest"
    return [
        equal(
            "section_3_2_moments",
            "Λ_ii over the second moment, largest over smallest",
            per_moment.max() / per_moment.min(),
            1,
            EXACT,
        ),
        equal(claim, f"{what} over the smallest", found.max() / found.min(), 1, EXACT),
        equal(claim, f"{what} over p/q", found.max() / ratio(p), 1, EXACT),
        equal(
            claim,
            f"{what} over p/q times the rows",
            found.max() / ratio(p) / len(x),
            1,
            EXACT,
            CORRECTED,
        ),
    ]


def _strength_checks(x: Matrix) -> list[Check]:
    grid = np.linspace(0.01, 0.99, 99)
    rises = np.diff([noise(x, p) for p in grid], axis=0) / noise(x, 0.5)
    last = (noise(x, 1 - 1e-12) / noise(x, 0.5)).min()
    claim, what = "section_3_2_strength", "in units of Λ at p = 1/2, smallest of all features:"
    return [
        at_least(claim, f"{what} rise of Λ as p rises by 1/100", rises.min(), 0.01),
        at_least(claim, f"{what} Λ at p = 1 − 1e-12", last, 1e11),
    ]


def _square(weight: Matrix) -> float:
    return float(np.sum(weight**2))
