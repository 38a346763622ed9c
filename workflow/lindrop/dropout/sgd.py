"""Compiled training with dropout: Algorithm 1 of Mianjy 2018, with a new x ~ N(0, I) per step.

The target of x is y = Mx. η is the printed step size. The expected printed step is −η(θ/2) times
the gradient of the objective f of Eq. 2. With tied weights a step is the sum of the printed steps
of U and of V, for which this holds too.

Weights are stored transposed, a hidden node per row, so that dropped nodes are skipped and the
others are contiguous. BLAS is not used, since its threads could change the order of sums.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.base.compiling import compiled_by

BLOCK = 128  # number of steps whose samples and masks are drawn at once and fit into a cache

# reordering of sums allows vector instructions; NaN and infinity still propagate
FAST = {"reassoc", "contract"}
compiled = compiled_by(nogil=True, cache=True, fastmath=FAST)
inlined = compiled_by(inline="always", fastmath=FAST)

Train = Callable[[Matrix, Matrix, Matrix, Vector], None]  # takes x, y, masks (a row per step), η


def dropout_sgd(
    m: Matrix,
    u: Matrix,
    v: Matrix,
    keep: float,
    rates: Vector,
    checkpoints: Sequence[int],
    rng: np.random.Generator,
) -> Iterator[tuple[Matrix, Matrix]]:
    """Yield U_t and V_t of Algorithm 1 (Mianjy 2018) at rising checkpoints t.

    `rates` are the step sizes η_0, η_1, …; `keep` is θ. Samples and masks do not depend on the
    choice of checkpoints.
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
    """Yield U_t of Algorithm 1 (Mianjy 2018) with tied weights U = V at rising checkpoints t.

    `rates` are the step sizes η_0, η_1, …; `keep` is θ.
    """
    rows = _rows(u)

    def train(x: Matrix, y: Matrix, kept: Matrix, etas: Vector) -> None:
        train_tied_rows(rows, x, y, kept, keep, etas)

    for _ in _steps(train, m, rows, rows, keep, rates, checkpoints, rng):
        yield rows.T.copy()


def _rows(weights: Matrix) -> Matrix:
    """Transposed copy of the weights to be trained, a hidden node per row."""
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
    """Train up to each checkpoint and yield its number of steps."""
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
    """Line 4 of Algorithm 1 for every row of x, y and `kept`; changes U' and V' in place."""
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
    """Steps with tied weights, one per row of x, y and `kept`; changes U' in place.

    A step is the sum of the printed steps of U and of V, both computed at the same U.
    """
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
    """AB', the inner products of all rows of A with all rows of B, without BLAS."""
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
    """Write V'x of the kept nodes into `hidden`, and (1/θ) U diag(b) V'x − y into `error`."""
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
