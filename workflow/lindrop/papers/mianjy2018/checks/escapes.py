"""Mianjy 2018, contribution 3, Sections 4.2 and 6: saddles, the case λ = 0, falling variances."""

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import CHARITABLE, EXTENSION, Check, at_least, at_most, equal
from lindrop.dropout.landscape import Tied, critical_points, tied_hessian
from lindrop.dropout.objective import (
    gradient,
    importance,
    keep_of,
    tied_gradient,
    tied_objective,
)
from lindrop.dropout.optimum import tied_optimal_value
from lindrop.dropout.sgd import tied_dropout_sgd
from lindrop.papers.mianjy2018.critical_points import SAME, no_saddles, strict_saddles

VALUES = np.array([1.0, 0.7, 0.45, 0.2])  # eigenvalues of M
NODES = 2
LAM = 0.3  # below the bound of Theorem 4.3
NUDGE = 1e-3  # change of every weight at the start: zero weights have no gradient
STEPS, RATE = 100_000, 0.02
SPECTRUM, WIDTHS, LAMBDAS = np.exp(-np.arange(80) / 10), (20, 80), (0.1, 0.5, 1.0)  # Figure 3
MEAN_STEPS, MEAN_RATE, SMALL = 1000, 0.05, 0.1  # mean steps; size of the small normal weights


def checks(seed: int) -> list[Check]:
    """Checks of Algorithm 1 near saddles, of critical points at λ = 0, and of falling variances."""
    data, training, frames, starts = np.random.default_rng(seed).spawn(4)
    vectors = np.linalg.qr(data.normal(size=(len(VALUES),) * 2))[0]
    return [
        *_contribution_3(Tied(VALUES, vectors, NODES, LAM), training),
        *_section_4_2(Tied(VALUES, vectors, NODES, 0.0), frames),
        *_section_6_monotone(starts),
    ]


def _contribution_3(of: Tied, rng: np.random.Generator) -> Iterator[Check]:
    """Check of where Algorithm 1 ends, started near one saddle of every kind.

    An end below every saddle is near a global optimum, as there is no other critical point below.
    """
    m = of.m
    best = tied_optimal_value(m, of.r, of.lam)
    saddles = [point for point in critical_points(of) if point.value > best + SAME]
    rates = RATE * (1 - np.arange(STEPS) / STEPS)
    lowest = min(point.value for point in saddles) - best
    excess = []
    for point, stream in zip(saddles, rng.spawn(len(saddles)), strict=True):
        start = point.u + NUDGE * stream.normal(size=point.u.shape)
        (end,) = tied_dropout_sgd(m, start, keep_of(of.lam), rates, [STEPS], stream)
        excess.append(tied_objective(m, end, of.lam) - best)
    what = f"dropout from beside {len(saddles)} saddles: f above its least at the worst end"
    name = f"{what} / at the lowest saddle"
    yield at_most("contribution_3", name, max(excess) / lowest, 1)


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


def _section_6_monotone(rng: np.random.Generator) -> Iterator[Check]:
    """Checks of how the variance of importance scores falls, in the mean steps of Algorithm 1.

    The paper states no start. From factors of M's best approximation of rank r, turned by a random
    rotation, the variance falls at every step; these stay in the first r singular spaces of M, so
    r × r matrices are enough. From small normal weights it need not fall, because all scores begin
    near zero.
    """
    claim, settings = "section_6_monotone", list(product(WIDTHS, LAMBDAS))
    rises, small = [], []
    for r, lam in settings:
        q = np.linalg.qr(rng.normal(size=(r, r)))[0]
        turned = np.sqrt(SPECTRUM[:r])[:, None] * q
        rises.append(_largest_rise(np.diag(SPECTRUM[:r]), turned, turned, lam))
        if r < len(SPECTRUM):
            m = np.diag(SPECTRUM)
            u, v = SMALL * rng.normal(size=(2, len(m), r))
            small.append(_largest_rise(m, u, v, lam))
    what = "variance of importance after a mean step / before it, largest; start: factors of M's"
    of = f"best approximation of rank r, turned; {len(settings)} settings of Figure 3"
    yield at_most(claim, f"{what} {of}", max(rises), 1, 1e-12, CHARITABLE)
    what = f"the same from normal weights of standard deviation {SMALL:g}, r = {WIDTHS[0]}"
    yield at_least(claim, what, max(small), 1, form=EXTENSION)


def _largest_rise(m: Matrix, u: Matrix, v: Matrix, lam: float) -> float:
    """Largest variance of importance scores after a mean step over that before it."""
    variances = []
    for _ in range(MEAN_STEPS):
        variances.append(float(np.var(importance(u, v))))
        by_u, by_v = gradient(m, u, v, lam)
        u, v = u - MEAN_RATE / 2 * by_u, v - MEAN_RATE / 2 * by_v
    return float(np.max(np.divide(variances[1:], variances[:-1])))
