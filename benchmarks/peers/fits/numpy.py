"""EASE and EDLAE in NumPy and float64 as their papers print them, the reference for both."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from peers.fits.measure import Peer, as_it_is, measure


def fit(x: sp.csr_matrix, ridge: float, p: float = 0.0) -> Any:
    g = (x.T @ x).toarray()
    diagonal = np.diag_indices(len(g))
    g[diagonal] += p / (1 - p) * g[diagonal] + ridge
    c = np.linalg.inv(g)
    b = c / -np.diag(c)
    b[diagonal] = 0.0
    return b


PEER = Peer(
    title="NumPy, as printed",
    lock=None,
    packages=["numpy", "scipy"],
    prepare=lambda x: x.astype(np.float64),
    fits={"ease": fit, "edlae": fit},
    matrix=as_it_is,
)

if __name__ == "__main__":
    measure(PEER)
