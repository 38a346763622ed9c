"""Mianjy 2018, Eq. 1 to 3, 7 to 12 and Algorithm 1: what dropout minimises on average.

Every expectation is a sum over all masks and, where inputs occur, over all inputs.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import CHARITABLE, EXTENSION, Check, equal, relative_distance
from lindrop.dropout.enumeration import outcomes
from lindrop.dropout.objective import (
    expected_loss,
    gradient,
    lam_of,
    objective,
    path_regulariser,
    squared_norms,
    tied_gradient,
    tied_objective,
)

KEPT = 0.25, 0.5, 0.9  # values of θ
ROWS, COLUMNS, WIDTH = 5, 4, 4


class Network(NamedTuple):
    """Network UV'x for the target Mx, with hidden nodes kept with probability `keep` (θ)."""

    m: Matrix
    u: Matrix
    v: Matrix
    keep: float

    @property
    def objective(self) -> float:
        """f(U, V) in closed form (Eq. 2)."""
        return objective(self.m, self.u, self.v, lam_of(self.keep))


def checks(seed: int) -> list[Check]:
    """Checks of Lemma A.1 and its proof, Eq. 3, Eq. 7, Algorithm 1 and ∇f."""
    rng = np.random.default_rng(seed)
    networks = [random_network(rng, keep) for keep in KEPT]
    return [
        *_lemma_a1(networks),
        *_lemma_a1_proof(networks, rng),
        _algorithm_1(networks),
        *_equation_3(networks),
        *_equation_7(networks),
        *_gradient(networks, rng),
    ]


def random_network(rng: np.random.Generator, keep: float) -> Network:
    """Network with random M, U and V."""
    shapes = (ROWS, COLUMNS), (ROWS, WIDTH), (COLUMNS, WIDTH)
    m, u, v = (rng.normal(size=shape) for shape in shapes)
    return Network(m, u, v, keep)


def white_inputs(columns: int) -> Matrix:
    """Inputs ±√d e_i, all equally likely, for which E[xx'] = I exactly."""
    corners = np.concatenate((np.eye(columns), -np.eye(columns)))
    return np.asarray(np.sqrt(columns) * corners)


def enumerated_objective(of: Network) -> float:
    """f(U, V) of Eq. 1 by enumeration: E‖Mx − (1/θ) U diag(b) V'x‖²."""
    masks, probability = outcomes(WIDTH, of.keep)
    x = white_inputs(COLUMNS)
    answers = np.einsum("ir,br,nr->bni", of.u, masks, x @ of.v) / of.keep
    losses = np.sum((x @ of.m.T - answers) ** 2, axis=2).mean(axis=1)
    return float(probability @ losses)


def enumerated_square(matrix: Matrix) -> float:
    """E‖Ax‖² over all white inputs."""
    return float(np.mean(np.sum((white_inputs(matrix.shape[1]) @ matrix.T) ** 2, axis=1)))


def enumerated_step(of: Network) -> tuple[Matrix, Matrix]:
    """Mean of the steps that Algorithm 1 subtracts from U and V at η = 1."""
    masks, probability = outcomes(WIDTH, of.keep)
    x = white_inputs(COLUMNS)
    hidden = masks[:, None, :] * (x @ of.v)
    error = hidden @ of.u.T / of.keep - x @ of.m.T
    weights = probability / len(x)
    return (
        np.einsum("b,bni,bnr->ir", weights, error, hidden),
        np.einsum("b,nj,bnr->jr", weights, x, masks[:, None, :] * (error @ of.u)),
    )


def _lemma_a1(networks: list[Network]) -> Iterator[Check]:
    f = (abs(enumerated_objective(of) / of.objective - 1) for of in networks)
    what = "every mask and input enumerated: relative distance"
    yield equal("lemma_a1", f"{what} of f to ℓ + λ Σ‖u_i‖²‖v_i‖²", max(f), 0, 1e-13)
    losses = (
        abs(enumerated_square(of.m - of.u @ of.v.T) / expected_loss(of.m, of.u, of.v) - 1)
        for of in networks
    )
    yield equal("lemma_a1", f"{what} of ℓ to ‖M − UV'‖²", max(losses), 0, 1e-13)


def _lemma_a1_proof(networks: list[Network], rng: np.random.Generator) -> Iterator[Check]:
    """Checks of Eq. 9 to 12, and of the last sentence, read with the expectation over x."""
    square, cross, total = zip(*(_terms(of) for of in networks), strict=True)
    what = "every mask and input enumerated: relative error of"
    for equation, errors in (("10", square), ("11", cross), ("9 with 10 and 11, 12", total)):
        yield equal("lemma_a1_proof", f"{what} Eq. {equation}", max(errors), 0, 1e-12)
    a = rng.normal(size=(ROWS, COLUMNS))
    mean = enumerated_square(a) / np.sum(a**2)
    yield equal("lemma_a1_proof_end", "E‖Ax‖² / ‖A‖²", mean, 1, 1e-12, CHARITABLE)


def _terms(of: Network) -> tuple[float, float, float]:
    """Relative errors of Eq. 10, of Eq. 11, and of f as their sum with E‖y‖² (Eq. 9 and 12)."""
    m, u, v, keep = of
    masks, probability = outcomes(WIDTH, keep)
    masked = np.einsum("ir,br,jr->bij", u, masks, v)
    second = float(probability @ [enumerated_square(each) for each in masked])
    size = float(squared_norms(u) @ squared_norms(v))
    claimed = keep**2 * enumerated_square(u @ v.T) + (keep - keep**2) * size
    x = white_inputs(COLUMNS)
    third = np.einsum("b,ni,bij,nj->", probability / len(x), x @ m.T, masked, x, optimize=True)
    claimed_third = keep * np.mean(np.sum(x @ m.T * (x @ v @ u.T), axis=1))
    f = enumerated_square(m) + second / keep**2 - 2 / keep * third
    return (
        abs(second / claimed - 1),
        float(abs(third / claimed_third - 1)),
        float(abs(f / enumerated_objective(of) - 1)),
    )


def _algorithm_1(networks: list[Network]) -> Check:
    errors = []
    for of in networks:
        slope = np.concatenate(gradient(of.m, of.u, of.v, lam_of(of.keep)))
        step = np.concatenate(enumerated_step(of))
        errors.append(relative_distance(step, of.keep / 2 * slope))
    what = "every mask and input enumerated: relative distance of the mean step to (θ/2)∇f"
    return equal("algorithm_1", what, max(errors), 0, 1e-12)


def _equation_3(networks: list[Network]) -> Iterator[Check]:
    shares, roots = [], []
    for of in networks:
        paths = np.einsum("jr,kr->", of.u**2, of.v**2)  # sum of one term for every path
        psi = path_regulariser(of.u, of.v)
        roots.append(abs(psi / paths**0.5 - 1))
        excess = enumerated_objective(of) - expected_loss(of.m, of.u, of.v)
        shares.append(abs(excess / (lam_of(of.keep) * psi**2) - 1))
    what = "ψ₂ against the root of its sum over all paths: relative error"
    yield equal("equation_3", what, max(roots), 0, 1e-13)
    what = "R = f − ℓ, f over every mask, against λψ₂²: relative error"
    yield equal("equation_3", what, max(shares), 0, 1e-12)


def _equation_7(networks: list[Network]) -> Iterator[Check]:
    """Check of Eq. 7: dropping columns of a factorisation of M has the objective of Eq. 1."""
    errors = []
    for of in networks:
        masks, probability = outcomes(WIDTH, of.keep)
        masked = np.einsum("ir,br,jr->bij", of.u, masks, of.v) / of.keep
        mean = probability @ np.sum((of.m - masked) ** 2, axis=(1, 2))
        errors.append(abs(mean / enumerated_objective(of) - 1))
    what = "E‖M − (1/θ) U diag(b) V'‖² over every mask against f of Eq. 1: relative error"
    yield equal("equation_7", what, max(errors), 0, 1e-13)


def _gradient(networks: list[Network], rng: np.random.Generator) -> Iterator[Check]:
    """Checks of ∇f(U) with tied weights, for a symmetric M and for one that is not.

    It depends on M only through (M + M')/2.
    """
    printed, every = [], []
    for of in networks:
        slanted, lam = of.m[:COLUMNS], lam_of(of.keep)
        symmetric = slanted + slanted.T
        step = rng.normal(size=of.v.shape)
        as_printed = 4 * ((of.v @ of.v.T - symmetric) @ of.v + lam * of.v * squared_norms(of.v))
        slope = directional(partial(_tied_objective_at, m=symmetric, lam=lam), of.v, step)
        printed.append(abs(np.sum(as_printed * step) / slope - 1))
        slope = directional(partial(_tied_objective_at, m=slanted, lam=lam), of.v, step)
        every.append(abs(np.sum(tied_gradient(slanted, of.v, lam) * step) / slope - 1))
    what = "relative error of ∇f along a direction,"
    yield equal("gradient", f"{what} M symmetric", max(printed), 0, 1e-9)
    name = f"{what} (M + M')/2 for an M that is not symmetric"
    yield equal("gradient", name, max(every), 0, 1e-9, EXTENSION)


def _tied_objective_at(u: Matrix, m: Matrix, lam: float) -> float:
    return tied_objective(m, u, lam)


def directional(f: Callable[[Matrix], float], at: Matrix, step: Matrix, h: float = 0.1) -> float:
    """Derivative of `f` along `step`, by differences that are exact up to degree four."""
    first, second = (f(at + k * h * step) - f(at - k * h * step) for k in (1, 2))
    return (8 * first - second) / (12 * h)
