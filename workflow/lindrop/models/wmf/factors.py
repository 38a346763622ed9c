"""A fitted WMF, which folds in users that it has not seen."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from lindrop.base.arrays import Matrix
from lindrop.base.parallel import over_blocks
from lindrop.linalg.kernels import Array, Csr, compiled, csr

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
