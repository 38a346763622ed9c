"""Mianjy 2018, Section 4: searches for critical points, and whether they are strict saddles.

The searches do not use the list of critical points in `lindrop.dropout.landscape`.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from scipy.optimize import least_squares

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import EXTENSION, PRINTED, Check, Form, at_least, at_most, equal
from lindrop.dropout.landscape import Tied, critical_points, hessian, tied_hessian
from lindrop.dropout.multistart import minima
from lindrop.dropout.objective import gradient, objective, tied_gradient, tied_objective
from lindrop.dropout.optimum import optimal_value

STARTS = 30  # starts of the root finder, for every M and λ
DESCENTS = 8
LARGEST_LAM = 10.0  # largest λ of the descents: beyond it, L-BFGS stops on flat ground
FAR = 100.0  # factor of M, which makes a normal start relatively small

Function = Callable[[Matrix], Matrix]

SAME = 1e-9  # largest difference of equal values
BENT = 1e-9  # largest error of a second derivative by differences of f, whose terms grow with λ
STRICT = 1e-6  # an eigenvalue below −STRICT makes a saddle strict


def fingerprint(value: float, product: Matrix) -> Vector:
    """f and the singular values of UV', which critical points of one kind share."""
    return np.array([value, *np.linalg.svd(product, compute_uv=False)])


def completeness(
    claim: str, what: str, found: list[Matrix], known: list[Matrix], form: Form = PRINTED
) -> Check:
    """Check that all points found are listed; it says how many kinds of them there are."""
    apart = [
        np.abs(prints[:, None] - kinds).max(axis=2)
        for prints, kinds in zip(found, known, strict=True)
    ]
    farthest = max(distance.min(axis=1).max() for distance in apart)
    kinds = sum(len(set(distance.argmin(axis=1))) for distance in apart)
    text = f"{what} of {kinds} kinds: farthest from the listed ones in f or a singular value"
    return equal(claim, text, farthest, 0, SAME, form)


def roots(
    slope: Function, curved: Function, shape: tuple[int, int], rng: np.random.Generator
) -> Iterator[Matrix]:
    """Critical points of any kind: solutions of ∇f = 0 by the method of Levenberg and Marquardt."""
    for scale in np.linspace(0.1, 1, STARTS):
        end = least_squares(
            lambda flat: slope(flat.reshape(shape)).ravel(),
            scale * rng.normal(size=shape).ravel(),
            lambda flat: curved(flat.reshape(shape)),
            method="lm",
            ftol=1e-15,
            xtol=1e-15,
            gtol=1e-15,
        )
        if np.linalg.norm(end.fun) < SAME:
            yield end.x.reshape(shape)


def _tied_roots(of: Tied, rng: np.random.Generator) -> Matrix:
    """Fingerprints of the roots of ∇f with tied weights."""
    m, lam = of.m, of.lam
    found = roots(
        lambda u: tied_gradient(m, u, lam), lambda u: tied_hessian(m, u, lam), (len(m), of.r), rng
    )
    return np.array([fingerprint(tied_objective(m, u, lam), u @ u.T) for u in found])


def _free_roots(of: Tied, rng: np.random.Generator) -> tuple[Matrix, Vector, Vector, float]:
    """Fingerprints, excess of f and smallest eigenvalues of ∇²f of roots with free weights.

    Last comes the largest error of ∇²f along a random direction, against differences of f.
    """
    m, lam = tall(of, rng), of.lam
    rows, columns = m.shape

    def parts(weights: Matrix) -> tuple[Matrix, Matrix]:
        return weights[:rows], weights[rows:]

    found = [
        parts(weights)
        for weights in roots(
            lambda weights: np.concatenate(gradient(m, *parts(weights), lam)),
            lambda weights: hessian(m, *parts(weights), lam),
            (rows + columns, of.r),
            rng,
        )
    ]
    prints = np.array([fingerprint(objective(m, u, v, lam), u @ v.T) for u, v in found])
    least = np.array([np.linalg.eigvalsh(hessian(m, u, v, lam))[0] for u, v in found])

    def f(weights: Matrix) -> float:
        return objective(m, *parts(weights), lam)

    errors = []
    for u, v in found:
        step = rng.normal(size=(rows + columns, of.r))
        bend = second_difference(f, np.concatenate((u, v)), step / np.linalg.norm(step))
        claimed = step.ravel() @ hessian(m, u, v, lam) @ step.ravel() / np.sum(step**2)
        errors.append(abs(float(claimed) - bend))
    return prints, prints[:, 0] - optimal_value(m, of.r, lam), least, max(errors)


def second_difference(
    f: Callable[[Matrix], float], at: Matrix, step: Matrix, h: float = 0.3
) -> float:
    """Second derivative of `f` along `step`, by differences that are exact up to degree five."""
    first, second = (f(at + k * h * step) + f(at - k * h * step) for k in (1, 2))
    return (16 * first - second - 30 * f(at)) / (12 * h**2)


def tall(of: Tied, rng: np.random.Generator) -> Matrix:
    """A matrix with the singular values of M and one more row."""
    d = len(of.values)
    left = np.linalg.qr(rng.normal(size=(d + 1, d)))[0]
    return np.asarray((left * of.values) @ of.vectors.T)


def root_checks(cases: list[Tied], rng: np.random.Generator) -> Iterator[Check]:
    """Checks that the list is complete with tied weights (Theorem 4.3) and free ones (E10).

    With free weights, λU'U dMat(‖v_i‖²) = U'(M − UV')V = λ dMat(‖u_i‖²) V'V, either by one half of
    ∇f = 0. If nodes are rescaled to ‖u_i‖ = ‖v_i‖, it follows that U'U = V'V, and that nodes of
    unequal norms are orthogonal. The rest is as with tied weights, with singular vectors of M in
    place of eigenvectors.
    """
    known = [
        np.array([fingerprint(p.value, p.u @ p.u.T) for p in critical_points(of)]) for of in cases
    ]
    tied = [_tied_roots(of, rng) for of in cases]
    yield completeness("theorem_4_3", "roots of ∇f(U)", tied, known)
    prints, excess, least, errors = zip(*(_free_roots(of, rng) for of in cases), strict=True)
    yield completeness("e10", "roots of ∇f(U, V)", list(prints), known, EXTENSION)
    what = "roots of ∇f(U, V): largest error of ∇²f against differences of f"
    yield equal("e10", what, max(errors), 0, BENT, EXTENSION)
    worse, eigenvalues = np.concatenate(excess) > SAME, np.concatenate(least)
    # near a singular Hessian, rounding moves the root, so only the first digits are meaningful
    largest = float(f"{eigenvalues[worse].max():.3g}")
    yield strict_saddles("e10", "roots of ∇f(U, V), not global", [largest], EXTENSION)
    yield no_saddles("e10", "roots of ∇f(U, V), global", eigenvalues[~worse], EXTENSION)


def descent_check(cases: list[Tied], rng: np.random.Generator) -> Check:
    """Check that L-BFGS on free weights ends at the global value."""
    excess = []
    for of in cases:
        if of.lam <= LARGEST_LAM:
            m = FAR * tall(of, rng)
            best = optimal_value(m, of.r, of.lam)
            excess += [end.value / best - 1 for end in minima(m, of.r, of.lam, DESCENTS, rng)]
    what = f"{len(excess)} descents on f(U, V), λ ≤ {LARGEST_LAM:g}: largest relative excess of f"
    return equal("e10", what, max(excess), 0, 1e-8, EXTENSION)


def strict_saddles(claim: str, what: str, least: Iterable[float], form: Form = PRINTED) -> Check:
    """Check that every Hessian has a negative eigenvalue (Definition 4.2)."""
    return at_most(claim, f"{what}: largest λ_min(∇²f)", max(least), -STRICT, form=form)


def no_saddles(claim: str, what: str, least: Iterable[float], form: Form = PRINTED) -> Check:
    """Check that no Hessian has a negative eigenvalue."""
    return at_least(claim, f"{what}: smallest λ_min(∇²f)", min(least), 0, 1e-8, form)
