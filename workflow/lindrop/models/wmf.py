"""WMF (Hu et al. 2008, Pan et al. 2008), weighted matrix factorisation.

The package `implicit` trains it by alternating least squares. The fitted model computes the factors
of new users from their interactions.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from lindrop.base.arrays import Matrix
from lindrop.base.errors import Unsolvable, UserError
from lindrop.base.parallel import over_blocks, thread_count
from lindrop.base.reporting import Progress, logger
from lindrop.linalg.kernels import Array, Csr, compiled, csr
from lindrop.models.base import Fit, Training

USERS = 16  # number of users that a thread folds in at a time


@dataclass(frozen=True)
class WeightedFactors:
    """Model with item factors Y (items × factors); the scores U Y' use the optimal U for this Y.

    U_u = (Y'Y + λI + α Σ x_ui y_i y_i')⁻¹ Σ (1 + α x_ui) y_i, with sums over the user's items
    (Hu et al. 2008, Eq. 4). Training users and new users are thus scored alike.
    """

    item_factors: Matrix
    alpha: float
    ridge: float

    def scores(self, x: sp.csr_array) -> Matrix:
        """U Y', users × items."""
        y = self.item_factors.astype(np.float64)
        if x.shape[1] != len(y):  # compiled loops do not check bounds
            raise ValueError(f"X is {x.shape}, Y has {len(y)} rows")
        base = y.T @ y + self.ridge * np.eye(y.shape[1])
        users, arrays = np.empty((x.shape[0], y.shape[1])), csr(x)

        def fold_in(start: int, stop: int) -> None:
            fold_in_rows(arrays, y, base, float(self.alpha), users, start, stop)

        over_blocks(fold_in, x.shape[0], USERS)
        scores: Matrix = users.astype(self.item_factors.dtype) @ self.item_factors.T
        return scores


def fit_wmf(data: Training, factors: float, ridge: float, alpha: float, sweeps: float = 15) -> Fit:
    """Fit WMF: minimise Σ (1 + α x_ui) ([x_ui > 0] - u_u·y_i)² + λ(‖U‖² + ‖Y‖²) by `implicit`.

    Each least-squares problem is solved by three steps of conjugate gradients from the previous
    sweep's factors, the default of `implicit`: far faster than exact solutions, with the same
    limit. The result does not depend on the number of threads, as each user's or item's sums are
    computed by one thread.
    """
    from implicit.cpu.als import AlternatingLeastSquares  # imported here since it loads slowly
    from implicit.recommender_base import ModelFitError

    if not (factors >= 1 and ridge >= 0.0 and alpha >= 0.0 and sweeps >= 1):
        raise UserError(
            f"factors = {factors}, λ = {ridge}, alpha = {alpha}, sweeps = {sweeps}: "
            "factors and sweeps must be at least 1, λ and alpha at least 0"
        )
    weights = sp.csr_matrix(data.x, dtype=np.float32, copy=True)
    with np.errstate(over="ignore"):  # _overflow says what is wrong
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
        try:
            model.fit(weights, show_progress=False, callback=lambda *_: progress.advance(1))
        except ModelFitError as error:
            raise _overflow(ridge, alpha) from error
    if not np.isfinite(model.item_factors).all():
        raise _overflow(ridge, alpha)
    logger.info("%s", progress)
    return Fit(WeightedFactors(model.item_factors, float(alpha), float(ridge)))


def _overflow(ridge: float, alpha: float) -> Unsolvable:
    """The error of numbers for which 32-bit factors are too small; other points may succeed."""
    return Unsolvable(
        f"λ = {ridge:g}, alpha = {alpha:g}: the factors are not finite in 32-bit numbers; choose "
        "smaller values"
    )


@compiled
def fold_in_rows(
    x: Csr, y: Array, base: Array, alpha: float, users: Array, start: int, stop: int
) -> None:
    """Write the factors of users start to stop - 1 into `users`; 0 for a user without items.

    `base` is Y'Y + λI.
    """
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
    """Replace `user` by the solution of a positive definite system given by its upper triangle.

    Gaussian elimination without pivoting, which positive definite systems do not need.
    """
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
