"""Every outcome of a few coins in turn: expectations without sampling."""

import numpy as np

from lindrop.base.arrays import Matrix, Vector


def outcomes(coins: int, heads: float) -> tuple[Matrix, Vector]:
    """Every outcome of independent coins, a row each, and its probability."""
    kept = (np.arange(1 << coins)[:, None] >> np.arange(coins)) & 1 == 1
    return kept, np.where(kept, heads, 1 - heads).prod(axis=1)
