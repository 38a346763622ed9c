"""SLIM fitted from X'X, with columns in parallel and an optional warm start."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from lindrop.base.arrays import Matrix
from lindrop.base.errors import UserError
from lindrop.base.parallel import map_blocks
from lindrop.base.reporting import Progress, logger
from lindrop.linalg.kernels import Array
from lindrop.models.base import Fit, SparseItems, Training
from lindrop.models.slim.coordinates import solve_columns

COLUMNS = 32  # number of columns that a thread solves at once, each kept as a dense row


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
) -> Fit:
    """Minimise ½‖X - XB‖² + l2/2 ‖B‖² + l1 Σ|B_ij| with diag(B) = 0 and, if `nonnegative`, B ≥ 0.

    A `start`, the model of similar penalties, saves time; the result is within `tolerance` anyway.
    """
    penalty = Penalty(l1, l2, nonnegative, tolerance)
    parts, progress = spread(data.items), Progress("SLIM", data.items, unit="columns")
    solved, unsolved = [], 0
    for rows, failed in solve(data.read_gram(np.float32), parts, penalty, start):
        solved.append(rows)
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
    """For each part, its columns of B as rows of a sparse array, and how many did not converge."""
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


def spread(items: int) -> list[Array]:
    """All columns, split into parts of about `COLUMNS` that are each spread evenly over the items.

    Columns of popular items come first in the data and take longer. As each part is a sample of all
    columns, the remaining time can be estimated from the first parts.
    """
    parts = -(-items // COLUMNS)
    return [np.arange(first, items, parts) for first in range(parts)]
