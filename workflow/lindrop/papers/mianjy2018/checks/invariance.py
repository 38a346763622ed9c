"""Mianjy 2018, Sections 2 and 3: what rotations and rescalings of the hidden nodes change."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import Check, at_least, at_most, equal
from lindrop.dropout.equalise import equalised, equalizer
from lindrop.dropout.objective import (
    expected_loss,
    importance,
    objective,
    path_regulariser,
    squared_norms,
)

SHAPES = (5, 4, 2), (6, 5, 4), (4, 6, 9)  # triples of d₁, d₂ and r
REPEATS = 20
LAM = 0.7
UNEQUAL = 1e-10  # least relative difference in a strict inequality


class Pair(NamedTuple):
    """A target M, weights U and V, and a rotation of the hidden nodes."""

    m: Matrix
    u: Matrix
    v: Matrix
    q: Matrix


def checks(seed: int) -> list[Check]:
    """Checks of rotations, rescalings (Remark 3.1), and lower bounds of R, on random networks."""
    rng = np.random.default_rng(seed)
    pairs = [random_pair(rng, *shape) for shape in SHAPES for _ in range(REPEATS)]
    tied = [Pair(of.m @ of.m.T, of.u, of.u, of.q) for of in pairs]
    return [
        *_rotation("section_2_rotation", tied),
        *_rotation("section_3_rotation", pairs),
        *_section_2_bound(tied),
        *_remark_3_1(pairs, rng),
        *_section_3_bound(pairs),
        _section_3_reduction(pairs),
    ]


def random_pair(rng: np.random.Generator, rows: int, columns: int, r: int) -> Pair:
    """Random M, U, V and rotation."""
    shapes = (rows, columns), (rows, r), (columns, r), (r, r)
    m, u, v, square = (rng.normal(size=shape) for shape in shapes)
    return Pair(m, u, v, np.linalg.qr(square)[0])


def _rotation(claim: str, pairs: list[Pair]) -> Iterator[Check]:
    """Checks that ℓ(UQ, VQ) = ℓ(U, V), and that R(UQ, VQ) depends on Q."""
    losses, regularisers = [], []
    for m, u, v, q in pairs:
        losses.append(abs(expected_loss(m, u @ q, v @ q) / expected_loss(m, u, v) - 1))
        regularisers.append(abs(path_regulariser(u @ q, v @ q) / path_regulariser(u, v) - 1))
    what = "change by a random rotation, relative: the"
    yield equal(claim, f"{what} largest of the loss", max(losses), 0, 1e-12)
    yield at_least(claim, f"{what} smallest of ψ₂", min(regularisers), UNEQUAL)


def _section_2_bound(tied: list[Pair]) -> Iterator[Check]:
    """Checks of R(U, U) ≥ (λ/r)‖U‖⁴, with equality for equalised weights only.

    Every U has a rotation that equalises it.
    """
    loose, tight, change = [], [], []
    for m, u, v, _ in tied:
        bound = np.sum(u**2) ** 2 / u.shape[1]
        turned = u @ equalizer(u)
        loose.append(squared_norms(u) @ squared_norms(v) / bound)
        tight.append(abs(squared_norms(turned) @ squared_norms(turned) / bound - 1))
        change.append(objective(m, turned, turned, LAM) / objective(m, u, u, LAM) - 1)
    what = "R / ((λ/r)‖U‖⁴)"
    yield at_least("section_2_bound", f"{what}, random U: smallest", min(loose), 1 + UNEQUAL)
    yield equal("section_2_bound", f"{what} of equalised U: distance to 1", max(tight), 0, 1e-12)
    what = "random U: largest relative change of f by equalising"
    yield at_most("section_2_bound", what, max(change), -UNEQUAL)


def _remark_3_1(pairs: list[Pair], rng: np.random.Generator) -> Iterator[Check]:
    losses, regularisers = [], []
    for m, u, v, _ in pairs:
        scale = rng.uniform(0.2, 5, u.shape[1])
        losses.append(abs(expected_loss(m, u * scale, v / scale) / expected_loss(m, u, v) - 1))
        rescaled = path_regulariser(u * scale, v / scale)
        regularisers.append(abs(rescaled / path_regulariser(u, v) - 1))
    what = "largest relative change by rescaling nodes at random:"
    yield equal("remark_3_1", f"{what} loss", max(losses), 0, 1e-12)
    yield equal("remark_3_1", f"{what} ψ₂", max(regularisers), 0, 1e-12)


def _section_3_bound(pairs: list[Pair]) -> Iterator[Check]:
    """Checks of R(U, V) ≥ (λ/r)(Σ‖u_i‖‖v_i‖)².

    Equality holds for jointly equalised weights only.
    """
    loose, tight = [], []
    for _, u, v, _ in pairs:
        scores = importance(u, v)
        loose.append(scores @ scores / (scores.sum() ** 2 / len(scores)))
        even = importance(u / scores, v)
        tight.append(abs(even @ even / (even.sum() ** 2 / len(even)) - 1))
    what = "R / ((λ/r)(Σ‖u_i‖‖v_i‖)²)"
    yield at_least("section_3_bound", f"{what}, random networks: smallest", min(loose), 1 + UNEQUAL)
    what = f"{what} of jointly equalised networks: distance to 1"
    yield equal("section_3_bound", what, max(tight), 0, 1e-12)


def _section_3_reduction(pairs: list[Pair]) -> Check:
    """Check that the equalised network of Theorem 3.3 has the smaller objective."""
    change = [
        objective(of.m, *equalised(of.u, of.v), LAM) / objective(of.m, of.u, of.v, LAM) - 1
        for of in pairs
    ]
    what = "random networks: largest relative change of f by equalising"
    return at_most("section_3_reduction", what, max(change), -UNEQUAL)
