"""Training with dropout, compiled: Algorithm 1 of Mianjy 2018 on fresh x ~ N(0, I) and y = Mx.

η is the printed step size. The expected printed step is −η(θ/2) times the gradient of the objective
f of Eq. 2; so it is with tied weights, whose step is the printed one of U plus that of V.

Here a hidden node is a row, of U' and of V': one that is dropped costs nothing, and all the others
stay in the nearest caches. Nothing calls BLAS, whose threads could change a sum.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numba import njit

from lindrop.base.arrays import Matrix, Vector

BLOCK = 128  # steps whose samples and masks are drawn at once: they fit into a cache

# Sums in any order become vector instructions; what is not a number still shows itself.
FAST = {"reassoc", "contract"}
compiled = njit(nogil=True, cache=True, fastmath=FAST)
inlined = njit(inline="always", fastmath=FAST)

Train = Callable[[Matrix, Matrix, Matrix, Vector], None]  # on rows of x, y, b; their η


def dropout_sgd(
    m: Matrix,
    u: Matrix,
    v: Matrix,
    keep: float,
    rates: Vector,
    checkpoints: Sequence[int],
    rng: np.random.Generator,
) -> Iterator[tuple[Matrix, Matrix]]:
    """U_t and V_t at rising checkpoints t ≤ T; `rates` are η_0 … η_{T−1}, `keep` is θ.

    Samples and masks do not depend on the checkpoints.
    """
    u_rows, v_rows = _rows(u), _rows(v)

    def train(x: Matrix, y: Matrix, kept: Matrix, etas: Vector) -> None:
        train_rows(u_rows, v_rows, x, y, kept, keep, etas)

    for _ in _steps(train, m, u_rows, v_rows, keep, rates, checkpoints, rng):
        yield u_rows.T.copy(), v_rows.T.copy()


def tied_dropout_sgd(
    m: Matrix,
    u: Matrix,
    keep: float,
    rates: Vector,
    checkpoints: Sequence[int],
    rng: np.random.Generator,
) -> Iterator[Matrix]:
    """As `dropout_sgd` with U = V: an autoencoder with tied weights."""
    rows = _rows(u)

    def train(x: Matrix, y: Matrix, kept: Matrix, etas: Vector) -> None:
        train_tied_rows(rows, x, y, kept, keep, etas)

    for _ in _steps(train, m, rows, rows, keep, rates, checkpoints, rng):
        yield rows.T.copy()


def _rows(weights: Matrix) -> Matrix:
    """A copy to train, a hidden node by row."""
    return np.array(weights.T, dtype=float, order="C")


def _steps(
    train: Train,
    m: Matrix,
    u_rows: Matrix,
    v_rows: Matrix,
    keep: float,
    rates: Vector,
    checkpoints: Sequence[int],
    rng: np.random.Generator,
) -> Iterator[int]:
    """Train as far as each checkpoint."""
    (nodes, outputs), inputs = u_rows.shape, v_rows.shape[1]
    if m.shape != (outputs, inputs) or len(v_rows) != nodes:  # compiled loops check no bounds
        raise ValueError(f"M is {m.shape}, U' {u_rows.shape} and V' {v_rows.shape}")
    if len(rates) < max(checkpoints):
        raise ValueError(f"{len(rates)} steps do not reach the checkpoint {max(checkpoints)}")
    m = np.ascontiguousarray(m, dtype=float)
    done = 0
    for checkpoint in checkpoints:
        while done < checkpoint:
            first = done % BLOCK
            if first == 0:
                x = rng.standard_normal((BLOCK, inputs))
                y = products(x, m)
                kept = rng.random((BLOCK, nodes), dtype=np.float32) < keep
            steps = min(checkpoint - done, BLOCK - first)
            some = slice(first, first + steps)
            train(x[some], y[some], kept[some], rates[done : done + steps])
            done += steps
        yield done


@compiled
def train_rows(
    u: Matrix, v: Matrix, x: Matrix, y: Matrix, kept: Matrix, keep: float, rates: Vector
) -> None:
    """Line 4 of Algorithm 1 once for every row of x, y and b; changes U' and V'."""
    hidden, error = np.empty(len(u)), np.empty(u.shape[1])
    for t in range(len(x)):
        _forward(u, v, x[t], y[t], kept[t], keep, hidden, error)
        for i in range(len(u)):
            if kept[t, i]:
                back = _dot(u[i], error)
                _add(u[i], -rates[t] * hidden[i], error)
                _add(v[i], -rates[t] * back, x[t])


@compiled
def train_tied_rows(
    u: Matrix, x: Matrix, y: Matrix, kept: Matrix, keep: float, rates: Vector
) -> None:
    """The same where V is U: both steps are taken from the same U."""
    hidden, error = np.empty(len(u)), np.empty(u.shape[1])
    for t in range(len(x)):
        _forward(u, u, x[t], y[t], kept[t], keep, hidden, error)
        for i in range(len(u)):
            if kept[t, i]:
                back = _dot(u[i], error)
                _add(u[i], -rates[t] * hidden[i], error)
                _add(u[i], -rates[t] * back, x[t])


@compiled
def products(a: Matrix, b: Matrix) -> Matrix:
    """AB': the inner products of all rows."""
    out = np.empty((len(a), len(b)))
    for i in range(len(a)):
        for j in range(len(b)):
            out[i, j] = _dot(a[i], b[j])
    return out


@inlined
def _forward(
    u: Matrix,
    v: Matrix,
    x: Vector,
    y: Vector,
    kept: Vector,
    keep: float,
    hidden: Vector,
    error: Vector,
) -> None:
    """V'x of the nodes that are kept, and (1/θ) U diag(b) V'x − y."""
    for j in range(len(y)):
        error[j] = -y[j]
    for i in range(len(u)):
        if kept[i]:
            hidden[i] = _dot(v[i], x)
            _add(error, hidden[i] / keep, u[i])


@inlined
def _dot(a: Vector, b: Vector) -> float:
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@inlined
def _add(to: Vector, factor: float, what: Vector) -> None:
    for j in range(len(to)):
        to[j] += factor * what[j]
