"""WMF (Hu et al. 2008, Pan et al. 2008): weighted factors of users and items, by `implicit`."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from lindrop.base.arrays import Matrix
from lindrop.base.errors import UserError
from lindrop.base.parallel import over_blocks, thread_count
from lindrop.base.reporting import Progress, logger
from lindrop.linalg.kernels import Array, Csr, compiled, csr
from lindrop.models.base import Fit, Training

USERS = 16  # folded in at a time


@dataclass(frozen=True)
class WeightedFactors:
    """Scores U Y' with item factors Y; each user's own U_u is the best one for this Y.

    U_u = (Y'Y + λI + α Σ x_ui y_i y_i')⁻¹ Σ (1 + α x_ui) y_i, sums over the user's items: where
    training's own steps end, so that users it has not seen are treated as those that it has.
    """

    item_factors: Matrix
    alpha: float
    ridge: float

    def scores(self, x: sp.csr_array) -> Matrix:
        y = self.item_factors.astype(np.float64)
        base = y.T @ y + self.ridge * np.eye(y.shape[1])
        users, arrays = np.empty((x.shape[0], y.shape[1])), csr(x)

        def fold_in(start: int, stop: int) -> None:
            fold_in_rows(arrays, y, base, float(self.alpha), users, start, stop)

        over_blocks(fold_in, x.shape[0], USERS)
        scores: Matrix = users.astype(self.item_factors.dtype) @ self.item_factors.T
        return scores


def fit_wmf(data: Training, factors: float, ridge: float, alpha: float, sweeps: float = 15) -> Fit:
    """Σ (1 + α x_ui) ([x_ui > 0] - u_u·y_i)² + λ(‖U‖² + ‖Y‖²), by alternating least squares.

    A step is three of conjugate gradients from the sweep before, `implicit`'s default: many times
    as fast as the exact one, with the same end. A user's or an item's step reads no other's, and
    sums within one have one thread: the result does not depend on how many there are.
    """
    from implicit.cpu.als import AlternatingLeastSquares  # slow to import, for this fit alone

    if not (factors >= 1 and ridge >= 0.0 and alpha >= 0.0 and sweeps >= 1):
        raise UserError(
            f"factors = {factors}, λ = {ridge}, alpha = {alpha}, sweeps = {sweeps}: "
            "factors and sweeps must be at least 1, λ and alpha at least 0"
        )
    weights = sp.csr_matrix(data.x, dtype=np.float32, copy=True)
    weights.data = 1.0 + np.float32(alpha) * weights.data
    progress = Progress("WMF", int(sweeps), unit="sweeps")
    with threadpool_limits(1, "blas"):
        model = AlternatingLeastSquares(
            int(factors),
            regularization=float(ridge),
            iterations=int(sweeps),
            num_threads=thread_count(),
            random_state=np.random.default_rng(data.seed),
        )
        model.fit(weights, show_progress=False, callback=lambda *_: progress.advance(1))
    logger.info("%s", progress)
    return Fit(WeightedFactors(model.item_factors, float(alpha), float(ridge)))


@compiled
def fold_in_rows(
    x: Csr, y: Array, base: Array, alpha: float, users: Array, start: int, stop: int
) -> None:
    """The factors of users start..stop; of one without items, 0."""
    indptr, items, data = x
    for u in range(start, stop):
        system, user = base.copy(), users[u]
        user[:] = 0.0
        for entry in range(indptr[u], indptr[u + 1]):
            item, weight = y[items[entry]], alpha * data[entry]
            user += (1.0 + weight) * item
            for row in range(len(item)):
                factor = weight * item[row]
                for column in range(row, len(item)):
                    system[row, column] += factor * item[column]
        if indptr[u + 1] > indptr[u]:
            _solve(system, user)


@compiled
def _solve(system: Array, user: Array) -> None:
    """Elimination in the upper triangle of a positive definite system, which needs no pivots."""
    size = len(user)
    for k in range(size):
        pivot = system[k]
        for row in range(k + 1, size):
            factor = pivot[row] / pivot[k]
            user[row] -= factor * user[k]
            for column in range(row, size):
                system[row, column] -= factor * pivot[column]
    for k in range(size - 1, -1, -1):
        for column in range(k + 1, size):
            user[k] -= system[k, column] * user[column]
        user[k] /= system[k, k]
