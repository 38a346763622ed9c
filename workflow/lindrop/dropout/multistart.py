"""Minima of the dropout objective by L-BFGS from many random starts, to test the closed forms."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from lindrop.base.arrays import Matrix, Vector
from lindrop.dropout.objective import gradient, objective, tied_gradient, tied_objective

EXACT = {"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 30}


class Minimum(NamedTuple):
    """End of a descent: the objective, U and V; U and V are equal for tied weights."""

    value: float
    u: Matrix
    v: Matrix


def minima(m: Matrix, r: int, lam: float, starts: int, rng: np.random.Generator) -> list[Minimum]:
    """Ends of L-BFGS on f(U, V) (Mianjy 2018, Eq. 2) from random starts, the best first."""
    rows, columns = m.shape

    def parts(flat: Vector) -> tuple[Matrix, Matrix]:
        weights = flat.reshape(rows + columns, r)
        return weights[:rows], weights[rows:]

    def value_and_slope(flat: Vector) -> tuple[float, Vector]:
        u, v = parts(flat)
        return objective(m, u, v, lam), np.concatenate(gradient(m, u, v, lam)).ravel()

    ends = descents(value_and_slope, (rows + columns) * r, starts, rng)
    return [Minimum(value, *parts(flat)) for value, flat in ends]


def tied_minima(
    m: Matrix, r: int, lam: float, starts: int, rng: np.random.Generator
) -> list[Minimum]:
    """Ends of L-BFGS on f(U, U) (Mianjy 2018, Eq. 4) from random starts, the best first."""

    def value_and_slope(flat: Vector) -> tuple[float, Vector]:
        u = flat.reshape(-1, r)
        return tied_objective(m, u, lam), tied_gradient(m, u, lam).ravel()

    ends = descents(value_and_slope, len(m) * r, starts, rng)
    return [Minimum(value, flat.reshape(-1, r), flat.reshape(-1, r)) for value, flat in ends]


def descents(
    value_and_slope: Callable[[Vector], tuple[float, Vector]],
    size: int,
    starts: int,
    rng: np.random.Generator,
) -> list[tuple[float, Vector]]:
    """Value and flat variables at the ends of L-BFGS from random starts, the best first."""
    ends = [
        minimize(value_and_slope, start, jac=True, method="L-BFGS-B", options=EXACT)
        for start in rng.normal(size=(starts, size))
    ]
    return sorted(((float(end.fun), end.x) for end in ends), key=lambda end: end[0])
