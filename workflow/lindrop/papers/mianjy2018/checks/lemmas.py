"""Mianjy 2018, Lemmas A.2 and A.3: the algebra that the proofs of the global optima rest on."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from lindrop.base.arrays import Vector
from lindrop.claims.checks import CORRECTED, Check, at_most, equal


def checks(seed: int) -> list[Check]:
    """Every check of this file."""
    return [_lemma_a2(), *_lemma_a3(np.random.default_rng(seed))]


def _lemma_a2() -> Check:
    """The claimed inverse times what it inverts, less the identity."""
    errors = []
    for rho, r, lam in product((1, 3, 10), (1, 4, 20), (0.01, 1.0, 100.0)):
        ones = np.ones((rho, rho))
        inverse = np.eye(rho) - lam / (r + lam * rho) * ones
        errors.append(np.abs((np.eye(rho) + lam / r * ones) @ inverse - np.eye(rho)).max())
    return equal("lemma_a2", "largest entry of product − identity", max(errors), 0, 1e-12)


def lemma_a3_function(a: Vector, r: int, lam: float, rho: int) -> float:
    """g(ρ) as Lemma A.3 defines it."""
    head = a[:rho]
    shift = lam * head.sum() / (r + lam * rho)
    return float(rho * shift**2 + a[rho:] @ a[rho:] + lam / r * np.sum(head - shift) ** 2)


def lemma_a3_short(a: Vector, r: int, lam: float, rho: int) -> float:
    """λh_ρ²/(r + λρ) + t_ρ, to which the proof simplifies g."""
    return float(lam * a[:rho].sum() ** 2 / (r + lam * rho) + a[rho:] @ a[rho:])


def lemma_a3_fall(a: Vector, r: int, lam: float, rho: int, subtrahend: float) -> float:
    """(λh_ρ − (r + λρ)·subtrahend)² / ((r + λρ)(r + λρ + λ)), the proof's g(ρ) − g(ρ + 1)."""
    scale = r + lam * rho
    return float((lam * a[:rho].sum() - scale * subtrahend) ** 2 / (scale * (scale + lam)))


def _lemma_a3(rng: np.random.Generator) -> Iterator[Check]:
    """The proof's last line has a_{ρ+1} squared: so it fails; without the square it holds."""
    rises, short, printed, corrected = [], [], [], []
    for r, lam in product((2, 5, 9), (0.1, 1.0, 10.0)):
        a = np.sort(rng.exponential(2, 12))[::-1]
        for rho in range(1, r):
            scale = lemma_a3_function(a, r, lam, rho)
            fall = scale - lemma_a3_function(a, r, lam, rho + 1)
            rises.append(-fall / scale)
            short.append(abs(lemma_a3_short(a, r, lam, rho) / scale - 1))
            printed.append(abs(lemma_a3_fall(a, r, lam, rho, a[rho] ** 2) - fall) / scale)
            corrected.append(abs(lemma_a3_fall(a, r, lam, rho, a[rho]) - fall) / scale)
    yield at_most("lemma_a3", "largest relative rise of g from ρ to ρ + 1", max(rises), 0, 1e-13)
    what = "error of the proof's simplified g, relative"
    yield equal("lemma_a3", what, max(short), 0, 1e-12)
    what = "error of the proof's last line, relative to g, with"
    yield equal("lemma_a3_proof", f"{what} the square of a_ρ+1", max(printed), 0, 1e-12)
    yield equal("lemma_a3_proof", f"{what} a_ρ+1 itself", max(corrected), 0, 1e-12, CORRECTED)
