"""Enumeration of all outcomes of a few coins, for exact expectations over dropout masks."""

import numpy as np

from lindrop.base.arrays import Matrix, Vector


def outcomes(coins: int, heads: float) -> tuple[Matrix, Vector]:
    """All 2^coins outcomes of independent coins (a row each, true for heads), with probabilities.

    `heads` is the probability of heads.
    """
    kept = (np.arange(1 << coins)[:, None] >> np.arange(coins)) & 1 == 1
    return kept, np.where(kept, heads, 1 - heads).prod(axis=1)
