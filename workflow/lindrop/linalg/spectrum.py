"""Compute the largest eigenpairs of symmetric operators too large for a full decomposition."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg as sl

from lindrop.base.arrays import Matrix, Vector
from lindrop.base.reporting import logger
from lindrop.linalg.blas import product, product_into
from lindrop.linalg.packed import PackedGram

DENSE = 2000  # up to this size, the matrix is decomposed fully
BLOCK = 128  # vectors that a Krylov step adds
TOLERANCE = 1e-3  # of residuals, relative to the smallest wanted eigenvalue
RESTARTS = 60
PASSES = 5  # most passes of orthogonalisation; usually two are enough


def top_eigenpairs(
    times: Callable[[Matrix], Matrix], n: int, k: int, dtype: npt.DTypeLike, seed: int = 0
) -> tuple[Vector, Matrix]:
    """The k largest eigenvalues, descending, and their eigenvectors as columns (C order).

    `times` multiplies the n × n operator by a matrix of columns.
    """
    if n <= DENSE or 3 * k >= n:
        values, vectors = _decomposed(times(np.eye(n, dtype=dtype)), k)
        return values, np.ascontiguousarray(vectors)
    return _block_lanczos(times, n, k, np.dtype(dtype), np.random.default_rng(seed))


def _block_lanczos(
    times: Callable[[Matrix], Matrix],
    n: int,
    k: int,
    dtype: np.dtype[Any],
    rng: np.random.Generator,
) -> tuple[Vector, Matrix]:
    """Thick-restart block Lanczos with full reorthogonalisation.

    A block Krylov space is built up to at least twice the wanted size. Its best Ritz vectors start
    the next space, together with the block that spans all their residuals.
    """
    keep = k + BLOCK
    size = keep + max(keep, 8 * BLOCK)
    basis, image = np.empty((2, size, n), dtype)  # rows are vectors: blocks of them are contiguous
    block = _orthonormal(rng.standard_normal((BLOCK, n)).astype(dtype), basis[:0], rng)
    used, values, worst = 0, np.empty(0), np.inf
    precision = np.sqrt(n) * np.finfo(dtype).eps  # of residuals, relative to the largest eigenvalue
    for restart in range(RESTARTS):
        while used + len(block) <= size:
            here = slice(used, used + len(block))
            basis[here] = block
            image[here] = times(block.T).T
            used = here.stop
            block = _orthonormal(image[here], basis[:used], rng)
        projected = product(basis[:used], image[:used])
        values, rotation = _decomposed((projected + projected.T) / 2, keep)
        rotation = np.ascontiguousarray(rotation.T)
        for rows in (basis, image):
            rows[:keep] = product(rotation, rows[:used], transposed=False)
        used = keep
        residual = image[:k] - values[:k, None] * basis[:k]
        allowed = max(TOLERANCE * values[k - 1], precision * values[0])
        before, worst = worst, TOLERANCE * float(np.linalg.norm(residual, axis=1).max() / allowed)
        logger.info("spectrum: restart %d, largest relative residual %.1e", restart, worst)
        # an eigenvalue below the precision is zero: it is found once rounding stops the progress
        found_all = values[k - 1] <= precision * values[0] and worst > before / 2
        if worst <= TOLERANCE or found_all:
            break
    else:
        logger.info("spectrum: not converged (%.1e above %.1e)", worst, TOLERANCE)
    return values[:k].copy(), np.ascontiguousarray(basis[:k].T)


def _decomposed(matrix: Matrix, k: int) -> tuple[Vector, Matrix]:
    """The k largest eigenpairs of a symmetric matrix, descending, computed in float64.

    Rounding errors are proportional to the first eigenvalue, which is more than ten times the next,
    hence float64. All eigenpairs are computed, by divide and conquer: LAPACK's syevr takes longer
    even for half of them, and silently misses some of a cluster.
    """
    wide = matrix.astype(np.float64).T  # symmetric: the transpose is in LAPACK's order
    values, vectors = sl.eigh(wide, driver="evd", overwrite_a=True)
    first = slice(None, -k - 1, -1)
    return values[first].astype(matrix.dtype), vectors[:, first].astype(matrix.dtype)


def _orthonormal(rows: Matrix, against: Matrix, rng: np.random.Generator) -> Matrix:
    """Orthonormal basis of `rows`, also orthogonal to `against`; repeated until nothing changes.

    A row that depends linearly on the others is replaced by a random one.
    """
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(rows.dtype).tiny)
    for _ in range(PASSES):
        if len(against):
            product_into(rows, product(rows, against), against, -1.0, 1.0, transposed=False)
        q, r = sl.qr(rows.T, mode="economic", overwrite_a=True)
        rows, left = np.ascontiguousarray(q.T), np.abs(r.diagonal())
        if np.all(left > 0.5):
            break
        lost = np.flatnonzero(left < 100 * np.finfo(rows.dtype).eps)
        rows[lost] = rng.standard_normal((len(lost), rows.shape[1])) / np.sqrt(rows.shape[1])
    return rows


def regularised_spectrum(
    gram: PackedGram, penalty: Vector, rank: int, seed: int
) -> tuple[Vector, Matrix]:
    """Eigenvalues and eigenvectors of G C G = G - Λ̃ + Λ̃ C Λ̃, the `rank` largest.

    The minimum of row 3 of Table 1 is tr(G) minus the sum of these eigenvalues.
    """
    scale = penalty.astype(gram.dtype)[:, None]

    def times(y: Matrix) -> Matrix:
        product = gram.gram_times(y)
        product -= scale * (y - gram.inverse_times(scale * y))
        return product

    return top_eigenpairs(times, len(gram), rank, gram.dtype, seed)


def ridge_regression(gram: PackedGram, penalty: Vector, y: Matrix) -> Matrix:
    """C G Y = Y - C Λ̃ Y, the ridge regression of X Y on X with the penalty Λ̃."""
    return y - gram.inverse_times(penalty.astype(gram.dtype)[:, None] * y)
