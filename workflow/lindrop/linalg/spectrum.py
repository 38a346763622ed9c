"""The largest eigenvalues of symmetric operators too large to decompose."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg as sl

from lindrop.reporting import logger

Matrix = npt.NDArray[Any]
Vector = npt.NDArray[Any]

DENSE = 2000  # decomposed whole up to here
BLOCK = 128
TOLERANCE = 1e-3  # of residuals, by the smallest wanted eigenvalue; values err by its square
RESTARTS = 60


def top_eigenpairs(
    times: Callable[[Matrix], Matrix], n: int, k: int, dtype: npt.DTypeLike, seed: int = 0
) -> tuple[Vector, Matrix]:
    """The k largest eigenvalues, descending, and their eigenvectors as columns (C order)."""
    if n <= DENSE or 3 * k >= n:
        values, vectors = sl.eigh(times(np.eye(n, dtype=dtype)), subset_by_index=(n - k, n - 1))
        return values[::-1].copy(), np.ascontiguousarray(vectors[:, ::-1])
    return _block_lanczos(times, n, k, np.dtype(dtype), np.random.default_rng(seed))


def _block_lanczos(
    times: Callable[[Matrix], Matrix],
    n: int,
    k: int,
    dtype: np.dtype[Any],
    rng: np.random.Generator,
) -> tuple[Vector, Matrix]:
    """Thick-restart block Lanczos with full reorthogonalisation.

    One block Krylov space is built up to twice the wanted size; its best Ritz vectors start the
    next one, together with the block to which all their residuals belong.
    """
    keep = k + BLOCK
    size = keep + max(keep, 8 * BLOCK)
    basis, image = np.empty((2, size, n), dtype)  # rows are vectors: blocks of them are contiguous
    block = _orthonormal(rng.standard_normal((BLOCK, n)).astype(dtype))
    used, values, worst = 0, np.empty(0), np.inf
    for restart in range(RESTARTS):
        while used + len(block) <= size:
            here = slice(used, used + len(block))
            basis[here] = block
            image[here] = times(block.T).T
            used = here.stop
            block = _orthonormal(image[here], against=basis[:used])
        projected = basis[:used] @ image[:used].T
        values, rotation = sl.eigh(
            (projected + projected.T) / 2, subset_by_index=(used - keep, used - 1)
        )
        values, rotation = values[::-1], np.ascontiguousarray(rotation[:, ::-1].T)
        basis[:keep], image[:keep] = rotation @ basis[:used], rotation @ image[:used]
        used = keep
        residual = image[:k] - values[:k, None] * basis[:k]
        worst = float(np.linalg.norm(residual, axis=1).max() / values[k - 1])
        logger.info("spectrum: restart %d, largest relative residual %.1e", restart, worst)
        if worst <= TOLERANCE:
            break
    else:
        logger.info("spectrum: not converged (%.1e above %.1e)", worst, TOLERANCE)
    return values[:k].copy(), np.ascontiguousarray(basis[:k].T)


def _orthonormal(rows: Matrix, against: Matrix | None = None) -> Matrix:
    """An orthonormal basis of some rows, orthogonal to others: twice, to be so in float32."""
    rows = rows.copy()
    for _ in range(2):
        if against is not None:
            rows -= (rows @ against.T) @ against
        rows = np.ascontiguousarray(sl.qr(rows.T, mode="economic", overwrite_a=True)[0].T)
    return rows
