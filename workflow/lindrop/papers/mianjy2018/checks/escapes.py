"""Mianjy 2018, contribution 3 and Section 4.2: dropout leaves saddles; the case λ = 0."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import Check, at_least, at_most, equal
from lindrop.dropout.landscape import Tied, critical_points, tied_hessian
from lindrop.dropout.objective import keep_of, tied_gradient, tied_objective
from lindrop.dropout.optimum import tied_optimal_value
from lindrop.dropout.sgd import tied_dropout_sgd
from lindrop.papers.mianjy2018.critical_points import SAME, no_saddles, strict_saddles

VALUES = np.array([1.0, 0.7, 0.45, 0.2])  # eigenvalues of M
NODES = 2
LAM = 0.3  # below the bound of Theorem 4.3
NUDGE = 1e-3  # change of every weight at the start: zero weights have no gradient
STEPS, RATE = 100_000, 0.02
LEFT = 0.1  # largest excess of f at the end, over that at the saddle
GAP = 0.01  # largest excess of f at the end, over the least f


def checks(seed: int) -> list[Check]:
    """Checks of Algorithm 1 started near saddles, and of the critical points at λ = 0."""
    data, training, frames = np.random.default_rng(seed).spawn(3)
    vectors = np.linalg.qr(data.normal(size=(len(VALUES),) * 2))[0]
    return [
        *_contribution_3(Tied(VALUES, vectors, NODES, LAM), training),
        *_section_4_2(Tied(VALUES, vectors, NODES, 0.0), frames),
    ]


def _contribution_3(of: Tied, rng: np.random.Generator) -> Iterator[Check]:
    """Checks of where Algorithm 1 ends, started near one saddle of every kind."""
    m = of.m
    best = tied_optimal_value(m, of.r, of.lam)
    saddles = [point for point in critical_points(of) if point.value > best + SAME]
    rates = RATE * (1 - np.arange(STEPS) / STEPS)
    left, gaps = [], []
    for point, stream in zip(saddles, rng.spawn(len(saddles)), strict=True):
        start = point.u + NUDGE * stream.normal(size=point.u.shape)
        (end,) = tied_dropout_sgd(m, start, keep_of(of.lam), rates, [STEPS], stream)
        excess = tied_objective(m, end, of.lam) - best
        left.append(excess / (point.value - best))
        gaps.append(excess / best)
    what = (
        f"dropout from beside {len(saddles)} saddles: f's excess at the end over that at the start"
    )
    yield at_most("contribution_3", f"{what}, largest", max(left), LEFT)
    yield at_most("contribution_3", "f above its least at the end, relative", max(gaps), GAP)
    yield at_least("contribution_3", "kinds of saddles", len(saddles), 10)


def _section_4_2(of: Tied, rng: np.random.Generator) -> Iterator[Check]:
    """Checks of the critical points at λ = 0: U = W_E Λ_E^½ Q' with orthonormal Q.

    E runs over all sets of up to r eigenvectors.
    """
    m = of.m
    least = float(np.sum(of.values[of.r :] ** 2))
    points = [_spanning(of, spanned, rng) for spanned in _sets(of)]
    slopes = (np.linalg.norm(tied_gradient(m, u, 0.0)) for u in points)
    curvatures = [
        (tied_objective(m, u, 0.0) - least, np.linalg.eigvalsh(tied_hessian(m, u, 0.0))[0])
        for u in points
    ]
    what = f"λ = 0, {len(points)} critical points:"
    yield equal("section_4_2", f"{what} largest ‖∇f‖", max(slopes), 0, 1e-12)
    worse = [low for excess, low in curvatures if excess > SAME]
    yield strict_saddles("section_4_2", f"{what} {len(worse)} that are not global", worse)
    optimal = [low for excess, low in curvatures if excess <= SAME]
    yield no_saddles("section_4_2", f"{what} {len(optimal)} global", optimal)


def _sets(of: Tied) -> Iterator[list[int]]:
    """All sets of up to r eigenvectors, as lists of indices."""
    for size in range(of.r + 1):
        yield from map(list, combinations(range(len(of.values)), size))


def _spanning(of: Tied, spanned: list[int], rng: np.random.Generator) -> Matrix:
    """A critical point at λ = 0 that spans the given eigenvectors."""
    frame = np.linalg.qr(rng.normal(size=(of.r, of.r)))[0][: len(spanned)]
    return np.asarray(of.vectors[:, spanned] * np.sqrt(of.values[spanned]) @ frame)
