"""Penalties that spread embeddings, to which Steck 2020 compares the constraint diag(UV') = 0.

Each penalises the embeddings (rows) of one weight matrix:

- Parseval networks (Cissé et al. 2017): ‖W'W − I‖², here over the number of columns. For rows it is
  the same penalty but for a constant: ‖WW' − I‖² = ‖W'W − I‖² + rows − columns.
- Spread-out (Zhang et al. 2017): M₁² + max(0, M₂ − 1/columns), with M₁ and M₂ the mean and the mean
  square of the cosines of all pairs of rows.
- GLaS (Guo et al. 2019): mean square of what separates the cosines of rows from ½(AZ⁻¹ + Z⁻¹A),
  where A counts how often two items occur together and Z is its diagonal.
"""

from collections.abc import Callable, Mapping

import numpy as np
from scipy.optimize import minimize

from lindrop.base.arrays import Matrix, Vector
from lindrop.models.base import LowRank

Valued = tuple[float, Matrix]  # value of a penalty and its gradient
Penalty = Callable[[Matrix], Valued]

ITERATIONS = 150  # of L-BFGS


def parseval(w: Matrix) -> Valued:
    """Penalty of Parseval networks, and its gradient."""
    columns = w.shape[1]
    rest = w.T @ w - np.eye(columns)
    return float(np.sum(rest**2) / columns), 4 * w @ rest / columns


def spread_out(w: Matrix) -> Valued:
    """Spread-out penalty, and its gradient."""
    unit, lengths = _unit(w)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, 0)
    pairs = len(w) * (len(w) - 1)
    mean, square = cosines.sum() / pairs, np.sum(cosines**2) / pairs
    beyond = square - 1 / w.shape[1]
    slope = 2 * (mean + (cosines if beyond > 0 else 0)) / pairs * (1 - np.eye(len(w)))
    return float(mean**2 + max(beyond, 0)), _through(slope, unit, lengths)


def glas(gram: Matrix) -> Penalty:
    """GLaS penalty for items whose joint occurrences are counted in X'X, and its gradient."""
    shares = gram / gram.diagonal()
    target = (shares + shares.T) / 2

    def penalty(w: Matrix) -> Valued:
        unit, lengths = _unit(w)
        apart = unit @ unit.T - target
        return float(np.mean(apart**2)), _through(2 * apart / apart.size, unit, lengths)

    return penalty


def penalties(gram: Matrix) -> Mapping[str, Penalty]:
    """The three penalties by name."""
    return {"Parseval": parseval, "spread-out": spread_out, "GLaS": glas(gram)}


def train(gram: Matrix, ridge: float, penalty: Penalty, weight: float, start: LowRank) -> LowRank:
    """Linear autoencoder with a penalty on the embeddings of encoder and decoder, by L-BFGS.

    The loss is (‖X − XUV'‖² + λ‖UV'‖²)/‖X‖² plus `weight` times the penalties of U and V.
    """
    shape, scale = start.encoder.shape, float(np.trace(gram))

    def value_and_slope(flat: Vector) -> tuple[float, Vector]:
        u, v = flat.reshape(2, *shape)
        gu, gv = gram @ u, gram @ v
        hu = gu + ridge * u
        inner = u.T @ hu
        loss = scale - 2 * float(np.sum(gu * v)) + float(np.sum((v @ inner) * v))
        in_u, in_v = 2 * (hu @ (v.T @ v) - gv), 2 * (v @ inner - gu)
        (of_u, slope_u), (of_v, slope_v) = penalty(u), penalty(v)
        slopes = np.stack((in_u / scale + weight * slope_u, in_v / scale + weight * slope_v))
        return loss / scale + weight * (of_u + of_v), slopes.ravel()

    first = np.stack((start.encoder, start.decoder)).ravel()
    options = {"maxiter": ITERATIONS, "maxfun": 2 * ITERATIONS}
    end = minimize(value_and_slope, first, jac=True, method="L-BFGS-B", options=options)
    return LowRank(*end.x.reshape(2, *shape))


def _unit(w: Matrix) -> tuple[Matrix, Matrix]:
    """Rows of length one, and the lengths that they had."""
    lengths = np.maximum(np.linalg.norm(w, axis=1, keepdims=True), np.finfo(float).tiny)
    return np.asarray(w / lengths), lengths


def _through(slope: Matrix, unit: Matrix, lengths: Matrix) -> Matrix:
    """Gradient in W from the symmetric gradient in the cosines of its rows."""
    of_unit = 2 * slope @ unit
    along = np.sum(of_unit * unit, axis=1, keepdims=True)
    return np.asarray((of_unit - along * unit) / lengths)
