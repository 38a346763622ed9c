"""SLIM from X'X: columns in parallel, each from the weights of a fit with other penalties."""

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

COLUMNS = 32  # solved at once by a thread, in that many dense rows


@dataclass(frozen=True)
class Penalty:
    """l2/2 ‖B‖² + l1 Σ|B_ij|, the sign that B may have, and how exactly B is wanted."""

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
    """½‖X - XB‖² + l2/2 ‖B‖² + l1 Σ|B_ij| with diag(B) = 0 and, as published, B ≥ 0.

    `start` changes the time only: every column ends within `tolerance`.
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
    """The columns of each part as rows, and how many are not solved."""
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
    """All columns in parts of about `COLUMNS`, each spread evenly over the items.

    Any part is a sample of all: columns of popular items take longer, and come first in the data,
    so that the time left which the first parts promise would be wrong otherwise.
    """
    parts = -(-items // COLUMNS)
    return [np.arange(first, items, parts) for first in range(parts)]
