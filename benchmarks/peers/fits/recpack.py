"""EASE of RecPack, fitted to the sparse matrix of interactions."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from measure import Peer, measure
from recpack.algorithms import EASE


def fit(x: sp.csr_matrix, ridge: float) -> EASE:
    return EASE(l2=ridge).fit(x)


def matrix(model: EASE) -> tuple[Any, Any]:
    b = model.similarity_matrix_
    return b, np.arange(b.shape[0])


if __name__ == "__main__":
    measure(Peer(["recpack", "numpy", "scipy"], lambda x: x, fit, matrix))
