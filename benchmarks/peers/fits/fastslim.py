"""SLIM of fastslim: the same objective, and it stops like ours, when no weight moves by 1e-4."""

from typing import Any

import scipy.sparse as sp
from peers.fits.measure import Peer, as_it_is, measure


def slim(x: sp.csr_matrix, l1: float, l2: float) -> Any:
    import fastslim

    return fastslim.fit(x, lambd=l1, beta=l2)


PEER = Peer(
    title="fastslim",
    lock="fastslim.lock",
    packages=["fastslim", "numpy", "scipy"],
    prepare=lambda x: x,
    fits={"slim": slim},
    matrix=as_it_is,
)

if __name__ == "__main__":
    measure(PEER)
