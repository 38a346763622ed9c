"""Pal 2020, Theorem 2.7 on the synthetic set: where training should end."""

import numpy as np

from lindrop.dropout.dropblock import beta_at, optimum
from lindrop.dropout.k_support import enumerated_prox, squared_norm_printed
from lindrop.papers.pal2020.synthetic import HIDDEN, Problem


def minimum(problem: Problem, keep: float, block: int) -> float:
    """By Theorem 2.7, with its corrections."""
    return optimum(problem.y, block, beta_at(keep, block, HIDDEN), problem.x).value


def minimum_as_printed(problem: Problem, keep: float, block: int) -> float:
    """The least F of Theorem 2.7 where F has the norm of Theorem 2.3, both as printed (E12, E13).

    X has full column rank here, as the theorem asks.
    """
    beta = beta_at(keep, block, HIDDEN)
    m = np.linalg.svd(problem.y, compute_uv=False)
    a = enumerated_prox(m, block, beta, block - 1, squared_norm_printed)
    return float(np.sum((m - a) ** 2) + beta * squared_norm_printed(a, block))
