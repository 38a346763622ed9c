"""Mianjy 2018, Section 4: searches that know nothing of the list of critical points."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from scipy.optimize import least_squares

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import CORRECTED, PRINTED, Check, Form, at_least, at_most, equal
from lindrop.dropout.landscape import Tied, critical_points, hessian, tied_hessian
from lindrop.dropout.multistart import minima
from lindrop.dropout.objective import gradient, objective, tied_gradient, tied_objective
from lindrop.dropout.optimum import optimal_value

STARTS = 30  # of the root finder, for every M and λ
KINDS = 100  # of critical points that it has to find, all in all
DESCENTS = 8
LARGEST_LAM = 10.0  # of the descents: beyond, L-BFGS stops on flat ground
FAR = 100.0  # times M: then a start of normal numbers is near zero

Function = Callable[[Matrix], Matrix]

SAME = 1e-9  # the difference of equal values
STRICT = 1e-6  # an eigenvalue that far below zero makes a saddle strict


def fingerprint(value: float, product: Matrix) -> Vector:
    """What critical points of one kind share: f and the singular values of UV'."""
    return np.array([value, *np.linalg.svd(product, compute_uv=False)])


def completeness(
    claim: str, what: str, found: list[Matrix], known: list[Matrix], form: Form = PRINTED
) -> Iterator[Check]:
    """What is found in each problem is known there; and it is not always the same."""
    apart = [
        np.abs(prints[:, None] - kinds).max(axis=2)
        for prints, kinds in zip(found, known, strict=True)
    ]
    farthest = max(distance.min(axis=1).max() for distance in apart)
    text = f"{what}: farthest from the listed ones in f or a singular value"
    yield equal(claim, text, farthest, 0, SAME, form)
    kinds = sum(len(set(distance.argmin(axis=1))) for distance in apart)
    yield at_least(claim, f"{what}: how many different ones", kinds, KINDS, 0, form)


def roots(
    slope: Function, curved: Function, shape: tuple[int, int], rng: np.random.Generator
) -> Iterator[Matrix]:
    """Where Levenberg and Marquardt's method solves ∇f = 0, whatever kind of point that is."""
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
    """Their fingerprints."""
    m, lam = of.m, of.lam
    found = roots(
        lambda u: tied_gradient(m, u, lam), lambda u: tied_hessian(m, u, lam), (len(m), of.r), rng
    )
    return np.array([fingerprint(tied_objective(m, u, lam), u @ u.T) for u in found])


def _free_roots(of: Tied, rng: np.random.Generator) -> tuple[Matrix, Vector, Vector]:
    """Their fingerprints, f's excess over the global value and least eigenvalues."""
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
    return prints, prints[:, 0] - optimal_value(m, of.r, lam), least


def tall(of: Tied, rng: np.random.Generator) -> Matrix:
    """A matrix with one row more than M and its singular values."""
    d = len(of.values)
    left = np.linalg.qr(rng.normal(size=(d + 1, d)))[0]
    return np.asarray((left * of.values) @ of.vectors.T)


def root_checks(cases: list[Tied], rng: np.random.Generator) -> Iterator[Check]:
    """Theorem 4.3: the list is complete. E10: for free weights it is the same.

    For λU'U dMat(‖v_i‖²) = U'(M − UV')V = λ dMat(‖u_i‖²) V'V, either by one half of ∇f = 0. With
    nodes rescaled to ‖u_i‖ = ‖v_i‖, U'U = V'V follows, and that nodes of unequal norms are
    orthogonal; then all is as with tied weights, M's singular vectors in place of eigenvectors.
    """
    known = [
        np.array([fingerprint(p.value, p.u @ p.u.T) for p in critical_points(of)]) for of in cases
    ]
    tied = [_tied_roots(of, rng) for of in cases]
    yield from completeness("theorem_4_3", "roots of ∇f(U)", tied, known)
    prints, excess, least = zip(*(_free_roots(of, rng) for of in cases), strict=True)
    yield from completeness("e10", "roots of ∇f(U, V)", list(prints), known, CORRECTED)
    worse, eigenvalues = np.concatenate(excess) > SAME, np.concatenate(least)
    # near a singular Hessian a last bit moves the root: further digits are not the matrix's
    largest = float(f"{eigenvalues[worse].max():.3g}")
    yield strict_saddles("e10", "roots of ∇f(U, V), not global", [largest], CORRECTED)
    yield no_saddles("e10", "roots of ∇f(U, V), global", eigenvalues[~worse], CORRECTED)


def descent_check(cases: list[Tied], rng: np.random.Generator) -> Check:
    """Free weights: where L-BFGS ends."""
    excess = []
    for of in cases:
        if of.lam <= LARGEST_LAM:
            m = FAR * tall(of, rng)
            best = optimal_value(m, of.r, of.lam)
            excess += [end.value / best - 1 for end in minima(m, of.r, of.lam, DESCENTS, rng)]
    what = f"{len(excess)} descents on f(U, V), λ ≤ {LARGEST_LAM:g}: largest relative excess of f"
    return equal("e10", what, max(excess), 0, 1e-8, CORRECTED)


def strict_saddles(claim: str, what: str, least: Iterable[float], form: Form = PRINTED) -> Check:
    """Every Hessian has a negative eigenvalue."""
    return at_most(claim, f"{what}: largest λ_min(∇²f)", max(least), -STRICT, form=form)


def no_saddles(claim: str, what: str, least: Iterable[float], form: Form = PRINTED) -> Check:
    """No Hessian has one."""
    return at_least(claim, f"{what}: smallest λ_min(∇²f)", min(least), 0, 1e-8, form)
