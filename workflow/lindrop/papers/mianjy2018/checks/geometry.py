"""Mianjy 2018, Section 4 and Appendix D: dropout's objective has no bad local minimum.

Theorem 4.3 claims this for small λ and tied weights; it holds for every λ and for free weights
(E10). With tied weights all critical points are known, so claims on all points are checked on all,
and a root finder that does not know the list must find no others. Curvatures come from differences
of f, which is a polynomial of degree four, so that they do not rest on the formula of the Hessian;
the Hessian itself is checked against them. As ‖M‖ = 1, tolerances need no scale.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import CHARITABLE, EXTENSION, PRINTED, Check, Form, at_least, equal
from lindrop.dropout.landscape import (
    CriticalPoint,
    Curve,
    Tied,
    critical_points,
    levelling,
    next_missing,
    tied_hessian,
)
from lindrop.dropout.objective import squared_norms, tied_gradient, tied_objective
from lindrop.dropout.optimum import effective_rank, tied_optimal_value
from lindrop.papers.mianjy2018.critical_points import (
    BENT,
    SAME,
    STRICT,
    descent_check,
    no_saddles,
    root_checks,
    second_difference,
    strict_saddles,
)

SHAPES = (5, 4), (6, 3)  # pairs of d and r
LAMS = 0.2, 1.0, 3.0, 10.0, 100.0
ROTATIONS = 2  # rotations of every critical point


class Examined(NamedTuple):
    """A critical point with the excess of f over the global value, and ∇²f.

    `least` is the smallest eigenvalue of ∇²f, and `direction` its eigenvector.
    """

    problem: Tied
    point: CriticalPoint
    excess: float
    hessian: Matrix
    least: float
    direction: Matrix

    def bend(self, step: Matrix) -> float:
        """Second derivative of f along a step, by differences of f."""
        m, lam = self.problem.m, self.problem.lam
        return second_difference(lambda u: tied_objective(m, u, lam), self.point.u, step)

    @property
    def optimal(self) -> bool:
        return self.excess < SAME

    @property
    def bounded(self) -> bool:
        """Whether λ is below the bound that Theorem 4.3 demands."""
        return self.problem.lam < printed_bound(self.problem)

    @property
    def case(self) -> int:
        """Case in the proof of Lemma D.3, or 0 if U is not equalised."""
        if not self.point.leading:
            return 3 if self.point.equalised else 0
        values, _, r, lam = self.problem
        return 1 if self.point.rank == effective_rank(values, r, lam) else 2


def checks(seed: int) -> list[Check]:
    """Checks of Theorem 4.3, Lemmas 4.1 and D.1 to D.3, and of the list of critical points."""
    first, second, third, fourth, fifth = np.random.default_rng(seed).spawn(5)
    cases = list(problems(first))
    points = [of for problem in cases for of in examined(problem, second)]
    return [
        *_theorem_checks(points),
        *_lemma_checks(points),
        *_curvature_checks(points),
        criticality("theorem_4_3", points),
        hessian_check("theorem_4_3", points, fifth),
        *root_checks(cases, third),
        descent_check(cases, fourth),
    ]


def printed_bound(of: Tied) -> float:
    """Bound of λ in Theorem 4.3: rλ_r / (Σ_{i≤r} λ_i − rλ_r)."""
    least = of.r * of.values[of.r - 1]
    return float(least / (of.values[: of.r].sum() - least))


def problems(rng: np.random.Generator) -> Iterator[Tied]:
    """Problems with eigenvalues near d, d − 1, …, 1, scaled.

    The values of λ in `LAMS` are on both sides of the printed bound.
    """
    for d, r in SHAPES:
        values = np.arange(d, 0, -1) + rng.uniform(0, 0.5, d)
        vectors = np.linalg.qr(rng.normal(size=(d, d)))[0]
        for lam in LAMS:
            yield Tied(values / np.linalg.norm(values), vectors, r, lam)


def examined(problem: Tied, rng: np.random.Generator) -> Iterator[Examined]:
    """All critical points, each in several rotations that keep its groups equalised."""
    m, lam = problem.m, problem.lam
    best = tied_optimal_value(m, problem.r, lam)
    for _ in range(ROTATIONS):
        for point in critical_points(problem, rng):
            curved = tied_hessian(m, point.u, lam)
            values, vectors = np.linalg.eigh(curved)
            direction = vectors[:, 0].reshape(point.u.shape)
            yield Examined(problem, point, point.value - best, curved, float(values[0]), direction)


def _theorem_checks(points: list[Examined]) -> Iterator[Check]:
    """Checks of Theorem 4.3 and Lemma D.3 for λ below the bound, and of E10 above it."""
    bounded = [of for of in points if of.bounded]
    beyond = [of for of in points if not of.bounded]
    for claim, form, side in (("theorem_4_3", PRINTED, bounded), ("e10", EXTENSION, beyond)):
        saddles = [of.bend(of.direction) for of in side if not of.optimal]
        what = f"{len(saddles)} critical points that are not global, {_where(side)}"
        yield strict_saddles(claim, what, saddles, form)
        lowest = (of.least for of in side if of.optimal)
        yield no_saddles(claim, "global critical points, the same λ", lowest, form)
    excess = max(of.excess for of in bounded if of.case == 1)
    yield equal("lemma_d3", "Case 1: largest excess over the global value", excess)
    saddles = [of.bend(of.direction) for of in bounded if of.case > 1]
    yield strict_saddles("lemma_d3", "Cases 2 and 3, λ below the printed bound", saddles)


def _where(points: list[Examined]) -> str:
    """Text that gives every λ and on which side of its bound it is."""
    sign = "<" if points[0].bounded else "≥"
    each = (f"λ = {of.problem.lam:g} {sign} {printed_bound(of.problem):.3g}" for of in points)
    return ", ".join(dict.fromkeys(each))


def _lemma_checks(points: list[Examined]) -> Iterator[Check]:
    """Checks of Lemmas 4.1, D.1 and D.2 for every λ."""
    spreads = (np.ptp(squared_norms(of.point.u)) for of in points if of.least > -STRICT)
    what = "critical points without negative curvature: largest spread of ‖u_i‖²"
    yield equal("lemma_4_1", what, max(spreads))
    gaps = (np.linalg.eigvalsh(of.problem.m - of.point.u @ of.point.u.T)[0] for of in points)
    what = f"{len(points)} critical points, M ≥ 0: smallest eigenvalue of M − UU'"
    yield at_least("lemma_d1", what, min(gaps), 0, 1e-10)
    unequal = [of.bend(of.direction) for of in points if of.case == 0]
    what = f"{len(unequal)} critical points that are not equalised"
    yield strict_saddles("lemma_d2", what, unequal)


def curvature(
    claim: str, what: str, curves: Iterable[tuple[Examined, Curve]], form: Form = PRINTED
) -> Check:
    """Check of the claimed second derivatives along curves, for tangents of length one."""
    errors = []
    for of, (tangent, claimed) in curves:
        size = np.linalg.norm(tangent)
        errors.append(abs(of.bend(tangent / size) - claimed / size**2))
    text = f"{what} against differences of f, on {len(errors)} curves: largest error"
    return equal(claim, text, max(errors), 0, BENT, form)


def hessian_check(claim: str, points: list[Examined], rng: np.random.Generator) -> Check:
    """Check of ∇²f, along a random direction and its first eigenvector at every point."""
    errors = []
    for of in points:
        random = rng.normal(size=of.point.u.shape)
        steps = random / np.linalg.norm(random), of.direction
        errors += [abs(step.ravel() @ of.hessian @ step.ravel() - of.bend(step)) for step in steps]
    what = f"∇²f against differences of f, {len(errors)} directions: largest error"
    return equal(claim, what, max(errors), 0, BENT)


def _curvature_checks(points: list[Examined]) -> Iterator[Check]:
    """Checks of the second derivatives in Lemma D.2's proof, and of that in E10."""
    level = [(of, curve) for of in points for curve in levelling(of.problem, of.point)]
    yield curvature("lemma_d2_proof", "g''(0), with the factor λ of R,", level, CHARITABLE)
    one = ((of, next_missing(of.problem, of.point)) for of in points if of.case == 2)
    yield curvature("e10", "−4(λ_{r'+1} − λ‖U‖²/r)", one, EXTENSION)


def criticality(claim: str, points: list[Examined]) -> Check:
    """Check that ∇f is zero at all listed points."""
    slopes = (tied_gradient(of.problem.m, of.point.u, of.problem.lam) for of in points)
    eigenvalues = (np.array2string(of.problem.values, precision=3) for of in points)
    spectra = ", ".join(dict.fromkeys(eigenvalues))
    what = f"{len(points)} listed critical points, M's eigenvalues {spectra}: largest ‖∇f‖"
    return equal(claim, what, max(float(np.linalg.norm(slope)) for slope in slopes), 0, 1e-10)
