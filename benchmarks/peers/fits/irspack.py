"""EASE of irspack, which it calls DenseSLIM, fitted to the sparse matrix of interactions."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from irspack import DenseSLIMRecommender
from measure import Peer, measure


def fit(x: sp.csr_matrix, ridge: float) -> DenseSLIMRecommender:
    return DenseSLIMRecommender(x, reg=ridge).learn()


def matrix(model: DenseSLIMRecommender) -> tuple[Any, Any]:
    b = np.asarray(model.W)
    return b, np.arange(len(b))


if __name__ == "__main__":
    measure(Peer(["irspack", "numpy", "scipy"], lambda x: x, fit, matrix))
