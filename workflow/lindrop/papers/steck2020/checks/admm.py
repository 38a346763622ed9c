"""Steck 2020, supplement, Section 3: where ADMM for Eq. 10 ends, printed and published (E3, E4)."""

from itertools import islice

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import CORRECTED, Check, equal, relative_distance
from lindrop.models.base import LowRank
from lindrop.models.edlae.as_published import notebook_admm, notebook_start, printed_admm
from lindrop.models.edlae.fit import fit_edlae
from lindrop.papers.steck2020.problems import (
    EXACT,
    FEATURES,
    Quadratic,
    fitted,
    low_rank,
    noise,
    product_of,
    steepness,
    training,
)

P, OMEGA, RANK = 0.33, 50.0, 2
SWEEPS, ITERATIONS = 400, 4000  # of exact alternation and of the corrected ADMM
PUBLISHED, LONG = 20, 3000  # iterations of the notebook, and of the printed updates
MINIMAL = 1e-6  # what the solvers leave of the objective and of its slope


def checks(seed: int) -> list[Check]:
    """Every check of this file."""
    x = fitted(np.random.default_rng(seed))
    loss = Quadratic(x.T @ x, noise(x, P))
    exact, corrected = (
        _solved(x, solver, count) for solver, count in (("als", SWEEPS), ("admm", ITERATIONS))
    )
    least = loss.edlae(product_of(exact))
    reached = loss.edlae(product_of(corrected)) / least
    return [
        *_printed(loss, exact, least),
        equal("e3", "corrected ADMM: Eq. 10 over its minimum", reached, 1, MINIMAL, CORRECTED),
        *_notebook(loss, least),
        equal("e4", "corrected ADMM: Eq. 10 over its minimum", reached, 1, MINIMAL, CORRECTED),
    ]


def _solved(x: Matrix, solver: str, iterations: int) -> LowRank:
    ((_, fit),) = fit_edlae(
        training(x), [RANK], P, 0.0, solver=solver, iterations=iterations, tolerance=-1
    )
    return low_rank(fit)


def _printed(loss: Quadratic, exact: LowRank, least: float) -> list[Check]:
    """From the minimum, which the updates leave."""
    updates = printed_admm(loss.gram, P, 0.0, OMEGA, exact.decoder)
    end = LowRank(*next(islice(updates, LONG - 1, None)))
    stronger = Quadratic(loss.gram, 2 * loss.penalty + OMEGA)
    b = product_of(end)
    what = "printed ADMM, where it ends:"
    slope, other = (steepness(of.edlae_slope(b), end, loss.gram) for of in (loss, stronger))
    return [
        equal("e3", f"{what} Eq. 10 over its minimum", loss.edlae(b) / least, 1, MINIMAL),
        equal("e3", f"{what} slope of Eq. 10", slope, 0, MINIMAL),
        equal("e3", f"{what} slope of Eq. 10 with 2Λ + ωI for Λ", other, 0, MINIMAL, CORRECTED),
    ]


def _notebook(loss: Quadratic, least: float) -> list[Check]:
    """Its updates are not those of the supplement, and what they descend on has no minimum."""
    u = notebook_start(FEATURES, RANK)
    steps = list(islice(notebook_admm(loss.gram, P, 0.0, OMEGA, u), PUBLISHED))
    u, v = steps[0]
    ours, _ = next(printed_admm(loss.gram, P, 0.0, OMEGA, v))
    end = loss.edlae(product_of(LowRank(*steps[-1]))) / least
    first = relative_distance(u, ours)
    what, unbounded = "notebook's ADMM:", "Eq. 10 − ‖Ω^½ diag(UV')‖² at UV' = t dMat(1, 0, …)"
    return [
        equal("e4", f"{what} distance of its first U to the supplement's", first, 0, EXACT),
        equal("e4", f"{what} Eq. 10 over its minimum, iteration {PUBLISHED}", end, 1, MINIMAL),
        equal("e4", f"{unbounded}: rise over −Ω₁t²", _fall(loss, 1e3), 1, EXACT, CORRECTED),
    ]


def _fall(loss: Quadratic, t: float) -> float:
    """A rank-1 matrix with nothing off the diagonal leaves Eq. 10 as it is at any t."""
    omega = loss.penalty + OMEGA
    b = np.zeros_like(loss.gram)
    b[0, 0] = t
    rise = loss.edlae(b) - omega @ np.diag(b) ** 2 - loss.edlae(np.zeros_like(b))
    return float(rise / (-omega[0] * t**2))
