"""Rows 1 and 4 of Table 1 of Steck 2020, trained as the authors' notebook trains them.

The notebook uses Adam of TensorFlow 1.15 with its default settings. This module computes the same
updates in NumPy, for the comparison with exact optima only: `closed_form` has the minima of these
objectives, and `sampled` trains row 4 until it is at rest.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from lindrop.linalg.kernels import sparse_times_dense
from lindrop.models.base import dropped

Array = npt.NDArray[Any]

RATE, DECAY_MEAN, DECAY_SQUARE, EPSILON = 0.001, 0.9, 0.999, 1e-8  # defaults of TensorFlow 1.15
BATCH = 4_096  # users in a batch of the notebook


class Penalties(NamedTuple):
    """Weights of the notebook's penalties, each of which is halved in the loss."""

    decay: float = 0.0  # of ‖U‖² + ‖V‖², row 1
    product: float = 0.0  # of ‖UV'‖², row 4

    @classmethod
    def of(cls, ridge: float, shape: tuple[int, ...], product: bool) -> "Penalties":
        """Weights for which λ is the penalty of the same objective as a sum.

        The loss is a mean over users × items; times their number, the halved weight w becomes
        λ = w · users · items / 2.
        """
        weight = 2 * ridge / (shape[0] * shape[1])
        return cls(product=weight) if product else cls(decay=weight)


class Slopes(NamedTuple):
    """Loss of a batch, and its gradients by U and by V."""

    loss: float
    u: Array
    v: Array


def slopes(x: sp.csr_array, z: sp.csr_array, u: Array, v: Array, weights: Penalties) -> Slopes:
    """Value and gradients of the notebook's loss for a batch X of n users with the input Z.

    The loss is ‖X − ZUV'‖² / (n · items) + ½ decay (‖U‖² + ‖V‖²) + ½ product ‖UV'‖². No array of
    users × items is formed.
    """
    scale = u.dtype.type(2 / (x.shape[0] * x.shape[1]))
    decay, product = map(u.dtype.type, weights)
    a, xv = sparse_times_dense(z, u), sparse_times_dense(x, v)
    aa, uu, vv = a.T @ a, u.T @ u, v.T @ v
    of_u = sparse_times_dense(z.T.tocsr(), scale * (a @ vv - xv))
    of_v = v @ (scale * aa + product * uu)
    of_v -= sparse_times_dense(x.T.tocsr(), scale * a)
    if product:
        of_u += u @ (product * vv)
    if decay:
        of_u += decay * u
        of_v += decay * v
    squares = np.sum(x.data**2, dtype=float) - 2 * float(np.vdot(a, xv)) + float(np.vdot(aa, vv))
    penalty = decay * (np.trace(uu) + np.trace(vv)) + product * np.vdot(uu, vv)
    return Slopes(squares / (x.shape[0] * x.shape[1]) + float(penalty) / 2, of_u, of_v)


class Adam:
    """Adam as in TensorFlow 1.15: ε is added to the root of the uncorrected mean square.

    That is the variant with "epsilon hat" in Section 2 of Kingma and Ba 2015.
    """

    def __init__(self, parameters: Array):
        self.parameters = parameters
        self.mean, self.square = np.zeros_like(parameters), np.zeros_like(parameters)
        self.steps = 0

    def descend(self, gradient: Array) -> None:
        """Update the parameters in place by one step against the gradient."""
        self.steps += 1
        unbiased = np.sqrt(1 - DECAY_SQUARE**self.steps) / (1 - DECAY_MEAN**self.steps)
        kind = self.parameters.dtype.type
        step = gradient - self.mean  # each step is computed in place: these arrays are large
        step *= kind(1 - DECAY_MEAN)
        self.mean += step
        np.multiply(gradient, gradient, out=step)
        step -= self.square
        step *= kind(1 - DECAY_SQUARE)
        self.square += step
        np.sqrt(self.square, out=step)
        step += kind(EPSILON)
        np.divide(self.mean, step, out=step)
        step *= kind(RATE * unbiased)
        self.parameters -= step


def xavier(items: int, rank: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Random U and V of TensorFlow's Xavier initialiser: uniform within ±√(6 / (items + rank))."""
    limit = float(np.sqrt(6 / (items + rank)))
    u, v = rng.uniform(-limit, limit, (2, items, rank)).astype(np.float32)
    return u, v


def train(
    x: sp.csr_array, rank: int, p: float, weights: Penalties, batch: int = BATCH, seed: int = 1
) -> Iterator[tuple[Array, Array]]:
    """Yield U and V after every epoch, without end.

    Every epoch takes all users in a new order, the last batch being shorter. With p > 0 every
    input entry is dropped with this probability, and a kept one is multiplied by 1/(1 − p).
    """
    rng = np.random.default_rng(seed)
    x = x.astype(np.float32, copy=False)
    u, v = xavier(x.shape[1], rank, rng)
    adam_u, adam_v = Adam(u), Adam(v)
    while True:
        order = rng.permutation(x.shape[0])
        for start in range(0, len(order), batch):
            rows = x[order[start : start + batch]]
            of = slopes(rows, dropped(rows, p, rng) if p else rows, u, v, weights)
            adam_u.descend(of.u)
            adam_v.descend(of.v)
        yield u, v
