"""EASE of rusket, fitted to the sparse matrix of interactions; no cap on memory."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from peers.fits.measure import Peer, as_it_is, measure


def ease(x: sp.csr_matrix, ridge: float) -> Any:
    from rusket import EASE

    return EASE(regularization=ridge).fit(x, max_memory_gb=1000)


PEER = Peer(
    title="rusket",
    lock="rusket.lock",
    packages=["rusket", "numpy", "scipy"],
    prepare=lambda x: x,
    fits={"ease": ease},
    matrix=lambda model: as_it_is(np.asarray(model.item_weights)),
)

if __name__ == "__main__":
    measure(PEER)
