"""Mianjy 2018, Eq. 13 and 14, ρ, Lemmas A.2 and A.3: the problem in the singular values.

Theorems 2.4 and 3.6 reduce to: minimise Σ(σ_i − s_i)² + (λ/r)(Σ s_i)² over s ≥ 0, i ≤ r. This is a
problem of non-negative least squares, solved here by an active-set method independent of ρ.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import CHARITABLE, PRINTED, Check, Form, at_least, at_most, equal
from lindrop.dropout.multistart import minima, tied_minima
from lindrop.dropout.optimum import effective_rank, shrunk, top_eigen, top_singular
from lindrop.papers.mianjy2018.problems import COLUMNS, ROWS, VALUE, WIDTHS

PROBLEMS = 400  # problems on which the rule for ρ is tried
ROTATIONS = 50  # rotations of every pair of spectra in von Neumann's inequality
SEARCH = 1000  # steps of the search for the rotations of largest trace
REDUCED = 12  # problems that descents solve as a whole as well
STARTS = 4
ZERO = 1e-9


class Reduced(NamedTuple):
    """A problem, the first r singular values of M, and the minimiser s ≥ 0."""

    m: Matrix
    values: Vector
    r: int
    lam: float
    best: Vector

    @property
    def rank(self) -> int:
        """Number of positive s_i."""
        return int(np.count_nonzero(self.best > ZERO))

    @property
    def within(self) -> float:
        """Contribution of the first r singular values to f."""
        gap = self.values - self.best
        return float(gap @ gap + self.lam / self.r * self.best.sum() ** 2)

    @property
    def beyond(self) -> float:
        """Contribution of the others to f: Σ σ_i² over i > r."""
        return float(np.sum(self.m**2) - self.values @ self.values)

    @property
    def value(self) -> float:
        return self.within + self.beyond


def reduced(m: Matrix, values: Vector, r: int, lam: float) -> Reduced:
    """The problem with its minimiser, found by active sets."""
    rows = np.vstack((np.eye(len(values)), np.full(len(values), np.sqrt(lam / r))))
    return Reduced(m, values, r, lam, nnls(rows, np.append(values, 0.0))[0])


def checks(seed: int) -> list[Check]:
    """Checks of the reduction, of the rule for ρ, and of Lemmas A.2 and A.3."""
    rng, descent, rotations = np.random.default_rng(seed).spawn(3)
    found = [_random_problem(rng) for _ in range(PROBLEMS)]
    return [
        *_von_neumann(rotations),
        *_reductions(found[:REDUCED], descent),
        *_last_lines(found),
        _lemma_a2(),
        *_lemma_a3(np.random.default_rng(seed)),
    ]


def _random_problem(rng: np.random.Generator) -> Reduced:
    m = rng.normal(size=(ROWS, COLUMNS)) * rng.choice((0.3, 1, 5))
    r, lam = int(rng.integers(1, max(WIDTHS) + 1)), float(rng.choice((0.1, 1, 10)))
    return reduced(m, top_singular(m, r).values, r, lam)


def _tied(of: Reduced) -> Reduced:
    """The problem of tied weights with M'M as its target instead of M."""
    square = of.m.T @ of.m
    return reduced(square, top_eigen(square, of.r).values, of.r, of.lam)


def _von_neumann(rng: np.random.Generator) -> Iterator[Check]:
    """Checks of the trace inequality that both proofs use, and of where it is an equality.

    ⟨Λ_M, U'Λ_W U'ᵀ⟩ ≤ Σ λ_i(M)λ_i(W) for every rotation U' (tied weights), and ⟨Σ_M, U'Σ_W V'ᵀ⟩ ≤
    Σ σ_i(M)σ_i(W) for every two (free weights). A search from the best of random rotations must
    reach the right side, and no rotation may exceed it.
    """
    claims: tuple[tuple[str, bool, Form], ...] = (
        ("theorem_2_4_trace", False, PRINTED),
        ("theorem_3_6_trace", True, CHARITABLE),
    )
    for claim, two, form in claims:
        slack, gaps = [], []
        falling = np.arange(COLUMNS, 0, -1)
        for _ in range(REDUCED):
            first, second = (falling + rng.uniform(0, 0.5, len(falling)) for _ in range(2))
            bound = first @ second
            turns = [[_rotation(COLUMNS, rng) for _ in range(1 + two)] for _ in range(ROTATIONS)]
            traces = [_trace(first, second, turn[0], turn[-1]) for turn in turns]
            best = turns[int(np.argmax(traces))]
            slack.append(1 - max(traces) / bound)
            gaps.append(abs(_largest_trace(first, second, best) / bound - 1))
        what = f"{REDUCED} pairs of spectra:"
        number = f"{what} smallest slack of {ROTATIONS} random rotations each, relative"
        yield at_least(claim, number, min(slack), 0, 1e-14, form)
        reached = f"{what} largest trace that a search over rotations finds, distance to the bound"
        yield equal(claim, reached, max(gaps), 0, VALUE, form)


def _rotation(size: int, rng: np.random.Generator) -> Matrix:
    return np.asarray(np.linalg.qr(rng.normal(size=(size, size)))[0])


def _trace(first: Vector, second: Vector, left: Matrix, right: Matrix) -> float:
    """Trace ⟨dMat(first), left·dMat(second)·right'⟩."""
    return float(np.sum(first[:, None] * left * right @ second))


def _largest_trace(first: Vector, second: Vector, turns: list[Matrix]) -> float:
    """Largest trace that steps from the given rotations reach, each of which raises it.

    A step replaces a rotation by the orthogonal factor of the trace's derivative. One rotation
    stands for both sides with tied weights.
    """
    left, right = turns[0], turns[-1]
    for _ in range(SEARCH):
        left = _orthogonal_factor(first[:, None] * right * second)
        right = left if len(turns) == 1 else _orthogonal_factor(first[:, None] * left * second)
    return _trace(first, second, left, right)


def _orthogonal_factor(matrix: Matrix) -> Matrix:
    """The orthogonal factor of the polar decomposition."""
    left, _, right = np.linalg.svd(matrix)
    return np.asarray(left @ right)


def _reductions(found: list[Reduced], rng: np.random.Generator) -> Iterator[Check]:
    """Checks of the reduced problem's least value against descents on the whole problem."""
    whole, with_tied = [], []
    for of in found:
        whole.append(of.value / minima(of.m, of.r, of.lam, STARTS, rng)[0].value - 1)
        tied = _tied(of)
        least = tied_minima(tied.m, of.r, of.lam, STARTS, rng)[0].value
        with_tied.append(tied.value / least - 1)
    what = "reduced problem against descents, largest relative distance of the least values"
    yield equal("theorem_3_6_proof", what, np.abs(whole).max(), 0, VALUE)
    apart = np.abs(with_tied).max()
    yield equal("theorem_2_4_proof", f"{what}, tied weights", apart, 0, VALUE, CHARITABLE)


def _last_lines(found: list[Reduced]) -> Iterator[Check]:
    """Checks of the rule for ρ in the last line of both proofs, with the product λj κ_j."""
    missed = [of.rank != effective_rank(of.values, of.r, of.lam) for of in found]
    apart = [
        np.linalg.norm(shrunk(of.values, of.r, of.lam) - of.best) / of.values[0] for of in found
    ]
    what = f"{PROBLEMS} random problems: rule of the proof's last line, ρ wrong in how many"
    yield equal("theorem_3_6_proof", what, sum(missed))
    what = "its singular values, largest distance to the best ones relative to ‖M‖"
    yield equal("theorem_3_6_proof", what, max(apart), 0, ZERO)


def _lemma_a2() -> Check:
    """Check of Lemma A.2: the claimed inverse times its matrix is the identity."""
    errors = []
    for rho, r, lam in product((1, 3, 10), (1, 4, 20), (0.01, 1.0, 100.0)):
        ones = np.ones((rho, rho))
        inverse = np.eye(rho) - lam / (r + lam * rho) * ones
        errors.append(np.abs((np.eye(rho) + lam / r * ones) @ inverse - np.eye(rho)).max())
    return equal("lemma_a2", "largest entry of product − identity", max(errors), 0, 1e-12)


def lemma_a3_function(a: Vector, r: int, lam: float, rho: int) -> float:
    """g(ρ) of Lemma A.3."""
    head = a[:rho]
    shift = lam * head.sum() / (r + lam * rho)
    return float(rho * shift**2 + a[rho:] @ a[rho:] + lam / r * np.sum(head - shift) ** 2)


def lemma_a3_short(a: Vector, r: int, lam: float, rho: int) -> float:
    """λh_ρ²/(r + λρ) + t_ρ, the simplified g of the proof of Lemma A.3."""
    return float(lam * a[:rho].sum() ** 2 / (r + lam * rho) + a[rho:] @ a[rho:])


def lemma_a3_fall(a: Vector, r: int, lam: float, rho: int) -> float:
    """(λh_ρ − (r + λρ)a_{ρ+1})² / ((r + λρ)(r + λρ + λ)), the proof's g(ρ) − g(ρ + 1)."""
    scale = r + lam * rho
    return float((lam * a[:rho].sum() - scale * a[rho]) ** 2 / (scale * (scale + lam)))


def _lemma_a3(rng: np.random.Generator) -> Iterator[Check]:
    """Checks of Lemma A.3 and of its proof, with a_{ρ+1} itself in the last line's square."""
    rises, short, last = [], [], []
    for r, lam in product((2, 5, 9), (0.1, 1.0, 10.0)):
        a = np.sort(rng.exponential(2, 12))[::-1]
        for rho in range(1, r):
            scale = lemma_a3_function(a, r, lam, rho)
            fall = scale - lemma_a3_function(a, r, lam, rho + 1)
            rises.append(-fall / scale)
            short.append(abs(lemma_a3_short(a, r, lam, rho) / scale - 1))
            last.append(abs(lemma_a3_fall(a, r, lam, rho) - fall) / scale)
    yield at_most("lemma_a3", "largest relative rise of g from ρ to ρ + 1", max(rises), 0, 1e-13)
    what = "error of the proof's simplified g, relative"
    yield equal("lemma_a3", what, max(short), 0, 1e-12)
    what = "error of the proof's last line, relative to g, with a_ρ+1 in the square"
    yield equal("lemma_a3_proof", what, max(last), 0, 1e-12, CHARITABLE)
