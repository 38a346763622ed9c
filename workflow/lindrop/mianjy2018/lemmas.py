"""Mianjy 2018: what dropout minimises (Lemma A.1) and the algebra that its proofs rest on."""

from itertools import product

import numpy as np

from lindrop.arrays import Matrix, Vector
from lindrop.checks import CORRECTED, Check, at_most, equal
from lindrop.dropout.enumeration import outcomes
from lindrop.dropout.objective import (
    expected_loss,
    gradient,
    lam_of,
    objective,
    path_regulariser,
)

KEPT = 0.25, 0.5, 0.9  # θ
ROWS, COLUMNS, WIDTH = 5, 4, 4


def lemma_checks(seed: int) -> list[Check]:
    """Every check of this file."""
    first, second, third = np.random.default_rng(seed).spawn(3)
    return [
        *_dropout_checks(first),
        *_invariance_checks(second),
        _lemma_a2(),
        *_lemma_a3(third),
    ]


def white_inputs(columns: int) -> Matrix:
    """±√d e_i, all equally likely: a distribution with E[xx'] = I exactly."""
    corners = np.concatenate((np.eye(columns), -np.eye(columns)))
    return np.asarray(np.sqrt(columns) * corners)


def enumerated_objective(m: Matrix, u: Matrix, v: Matrix, keep: float) -> float:
    """f(U, V) of Eq. 1, over every mask and input: E‖Mx − (1/θ) U diag(b) V'x‖²."""
    masks, probability = outcomes(u.shape[1], keep)
    x = white_inputs(m.shape[1])
    answers = np.einsum("ir,br,nr->bni", u, masks, x @ v) / keep
    losses = np.sum((x @ m.T - answers) ** 2, axis=2).mean(axis=1)
    return float(probability @ losses)


def enumerated_step(m: Matrix, u: Matrix, v: Matrix, keep: float) -> tuple[Matrix, Matrix]:
    """Mean of what Algorithm 1 subtracts from U and V at η = 1, over every mask and input."""
    masks, probability = outcomes(u.shape[1], keep)
    x = white_inputs(m.shape[1])
    hidden = masks[:, None, :] * (x @ v)
    error = hidden @ u.T / keep - x @ m.T
    weights = probability / len(x)
    return (
        np.einsum("b,bni,bnr->ir", weights, error, hidden),
        np.einsum("b,nj,bnr->jr", weights, x, masks[:, None, :] * (error @ u)),
    )


def _dropout_checks(rng: np.random.Generator) -> list[Check]:
    value_errors, step_errors = [], []
    for keep in KEPT:
        m, u, v = _problem(rng)
        value = objective(m, u, v, lam_of(keep))
        value_errors.append(abs(enumerated_objective(m, u, v, keep) / value - 1))
        slope = np.concatenate(gradient(m, u, v, lam_of(keep))) * keep / 2
        step = np.concatenate(enumerated_step(m, u, v, keep))
        step_errors.append(np.abs(step - slope).max() / np.abs(slope).max())
    what = "every mask and input enumerated: relative distance"
    return [
        equal("lemma_a1", f"{what} to ℓ + λ Σ‖u‖²‖v‖²", max(value_errors), tolerance=1e-13),
        equal("algorithm_1", f"{what} of the mean step to θ/2 ∇f", max(step_errors), 0, 1e-12),
    ]


def _invariance_checks(rng: np.random.Generator) -> list[Check]:
    m, u, v = _problem(rng)
    paths = np.einsum("jr,kr->", u**2, v**2)  # one term for every path
    dilation = rng.uniform(0.2, 5, WIDTH)
    keep = 0.7
    value, rescaled = (
        enumerated_objective(m, u * scale, v / scale, keep) for scale in (1.0, dilation)
    )
    psi = path_regulariser(u, v)
    share = (value - expected_loss(m, u, v)) / (lam_of(keep) * psi**2)
    return [
        equal("equation_3", "ψ₂ / the root of its sum over all paths", psi / paths**0.5, 1, 1e-13),
        equal("equation_3", "(f − ℓ) / λψ₂², f over every mask", share, 1, 1e-12),
        equal("remark_3_1", "f(UD, VD⁻¹) / f(U, V), random dilation D", rescaled / value, 1, 1e-13),
    ]


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


def lemma_a3_fall(a: Vector, r: int, lam: float, rho: int, subtrahend: float) -> float:
    """(λh_ρ − (r + λρ)·subtrahend)² / ((r + λρ)(r + λρ + λ)), the proof's g(ρ) − g(ρ + 1)."""
    scale = r + lam * rho
    return float((lam * a[:rho].sum() - scale * subtrahend) ** 2 / (scale * (scale + lam)))


def _lemma_a3(rng: np.random.Generator) -> list[Check]:
    """The proof's last line has a_{ρ+1} squared: so it fails; without the square it holds."""
    rises, printed, corrected = [], [], []
    for r, lam in product((2, 5, 9), (0.1, 1.0, 10.0)):
        a = np.sort(rng.exponential(2, 12))[::-1]
        for rho in range(1, r):
            fall = lemma_a3_function(a, r, lam, rho) - lemma_a3_function(a, r, lam, rho + 1)
            scale = lemma_a3_function(a, r, lam, rho)
            rises.append(-fall / scale)
            printed.append(abs(lemma_a3_fall(a, r, lam, rho, a[rho] ** 2) - fall) / scale)
            corrected.append(abs(lemma_a3_fall(a, r, lam, rho, a[rho]) - fall) / scale)
    what = "error of the proof's last line, relative to g"
    return [
        at_most("lemma_a3", "largest relative rise of g from ρ to ρ + 1", max(rises), 0, 1e-13),
        equal("lemma_a3_proof", what, max(printed), 0, 1e-12),
        equal("lemma_a3_proof", what, max(corrected), 0, 1e-12, CORRECTED),
    ]


def _problem(rng: np.random.Generator) -> tuple[Matrix, Matrix, Matrix]:
    return (
        rng.normal(size=(ROWS, COLUMNS)),
        rng.normal(size=(ROWS, WIDTH)),
        rng.normal(size=(COLUMNS, WIDTH)),
    )
