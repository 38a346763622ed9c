"""EASE of lindrop, fitted to the sparse matrix of interactions."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from measure import Peer, measure

from lindrop.models.base import Training
from lindrop.models.catalogue import fit


def fit_ease(x: sp.csr_array, ridge: float) -> Any:
    return fit("ease", Training.of(x, keep=False), ridge=ridge).model


def matrix(model: Any) -> tuple[Any, Any]:
    b = model.matrix
    return b, np.arange(len(b))


if __name__ == "__main__":
    measure(Peer(["numpy", "scipy", "numba"], sp.csr_array, fit_ease, matrix))
