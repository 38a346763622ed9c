"""EASE in NumPy and float64 as its paper prints it, the reference of the comparison."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from measure import Peer, measure


def fit(x: sp.csr_matrix, ridge: float) -> np.ndarray:
    g = (x.T @ x).toarray()
    diagonal = np.diag_indices(len(g))
    g[diagonal] += ridge
    p = np.linalg.inv(g)
    b = p / -np.diag(p)
    b[diagonal] = 0.0
    return b


def matrix(b: np.ndarray) -> tuple[Any, Any]:
    return b, np.arange(len(b))


if __name__ == "__main__":
    measure(Peer(["numpy", "scipy"], lambda x: x.astype(np.float64), fit, matrix))
