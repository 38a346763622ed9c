"""Solvers of Eq. 10 and Eq. 11 as Steck 2020 published them, in dense float64, for comparison only.

`notebook_*` transcribe the update rules of the paper's public notebook, `printed_*` those of its
supplement. They form products of items × items matrices, and diverge or converge to another point
than the optimum (errata E3 to E5). `quick_alternation` has the iterates of the latter without most
of these products. `admm` and `als` have the corrected solvers.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import scipy.linalg as sl

from lindrop.base.arrays import Matrix, Vector
from lindrop.base.blas_kernels import LARGEST_FACTORED
from lindrop.linalg.inverse import invert_lower
from lindrop.linalg.triangle import mirror_lower
from lindrop.models.base import dropout_penalty
from lindrop.models.edlae.objective import row_products

START_SCALE = 1e-4


def notebook_start(items: int, rank: int, seed: int = 0) -> Matrix:
    """Random encoder from which the notebook's ADMM starts, by NumPy's legacy generator."""
    start: Matrix = np.random.RandomState(seed).randn(items, rank) * START_SCALE
    return start


def notebook_admm(
    gram: Matrix, p: float, ridge: float, omega: float, u: Matrix
) -> Iterator[tuple[Matrix, Matrix]]:
    """Yield U, V of the notebook's ADMM without end: Ω in the V-step only, β clipped at 0 (E4)."""
    diagonal = gram.diagonal()
    penalty = dropout_penalty(diagonal, p, ridge)
    weight = penalty + omega
    h = gram + np.diag(penalty)
    inverse = np.linalg.inv(h)
    beta, gamma = np.zeros((2, len(gram)))
    while True:
        right = gram * (1.0 + beta) + np.diag(weight * (beta - gamma))
        v = np.linalg.solve(u.T @ (h + np.diag(weight)) @ u, u.T @ right).T
        u = inverse @ (right @ (v @ np.linalg.inv(v.T @ v)))
        product_diagonal = np.einsum("ij,ij->i", u, v)
        explained = np.einsum("ij,ij->i", gram @ u, v)
        beta = explained - diagonal + weight * (product_diagonal + gamma)
        beta = np.maximum(beta / (diagonal + weight - penalty), 0.0)
        gamma = gamma + product_diagonal - beta
        yield u, v


def printed_admm(
    gram: Matrix, p: float, ridge: float, omega: float, v: Matrix
) -> Iterator[tuple[Matrix, Matrix]]:
    """Yield U, V of the supplement's Section 3 without end: Ω penalises all of UV' (E3)."""
    diagonal = gram.diagonal()
    penalty = dropout_penalty(diagonal, p, ridge)
    weight = penalty + omega
    h = gram + np.diag(penalty + weight)
    inverse = np.linalg.inv(h)
    beta, gamma = np.zeros((2, len(gram)))
    while True:
        right = gram * (1.0 + beta) + np.diag(weight * (beta - gamma))
        u = inverse @ (right @ (v @ np.linalg.inv(v.T @ v)))
        v = np.linalg.solve(u.T @ h @ u, u.T @ right).T
        product_diagonal = np.einsum("ij,ij->i", u, v)
        explained = np.einsum("ij,ij->i", gram @ u, v)
        beta = explained - diagonal + weight * (product_diagonal + gamma)
        beta = beta / (diagonal + weight - penalty)
        gamma = gamma + product_diagonal - beta
        yield u, v


def printed_alternation(
    gram: Matrix, p: float, ridge: float, v: Matrix, zero_diagonal: bool
) -> Iterator[tuple[Matrix, Matrix]]:
    """Yield U, V of the supplement's Section 4 (Eq. 29 to 32) without end.

    With `zero_diagonal` it aims at Eq. 11, but converges to a stationary point only if
    rank² - 1 ≳ items (E5). Without, it is the notebook's solver of rows 2 and 3 of Table 1.
    """
    diagonal = gram.diagonal()
    penalty = dropout_penalty(diagonal, p, ridge)
    h = gram + np.diag(penalty)
    inverse = np.linalg.inv(h)
    while True:
        dual = v @ np.linalg.inv(v.T @ v)
        shrink = penalty
        if zero_diagonal:  # shrink = η of Eq. 32 + Λ̃
            k = dual @ v.T
            shrink = np.linalg.solve(inverse * k, k.diagonal())
        u = dual - inverse @ (shrink[:, None] * dual)
        left = np.linalg.solve(u.T @ h @ u, u.T)
        v = (left @ gram).T
        if zero_diagonal:
            eta = np.einsum("ij,ij->i", u, v) / np.einsum("ij,ji->i", u, left)
            v = v - left.T * eta[:, None]
        yield u, v


def quick_alternation(
    gram: Matrix, penalty: Vector, v: Matrix, zero_diagonal: bool
) -> Iterator[tuple[Matrix, Matrix]]:
    """Iterates of `printed_alternation`, with products in an order that keeps them small.

    `penalty` is the diagonal of Λ̃. Only diag(UV') = 0 needs entries of an inverse, and one more
    items × items matrix, which it factorises in every iteration.
    """
    solved: Callable[[Matrix], Matrix]
    if zero_diagonal:
        inverse = ridge_inverse(gram, penalty)
        solved = inverse.__matmul__
    else:
        solved = ridge_solver(gram, penalty)
    while True:
        dual, shrink = v @ np.linalg.inv(v.T @ v), penalty
        if zero_diagonal:
            k = dual @ v.T
            own = k.diagonal().copy()
            k *= inverse
            shrink = _solve(k, own)
        u = dual - solved(shrink[:, None] * dual)
        gu = gram @ u
        left = np.linalg.inv(u.T @ (gu + penalty[:, None] * u))
        v = gu @ left
        if zero_diagonal:
            of = u @ left
            v -= of * (row_products(u, v) / row_products(u, of))[:, None]
        yield u, v


def ridge_solver(gram: Matrix, penalty: Vector) -> Callable[[Matrix], Matrix]:
    """Function that multiplies by (X'X + Λ̃)⁻¹, by a third of the operations of the inverse."""
    if len(gram) > LARGEST_FACTORED:
        return ridge_inverse(gram, penalty).__matmul__
    factor = gram.copy()
    factor.flat[:: len(factor) + 1] += penalty
    factor = sl.cholesky(factor.T, lower=True, overwrite_a=True, check_finite=False)
    return partial(sl.cho_solve, (factor, True), check_finite=False)


def ridge_inverse(gram: Matrix, penalty: Vector) -> Matrix:
    """Inverse of X'X + Λ̃, whose diagonal is `penalty`."""
    inverse = gram.copy()
    inverse.flat[:: len(inverse) + 1] += penalty
    invert_lower(inverse)
    mirror_lower(inverse)
    return inverse


def _solve(k: Matrix, right: Vector) -> Vector:
    """Solution of a symmetric positive definite system, where `k` is no longer needed."""
    if len(k) > LARGEST_FACTORED:
        large: Vector = np.linalg.solve(k, right)
        return large
    small: Vector = sl.solve(k, right, assume_a="pos", overwrite_a=True, check_finite=False)
    return small
