"""Low-rank DLAE trained with sampled dropout (Steck 2020, Table 1, row 4).

Minimises E‖X − ZUV'‖² + λ‖UV'‖² with Z = X ∘ δ / q, δ ~ Bernoulli(q) for every nonzero of X (a = b,
so zeros need no mask). Z is scaled by 1/q, as in TensorFlow's dropout, so UV' needs no rescaling by
the factor q of Eq. 2 to predict.

The expected objective is ‖X − XUV'‖² + ‖Λ̃^½ UV'‖², that of row 3 of Table 1, which has a closed
form. The training does not use that closed form. It starts from random numbers, and every step
follows the gradient of a batch under masks that are drawn for this step. Three things let such a
training come to rest in few epochs:

- The gradients are preconditioned. One learning rate for all parameters is too large for popular
  items or too small for rare ones, and Adam, which adapts the rate of each parameter alone, ignores
  that items occur together. Here the gradient of U is multiplied by an approximation of
  (X'X + Λ̃)⁻¹ and by (V'V)⁻¹, that of V by an estimate of (U'(X'X + Λ̃)U)⁻¹ from the masked batches.
- The rate falls, and the model is the mean of the iterates (Polyak and Juditsky 1992), in which the
  noise of the masks averages out.
- The training stops by the expected objective of that mean. What is left of the noise falls like
  1/epochs, so the decrease since half of the epochs is what is still to be gained.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from lindrop.base.arrays import Vector
from lindrop.base.errors import Unsolvable
from lindrop.base.reporting import Progress, logger
from lindrop.linalg.kernels import canonical, sparse_times_dense
from lindrop.models.base import Fit, LowRank, Training, dropout_penalty, dropped
from lindrop.models.memory import sampled_batch

Matrix = npt.NDArray[np.float32]
Preconditioner = Callable[[Matrix], Matrix]

RATE = 0.5  # of the first steps, as a share of the step that would solve for one factor exactly
FALL, FALL_AFTER = 0.67, 20.0  # the rate of step t is RATE / (1 + t / FALL_AFTER)**FALL
MEMORY = 0.2  # smallest weight of a batch in the running estimate of U'(X'X + Λ̃)U
FORGET = 2.0  # how much more later iterates weigh in their mean: like epoch**FORGET
FIRST_CHECK = 8  # epochs before the training may stop
SMALLEST = (
    1e-6  # of the preconditioner's diagonal, relative to the largest; without dropout it is λ
)
POWER_STEPS = 10  # of the estimate of the largest eigenvalue that is left after preconditioning
STABLE = 1.5  # largest such eigenvalue at which RATE is used as it is


def fit_sampled_dropout(
    data: Training,
    ranks: Sequence[int],
    p: float,
    ridge: float,
    epochs: int = 1000,
    tolerance: float = 2e-3,
) -> Iterator[tuple[int, Fit]]:
    """Fits by sampled dropout, yielded with their rank.

    A fit counts as converged if it stopped by `tolerance` and not by the number of epochs.
    """
    for rank in ranks:
        u, v, history, rested = fit_sampled(
            data.x, rank, p, ridge, epochs=epochs, tolerance=tolerance, seed=data.seed
        )
        if not rested:
            logger.info("rank %d: NOT CONVERGED in %d epochs", rank, len(history))
        yield rank, Fit(LowRank(u, v), [*history], rested)


class Trained(NamedTuple):
    """U and V of a training, a row of its history for every epoch, and whether it came to rest."""

    u: Matrix
    v: Matrix
    history: list[dict[str, float]]
    rested: bool


@np.errstate(over="ignore", invalid="ignore")  # `_finite` says what is wrong
def fit_sampled(
    x: sp.csr_array,
    rank: int,
    p: float,
    ridge: float,
    *,
    epochs: int = 1000,
    tolerance: float = 2e-3,
    batch: int | None = None,
    seed: int = 1,
    progress: Progress | None = None,
) -> Trained:
    """Train U and V by preconditioned stochastic gradients from Glorot's random start.

    Every epoch takes all users in a new order, with new masks. In the history, `loss` is the sum of
    the losses of an epoch's batches, each measured between its two half steps, and `objective` is
    the expected objective of the mean of the iterates, NaN in epochs in which it is not measured.
    The training stops when it fell by at most the share `tolerance` since half of the epochs.
    """
    rng = np.random.default_rng(seed)
    (users, items), x = x.shape, canonical(x.astype(np.float32, copy=False))
    batch = batch or sampled_batch(users, items)
    gram_diagonal = np.bincount(x.indices, x.data.astype(np.float64) ** 2, items)
    penalty = dropout_penalty(gram_diagonal, p, ridge)
    precondition, largest = nystrom(x, penalty, rank, rng)
    slower = min(1.0, STABLE / largest)
    limit = float(np.sqrt(6 / (items + rank)))
    u, v = rng.uniform(-limit, limit, (2, items, rank)).astype(np.float32)
    mean_u, mean_v = u.copy(), v.copy()
    curvature: npt.NDArray[np.float64] | None = None  # running estimate of U'(X'X + Λ̃)U
    progress = progress or Progress("sampled dropout", None, unit="epochs")
    history: list[dict[str, float]] = []
    objective = np.inf  # until it is first measured
    measured: dict[int, float] = {}
    step, rested = 0, False
    for epoch in range(1, epochs + 1):
        loss, order = 0.0, rng.permutation(users)
        for start in range(0, users, batch):
            rows = x if batch >= users else x[order[start : start + batch]]
            masked = Masked(rows, dropped(rows, p, rng), u, ridge * rows.shape[0] / users)
            rate = RATE / (1 + step / FALL_AFTER) ** FALL
            scale = np.float32(users / rows.shape[0])  # a batch's gradient times this is X's
            step += 1
            seen = masked.curvature * float(scale)
            if curvature is None:
                curvature = seen
            curvature += max(rate, MEMORY) * (seen - curvature)
            v -= np.float32(rate) * (scale * masked.of_decoder(v)) @ _inverse(curvature)
            of_encoder, part = masked.of_encoder(v)
            inverse = _inverse((v.T @ v).astype(np.float64))
            change = ((scale * of_encoder) @ inverse).astype(np.float32, copy=False)
            u -= np.float32(rate * slower) * precondition(change)
            loss += part
            del (
                masked,
                of_encoder,
                inverse,
                change,
            )  # or they would stay in memory beside the next ones
        weight = np.float32((1 + FORGET) / (epoch + FORGET))
        mean_u += weight * (u - mean_u)
        mean_v += weight * (v - mean_v)
        if is_check(epoch):
            objective = expected_objective(x, penalty, mean_u, mean_v)
            measured[epoch] = objective
            fall = measured.get(epoch // 2, np.inf) - objective
            rested = epoch >= FIRST_CHECK and abs(fall) <= tolerance * objective
        history.append({"epoch": epoch, "loss": loss, "rate": rate, "objective": objective})
        progress.advance(1)
        if rested:
            break
    logger.info("%s", progress)
    return Trained(mean_u, mean_v, history, rested)


def is_check(epoch: int) -> bool:
    """Whether the objective is measured: at 2, 4, 8, … and 3, 6, 12, … epochs, each with its half.

    An epoch of a training that ends elsewhere has no measured half, so it does not count as rested.
    """
    while epoch % 2 == 0:
        epoch //= 2
    return epoch in (1, 3)


class Masked:
    """A batch X of users with the masked inputs Z, and half the gradients of its loss.

    The loss is ‖X − ZUV'‖² + λ‖UV'‖², where λ is the batch's share of the penalty. With A = ZU,
    half its gradients are V(A'A + λU'U) − X'A by V and Z'(A(V'V) − XV) + λU(V'V) by U. No array of
    users × items is formed.
    """

    def __init__(self, x: sp.csr_array, z: sp.csr_array, u: Matrix, ridge: float):
        self.x, self.z, self.u = x, z, u
        self.ridge = np.float32(ridge)
        self.a = sparse_times_dense(z, u)
        self.inner = self.a.T @ self.a + self.ridge * (u.T @ u)

    @property
    def curvature(self) -> npt.NDArray[np.float64]:
        """A'A + λU'U, half the second derivative by every row of V."""
        curvature: npt.NDArray[np.float64] = self.inner.astype(np.float64)
        return curvature

    def of_decoder(self, v: Matrix) -> Matrix:
        """Half the gradient by V."""
        gradient: Matrix = v @ self.inner
        gradient -= sparse_times_dense(self.x.T.tocsr(), self.a)
        return gradient

    def of_encoder(self, v: Matrix) -> tuple[Matrix, float]:
        """Half the gradient by U, and the loss."""
        vv, xv = v.T @ v, sparse_times_dense(self.x, v)
        explained = float(np.vdot(self.a, xv))
        loss = np.sum(self.x.data**2, dtype=float) - 2 * explained + np.vdot(self.inner, vv)
        residual = self.a @ vv
        residual -= xv
        gradient: Matrix = sparse_times_dense(self.z.T.tocsr(), residual)
        gradient += self.u @ (self.ridge * vv)
        return gradient, float(loss)


def expected_objective(x: sp.csr_array, penalty: Vector, u: Matrix, v: Matrix) -> float:
    """‖X − XUV'‖² + ‖Λ̃^½ UV'‖², the mean of the loss over all masks (Steck 2020, Eq. 3 and 4)."""
    xu, xv = sparse_times_dense(x, u), sparse_times_dense(x, v)
    inner = xu.T @ xu + u.T @ (penalty.astype(np.float32)[:, None] * u)
    total = np.sum(x.data.astype(np.float64) ** 2) - 2 * float(np.vdot(xu, xv))
    return float(total + np.vdot(inner.astype(np.float64), v.T @ v))


def nystrom(
    x: sp.csr_array, penalty: Vector, rank: int, rng: np.random.Generator
) -> tuple[Preconditioner, float]:
    """Function that multiplies by M⁻¹ ≈ (X'X + Λ̃)⁻¹, and the largest eigenvalue of M⁻¹(X'X + Λ̃).

    M has the `rank` leading directions of Λ̃^-½ X'X Λ̃^-½, found from random ones by subspace
    iteration, and the same curvature in all others (Frangella, Tropp and Udell 2023). X'X is not
    formed.
    """
    items = x.shape[1]
    xt = x.T.tocsr()
    diagonal = np.maximum(penalty, SMALLEST * max(penalty.max(), 1.0))
    root = np.sqrt(diagonal).astype(np.float32)[:, None]

    def scaled(y: Matrix) -> Matrix:
        product: Matrix = sparse_times_dense(xt, sparse_times_dense(x, y / root))
        product /= root
        return product

    basis = rng.standard_normal((items, min(rank, items))).astype(np.float32)
    for _ in range(2):
        basis = _finite(np.linalg.qr(scaled(basis))[0])
    values, rotation = np.linalg.eigh((basis.T @ scaled(basis)).astype(np.float64))
    basis = basis @ rotation.astype(np.float32)
    rest = 1 + max(float(values[0]), 0.0)
    beyond = (1 / (1 + np.maximum(values, 0)) - 1 / rest).astype(np.float32)[:, None]

    def multiply(y: Matrix) -> Matrix:
        y = y / root
        product: Matrix = y / np.float32(rest)
        product += basis @ (beyond * (basis.T @ y))
        product /= root
        return product

    vector, largest = rng.standard_normal((items, 1)).astype(np.float32), 1.0
    for _ in range(POWER_STEPS):
        vector /= np.float32(np.linalg.norm(vector))
        vector = multiply(root * (scaled(root * vector) + root * vector))
        largest = float(np.linalg.norm(vector))
    return multiply, largest


def _finite(matrix: Any) -> Any:
    """The matrix; Unsolvable if it has an entry that is not a finite number."""
    if not np.isfinite(matrix).all():
        raise Unsolvable("the training diverged: its numbers overflow")
    return matrix


def _inverse(matrix: npt.NDArray[np.float64]) -> Matrix:
    """Inverse of a small symmetric matrix, raised a little so that directions may vanish."""
    raised = _finite(matrix) + np.eye(len(matrix)) * (1e-7 * np.trace(matrix) / len(matrix))
    try:
        inverse: Matrix = np.linalg.inv(raised).astype(np.float32)
    except np.linalg.LinAlgError as error:
        raise Unsolvable("the training diverged: a factor is zero") from error
    return inverse
