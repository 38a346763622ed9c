"""The fitted WMF model, which computes the factors of new users from their interactions."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from lindrop.base.arrays import Matrix
from lindrop.base.parallel import over_blocks
from lindrop.linalg.kernels import Array, Csr, compiled, csr

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
        base = y.T @ y + self.ridge * np.eye(y.shape[1])
        users, arrays = np.empty((x.shape[0], y.shape[1])), csr(x)

        def fold_in(start: int, stop: int) -> None:
            fold_in_rows(arrays, y, base, float(self.alpha), users, start, stop)

        over_blocks(fold_in, x.shape[0], USERS)
        scores: Matrix = users.astype(self.item_factors.dtype) @ self.item_factors.T
        return scores


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
