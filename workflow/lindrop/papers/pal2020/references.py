"""Solutions of the problems of Pal 2020 found without its closed forms, to check these.

L-BFGS on the factors, sums over all masks, and the conjugates in Eq. 29 and 31. The only constraint
of the latter is the order of the unknowns, so pooling neighbours solves them exactly.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression, minimize

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import PRINTED, Check, Form, equal
from lindrop.dropout.balanced_blocks import fewest_blocks
from lindrop.dropout.dropblock import Optimum, gradient, objective, optimum
from lindrop.dropout.enumeration import outcomes
from lindrop.dropout.k_support import falling
from lindrop.dropout.multistart import EXACT, Minimum

ROWS, COLUMNS, INPUTS = 4, 5, 6  # a and N of Y (a × N), and b of X (b × N)
KEPT = 0.3, 0.5, 0.8  # values of θ or θ̄
STARTS = 4
DESCENT = EXACT | {"maxiter": 3000}
FLAT = 1e-9  # relative excess over the least entry of x that counts as larger
VALUE, PRODUCT = 1e-9, 1e-5  # tolerances of a descent: of f, and of what changes f to second order


class Problem(NamedTuple):
    """Singular values m of Y, and r and β of DropBlock."""

    m: Vector
    r: int
    beta: float

    @classmethod
    def random(cls, rng: np.random.Generator) -> "Problem":
        """A random problem."""
        m = falling(rng.exponential(size=rng.integers(4, 11)) ** rng.choice((0.5, 1, 2)))
        return cls(m, int(rng.integers(2, 6)), float(rng.choice((0.1, 0.3, 1, 3))))

    def value(self, a: Vector) -> float:
        """F (Eq. 12) of a product with singular values a."""
        return float(np.sum((self.m - a) ** 2) + self.beta * conjugate_norm(a, self.r))


class Case(NamedTuple):
    """A problem with X of full column rank, its closed-form solution, and the ends of descents."""

    y: Matrix
    x: Matrix
    r: int
    beta: float
    claimed: Optimum
    ends: list[Minimum]


def conjugate_norm(a: Vector, r: int) -> float:
    """Squared k-support norm by Eq. 31: max Σ a_i x_i − ¼ Σ_{i≤r} x_i² over falling x."""
    a = falling(a, r)
    x = conjugate_point(a, r)
    return float(a @ x - x[:r] @ x[:r] / 4)


def conjugate_point(a: Vector, r: int) -> Vector:
    """The falling x that attains the maximum in Eq. 31; it is constant from x_r on."""
    a = falling(a, r)
    pooled = np.append(a[: r - 1], a[r - 1 :].sum())
    x = isotonic_regression(2 * pooled, increasing=False).x
    return np.pad(x, (0, len(a) - r), mode="edge")


def conjugate_minimiser(problem: Problem) -> Vector:
    """Minimiser of F, by the conjugates of its two terms (that of Λ** is Eq. 29).

    It is m − z/2 with the falling z that maximises Σ m_i z_i − ¼ Σ z_i² − (1/4β) Σ_{i≤r} z_i².
    """
    m, r, beta = problem
    weights = np.where(np.arange(len(m)) < r, 1 + 1 / beta, 1)
    z = isotonic_regression(2 * m / weights, weights=weights, increasing=False).x
    return np.asarray(m - z / 2)


def least_bound(y: Matrix, r: int, beta: float) -> float:
    """Least F(A) = ‖Y − A‖² + β‖A‖² with the k-support norm, k = r, by the conjugates."""
    problem = Problem(np.linalg.svd(y, compute_uv=False), r, beta)
    return problem.value(conjugate_minimiser(problem))


def flat_from(m: Vector, r: int) -> int:
    """The ρ from which on the maximiser of Eq. 31 is constant."""
    x = conjugate_point(m, r)
    return 1 + int(np.count_nonzero(x > x[-1] * (1 + FLAT)))


def dropblock_minima(
    y: Matrix, x: Matrix, r: int, beta: float, blocks: int, rng: np.random.Generator
) -> list[Minimum]:
    """Ends of descents on f(U, V, d) (Eq. 8) from random starts, best first."""

    def value(u: Matrix, v: Matrix) -> float:
        return objective(y, x, u, v, r, beta)

    def slope(u: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        return gradient(y, x, u, v, r, beta)

    return factor_minima(value, slope, (len(y), len(x), blocks * r), rng)


def factor_minima(
    value: Callable[[Matrix, Matrix], float],
    slope: Callable[[Matrix, Matrix], tuple[Matrix, Matrix]],
    shape: tuple[int, int, int],
    rng: np.random.Generator,
) -> list[Minimum]:
    """Ends of L-BFGS on a function of U (a × d) and V (b × d) from random starts, best first."""
    a, b, d = shape

    def parts(flat: Vector) -> tuple[Matrix, Matrix]:
        weights = flat.reshape(a + b, d)
        return weights[:a], weights[a:]

    def value_and_slope(flat: Vector) -> tuple[float, Vector]:
        u, v = parts(flat)
        return value(u, v), np.concatenate(slope(u, v)).ravel()

    ends = [
        minimize(value_and_slope, start, jac=True, method="L-BFGS-B", options=DESCENT)
        for start in rng.normal(scale=0.5, size=(STARTS, (a + b) * d))
    ]
    return sorted((Minimum(float(end.fun), *parts(end.x)) for end in ends), key=lambda end: end[0])


def masked_objective(y: Matrix, x: Matrix, u: Matrix, v: Matrix, r: int, keep: float) -> float:
    """E‖Y − (1/θ) U(diag(w) ⊗ I_r)V'X‖² (Eq. 3), by enumeration of all masks of blocks."""
    masks, probability = outcomes(u.shape[1] // r, keep)
    kept = np.repeat(masks, r, axis=1)
    answers = np.einsum("ij,wj,jn->win", u, kept, v.T @ x) / keep
    return float(probability @ np.sum((y - answers) ** 2, axis=(1, 2)))


def case(r: int, beta: float, data: np.random.Generator, descent: np.random.Generator) -> Case:
    """A random problem with its solution and the ends of descents."""
    y, x = data.normal(size=(ROWS, COLUMNS)), full_inputs(INPUTS, COLUMNS, data)
    claimed = optimum(y, r, beta, x)
    blocks = fewest_blocks(claimed.values, r)
    return Case(y, x, r, beta, claimed, dropblock_minima(y, x, r, beta, blocks, descent))


def full_inputs(rows: int, columns: int, rng: np.random.Generator) -> Matrix:
    """Random X with singular values between 1 and 2, which keeps descents short."""
    left, _, right = np.linalg.svd(rng.normal(size=(rows, columns)), full_matrices=False)
    return np.asarray(left * rng.uniform(1, 2, min(rows, columns)) @ right)


def near_one(
    claim: str,
    what: str,
    ratios: Sequence[float] | Vector,
    tolerance: float = 1e-9,
    form: Form = PRINTED,
) -> Check:
    """Check that all ratios are 1, by the one farthest from it."""
    found = np.asarray(ratios)
    return equal(claim, what, found[np.argmax(np.abs(found - 1))], 1, tolerance, form)
