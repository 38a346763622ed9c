"""SLIM (Ning and Karypis 2011): a sparse items × items matrix B, one elastic net per column.

Column j minimises ½‖x_j - X b‖² + l2/2 ‖b‖² + l1‖b‖₁ over b with b_j = 0 and, if `nonnegative`,
b ≥ 0. Given all other weights, the best b_k is S(r_k + G_kk b_k, l1) / (G_kk + l2), with the
residual r = X'(x_j - X b) and the soft threshold S. A column is solved when no weight would move by
more than `tolerance`, which measures the violation of the optimality conditions in units of a
weight.

Descent is restricted to a working set of items, whose block of G stays in the cache. When the
working set is solved, r is computed for all items, and the items that would move most join the set.
r is kept in float64, as large counts times weights cancel in it.

If b ≥ 0 is required, an item i with G_ij ≤ l1 has weight 0: as no count is negative, r_i + G_ii b_i
is at most G_ij. Only the candidates, items that share more than l1 users with j, are looked at.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from lindrop.base.arrays import Matrix
from lindrop.base.errors import UserError
from lindrop.base.parallel import map_blocks
from lindrop.base.reporting import Progress, logger
from lindrop.linalg.kernels import Array, compiled
from lindrop.models.base import Fit, SparseItems, Training

COLUMNS = 32  # number of columns that a thread solves at once, each kept as a dense row

FEWEST = 32  # limit of items that join a small working set at once; a larger set may double
SWEEPS = 10_000  # upper limit of sweeps over a working set
ROUNDS = 1_000  # upper limit of working sets for a column


@dataclass(frozen=True)
class Penalty:
    """Penalty l2/2 ‖B‖² + l1 Σ|B_ij|, whether B ≥ 0 is required, and the tolerance per weight."""

    l1: float
    l2: float
    nonnegative: bool = True
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        if not (self.l1 >= 0.0 and self.l2 >= 0.0 and self.l1 + self.l2 > 0.0):
            raise UserError(
                f"l1 = {self.l1} and l2 = {self.l2}: both must be at least 0, and one above 0"
            )


def fit_slim(
    data: Training,
    l1: float,
    l2: float,
    nonnegative: bool = True,
    tolerance: float = 1e-4,
    start: SparseItems | None = None,
    largest: int = 0,
) -> Fit:
    """Minimise ½‖X - XB‖² + l2/2 ‖B‖² + l1 Σ|B_ij| with diag(B) = 0 and, if `nonnegative`, B ≥ 0.

    If `largest` is not 0, only this number of weights of each column is kept afterwards. A `start`,
    the model of similar penalties, saves time; the result is within `tolerance` anyway.
    """
    penalty = Penalty(l1, l2, nonnegative, tolerance)
    parts, progress = spread(data.items), Progress("SLIM", data.items, unit="columns")
    solved, unsolved = [], 0
    for rows, failed in solve(data.read_gram(np.float32), parts, penalty, start):
        solved.append(largest_of_rows(rows, largest) if largest else rows)
        unsolved += failed
        progress.advance(rows.shape[0])
    logger.info("%s", progress)
    if unsolved:
        logger.info("%d columns NOT CONVERGED to %g", unsolved, tolerance)
    order = np.argsort(np.concatenate(parts))
    matrix = sp.vstack(solved, format="csr")[order].T.tocsr()
    return Fit(SparseItems(matrix.indptr, matrix.indices, matrix.data), converged=not unsolved)


def solve(
    gram: Matrix, parts: Sequence[Array], penalty: Penalty, start: SparseItems | None = None
) -> Iterator[tuple[sp.csr_array, int]]:
    """Solve B part by part; yields a part's columns and how many of them did not converge.

    `parts` lists column numbers. Columns are the rows of the sparse array that is yielded.
    """
    warm = sp.csc_array(start.matrix) if start else sp.csc_array(gram.shape, dtype=np.float32)

    def part(first: int, _: int) -> tuple[sp.csr_array, int]:
        columns = parts[first]
        weights = warm[:, columns].T.toarray().astype(np.float64)
        unsolved = solve_columns(
            gram,
            weights,
            columns,
            float(penalty.l1),
            float(penalty.l2),
            penalty.nonnegative,
            penalty.tolerance,
        )
        return sp.csr_array(weights.astype(np.float32)), unsolved

    return map_blocks(part, len(parts), 1)


def largest_of_rows(rows: sp.csr_array, count: int) -> sp.csr_array:
    """The `count` entries of each row that are largest in absolute value; of equals, the first."""
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    order = np.lexsort((np.arange(rows.nnz), -abs(rows.data), row))
    place = np.arange(rows.nnz) - rows.indptr[row]  # `row` is sorted, so `order` has its rows
    kept = np.sort(order[place < count])
    return sp.csr_array((rows.data[kept], (row[kept], rows.indices[kept])), shape=rows.shape)


def spread(items: int) -> list[Array]:
    """All columns, split into parts of about `COLUMNS` that are each spread evenly over the items.

    Columns of popular items come first in the data and take longer. As each part is a sample of all
    columns, the remaining time can be estimated from the first parts.
    """
    parts = -(-items // COLUMNS)
    return [np.arange(first, items, parts) for first in range(parts)]


@compiled
def solve_columns(
    gram: Array,
    weights: Array,
    columns: Array,
    l1: float,
    l2: float,
    nonnegative: bool,
    tolerance: float,
) -> int:
    """Solve the given columns of B in place and return how many did not converge in `ROUNDS`.

    Row i of `weights` holds the start of column `columns[i]`, and receives its solution.
    """
    unsolved = 0
    for row in range(len(weights)):
        b, j = weights[row], columns[row]
        items = _candidates(gram, j, l1, nonnegative)
        start = b[items].copy()
        b[:] = 0.0  # a start may have weights that are 0 with these penalties
        b[items] = start
        residual, steps = np.empty(items.size), np.empty(items.size)
        for _ in range(ROUNDS):
            _residual(gram, j, b, items, residual)
            _steps(gram, b, items, residual, l1, l2, nonnegative, steps)
            working = _working_set(b[items], steps, tolerance)
            if working.size == 0:
                break
            _descend(gram, b, items[working], residual[working], l1, l2, nonnegative, tolerance)
        else:
            unsolved += 1
    return unsolved


@compiled
def distance(gram: Array, j: int, b: Array, l1: float, l2: float, nonnegative: bool) -> float:
    """Largest step that coordinate descent would make for any weight of column j."""
    items = np.arange(len(gram))
    residual, steps = np.empty(items.size), np.empty(items.size)
    _residual(gram, j, b, items, residual)
    _steps(gram, b, items, residual, l1, l2, nonnegative, steps)
    steps[j] = 0.0
    farthest: float = steps.max()
    return farthest


@compiled
def _candidates(gram: Array, j: int, l1: float, nonnegative: bool) -> Array:
    """Items whose weight in column j may differ from 0."""
    possible = np.diag(gram) > 0.0
    if nonnegative:
        possible &= gram[j] > l1
    possible[j] = False
    return np.flatnonzero(possible)


@compiled
def _residual(gram: Array, j: int, b: Array, items: Array, residual: Array) -> None:
    """Write r = X'(x_j - X b) of these items, a sum over the items with a nonzero weight."""
    counts = gram[j]
    for position in range(items.size):
        residual[position] = counts[items[position]]
    for k in np.flatnonzero(b):
        weight, counts = b[k], gram[k]
        for position in range(items.size):
            residual[position] -= weight * counts[items[position]]


@compiled
def _best(target: float, curvature: float, l1: float, nonnegative: bool) -> float:
    """Optimal value of one weight: the soft threshold of `target`, divided by the curvature."""
    if target > l1:
        return (target - l1) / curvature
    if nonnegative or target >= -l1:
        return 0.0
    return (target + l1) / curvature


@compiled
def _steps(
    gram: Array,
    b: Array,
    items: Array,
    residual: Array,
    l1: float,
    l2: float,
    nonnegative: bool,
    steps: Array,
) -> None:
    """Write the step that coordinate descent would make for each of these items' weights."""
    for position in range(items.size):
        k = items[position]
        own = gram[k, k]
        target = residual[position] + own * b[k]
        best = _best(target, own + l2, l1, nonnegative) if own > 0.0 else b[k]
        steps[position] = abs(best - b[k])


@compiled
def _working_set(b: Array, steps: Array, tolerance: float) -> Array:
    """Positions of nonzero weights and of those that would move most; empty if none would move."""
    moving = np.flatnonzero(steps > tolerance)
    if moving.size == 0:
        return moving
    support = np.flatnonzero(b)
    joining = moving[b[moving] == 0.0]
    most = max(FEWEST, support.size)
    if joining.size > most:
        joining = joining[np.argsort(-steps[joining])[:most]]
    return np.sort(np.concatenate((support, joining)))


@compiled
def _descend(
    gram: Array,
    b: Array,
    working: Array,
    residual: Array,
    l1: float,
    l2: float,
    nonnegative: bool,
    tolerance: float,
) -> None:
    """Sweep over the working set until no weight moves by more than half the tolerance."""
    size = working.size
    block = np.empty((size, size), gram.dtype)
    for row in range(size):
        block[row] = gram[working[row]][working]
    r, w = residual.copy(), b[working].astype(np.float64)
    for _ in range(SWEEPS):
        largest = 0.0
        for k in range(size):
            own = block[k, k]
            best = _best(r[k] + own * w[k], own + l2, l1, nonnegative)
            step = best - w[k]
            if step != 0.0:
                w[k] = best
                others = block[k]
                for i in range(size):
                    r[i] -= step * others[i]
                largest = max(largest, abs(step))
        if largest <= 0.5 * tolerance:
            break
    b[working] = w
