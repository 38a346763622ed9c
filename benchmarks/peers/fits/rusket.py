"""EASE of rusket, fitted to the sparse matrix of interactions; no cap on memory."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from measure import Peer, measure
from rusket import EASE


def fit(x: sp.csr_matrix, ridge: float) -> EASE:
    return EASE(regularization=ridge).fit(x, max_memory_gb=1000)


def matrix(model: EASE) -> tuple[Any, Any]:
    b = np.asarray(model.item_weights)
    return b, np.arange(len(b))


if __name__ == "__main__":
    measure(Peer(["rusket", "numpy", "scipy"], lambda x: x, fit, matrix))
