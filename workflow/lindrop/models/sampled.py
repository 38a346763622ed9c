"""Low-rank DLAE trained with sampled dropout (Steck 2020, Table 1, row 4).

Minimises E‖X − ZUV'‖² + λ‖UV'‖² with Z = X ∘ δ / q, δ ~ Bernoulli(q) for every nonzero of X (a = b,
so zeros need no mask). Z is scaled by 1/q, as in TensorFlow's dropout, so UV' needs no rescaling by
the factor q of Eq. 2 to predict. Row 3 of Table 1 has the closed form of the same optimum; this
module shows how close sampling comes to it, and at what cost.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from numba import njit

from lindrop.base.parallel import over_blocks
from lindrop.base.reporting import Progress, logger
from lindrop.linalg.kernels import sparse_times_dense
from lindrop.models.base import Fit, LowRank, Training, dropped

Matrix = npt.NDArray[np.float32]

BLOCK = 1 << 18  # number of parameters that a thread updates at once
WARM_UP = 0.1  # share of all steps in which the rate rises, while Adam's averages are unreliable
DECAY_MEAN, DECAY_SQUARE = 0.9, 0.99  # .999 would average over more steps than some epochs have
EPSILON = 1e-12  # added to the size of a gradient; small, as a gradient per user can be small


RESTED = 2e-3  # largest relative change of the loss over the last tenth of converged epochs


def fit_sampled_dropout(
    data: Training, ranks: Sequence[int], p: float, ridge: float, **options: Any
) -> Iterator[tuple[int, Fit]]:
    """Fits by sampled dropout, yielded with their rank.

    A fit counts as converged if its loss changed by at most a share `RESTED` over the last tenth of
    the epochs; the loss itself fluctuates with the random masks.
    """
    for rank in ranks:
        u, v, history = fit_sampled(data.x, rank, p, ridge, seed=data.seed, **options)
        before, last = history[-max(2, len(history) // 10) :][0]["loss"], history[-1]["loss"]
        rested = len(history) > 1 and abs(before - last) <= RESTED * last
        if not rested:
            logger.info("rank %d: NOT CONVERGED in %d epochs", rank, len(history))
        yield rank, Fit(LowRank(u, v), [*history], rested)


class Gradients(NamedTuple):
    """Loss of a mini-batch, summed over its users, and the gradients of its mean per user."""

    loss: float
    u: Matrix
    v: Matrix


def fit_sampled(
    x: sp.csr_array,
    rank: int,
    p: float,
    ridge: float,
    *,
    epochs: int = 30,
    batch: int | None = None,
    learning_rate: float = 0.05,
    seed: int = 1,
    progress: Progress | None = None,
) -> tuple[Matrix, Matrix, list[dict[str, float]]]:
    """U, V and the history of their training by mini-batch Adam from Glorot's random start.

    Every epoch takes all users in a new order, with new masks. `learning_rate` is relative to the
    bound of the start's random numbers: a step of Adam ignores the scale of the loss but not that
    of the parameters, which falls with the number of items. The rate rises linearly, then falls to
    zero as a cosine, which averages the noise of the masks out. In the history, `loss` is the sum
    of the losses of an epoch's batches, each measured before its step.
    """
    rng = np.random.default_rng(seed)
    (users, items), x = x.shape, x.astype(np.float32, copy=False)
    # small batches converge in fewer epochs, but each costs items × rank² whatever its size
    batch = batch or max(1024, min(4096, items // 5))
    limit = float(np.sqrt(6 / (items + rank)))
    u, v = rng.uniform(-limit, limit, (2, items, rank)).astype(np.float32)
    adam_u, adam_v = Adam(u), Adam(v)
    steps, step = epochs * -(-users // batch), 0
    progress = progress or Progress("sampled dropout", epochs, unit="epochs")
    history = []
    for epoch in range(1, epochs + 1):
        loss, order = 0.0, rng.permutation(users)
        for start in range(0, users, batch):
            rows = x[order[start : start + batch]]
            of = gradients(rows, dropped(rows, p, rng), u, v, ridge / users)
            step += 1
            rate = limit * learning_rate * schedule(step / steps)
            adam_u.descend(of.u, rate)
            adam_v.descend(of.v, rate)
            loss += of.loss
            del of  # or it would stay in memory beside the next gradients
        history.append({"epoch": epoch, "loss": loss, "lr": rate})
        progress.advance(1)
    return u, v, history


def gradients(
    x: sp.csr_array, z: sp.csr_array, u: Matrix, v: Matrix, ridge_per_user: float
) -> Gradients:
    """Value and gradients of ‖X − ZUV'‖² + λ‖UV'‖² for a batch X of n users, λ = n·ridge_per_user.

    With A = ZU the gradients are 2(V(A'A + λU'U) − X'A) by V and 2(Z'(A(V'V) − XV) + λU(V'V)) by U.
    No array of users × items is formed.
    """
    ridge, weight = np.float32(ridge_per_user * x.shape[0]), np.float32(2 / x.shape[0])
    a, xv, vv = sparse_times_dense(z, u), sparse_times_dense(x, v), v.T @ v
    inner = a.T @ a + ridge * (u.T @ u)
    loss = np.sum(x.data**2, dtype=float) - 2.0 * np.vdot(a, xv) + np.vdot(inner, vv)
    of_v = v @ inner
    of_v -= sparse_times_dense(x.T.tocsr(), a)
    of_v *= weight
    a_vv = a @ vv
    a_vv -= xv
    of_u = sparse_times_dense(z.T.tocsr(), a_vv)
    of_u += u @ (ridge * vv)
    of_u *= weight
    return Gradients(float(loss), of_u, of_v)


def schedule(share: float) -> float:
    """Factor of the learning rate after a share of all steps: a linear rise, then half a cosine."""
    if share < WARM_UP:
        return share / WARM_UP
    return float(1 + np.cos(np.pi * (share - WARM_UP) / (1 - WARM_UP))) / 2


class Adam:
    """Adam (Kingma and Ba 2015, Algorithm 1), which updates a matrix in place in a single pass."""

    def __init__(self, parameters: Matrix):
        self.parameters = parameters.reshape(-1)  # a view
        self.mean, self.square = np.zeros_like(self.parameters), np.zeros_like(self.parameters)
        self.steps = 0

    def descend(self, gradient: Matrix, rate: float) -> None:
        """Update the parameters by one step against the gradient."""
        self.steps += 1
        unbias = np.sqrt(1 - DECAY_SQUARE**self.steps)  # corrects the bias of √square
        scale = np.float32(rate * unbias / (1 - DECAY_MEAN**self.steps))
        epsilon = np.float32(EPSILON * unbias)
        flat = gradient.reshape(-1)

        def update(start: int, stop: int) -> None:
            _descend(
                self.parameters[start:stop],
                flat[start:stop],
                self.mean[start:stop],
                self.square[start:stop],
                scale,
                epsilon,
            )

        over_blocks(update, len(self.parameters), BLOCK)


@njit(nogil=True, cache=True, error_model="numpy")
def _descend(
    parameters: Matrix,
    gradient: Matrix,
    mean: Matrix,
    square: Matrix,
    scale: np.float32,
    epsilon: np.float32,
) -> None:
    keep_mean, keep_square, one = np.float32(DECAY_MEAN), np.float32(DECAY_SQUARE), np.float32(1)
    for i in range(len(parameters)):
        mean[i] = keep_mean * mean[i] + (one - keep_mean) * gradient[i]
        square[i] = keep_square * square[i] + (one - keep_square) * gradient[i] ** 2
        parameters[i] -= scale * mean[i] / (np.sqrt(square[i]) + epsilon)
