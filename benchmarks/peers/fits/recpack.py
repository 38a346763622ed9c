"""EASE and SLIM of RecPack, fitted to the sparse matrix of interactions.

Its SLIM is a stochastic gradient descent without the constraint B ≥ 0; negative weights are dropped
at the end. It has no setting for another stop.
"""

from typing import Any

import scipy.sparse as sp
from peers.fits.measure import Peer, as_it_is, measure


def ease(x: sp.csr_matrix, ridge: float) -> Any:
    from recpack.algorithms import EASE

    return EASE(l2=ridge).fit(x)


def slim(x: sp.csr_matrix, l1: float, l2: float) -> Any:
    from recpack.algorithms import SLIM

    users = x.shape[0]
    return SLIM(l1_reg=l1 / users, l2_reg=l2 / users, fit_intercept=False).fit(x)


PEER = Peer(
    title="RecPack",
    lock="recpack.lock",
    packages=["recpack", "numpy", "scipy"],
    prepare=lambda x: x,
    fits={"ease": ease, "slim_shipped": slim},
    matrix=lambda model: as_it_is(model.similarity_matrix_),
    pytorch=True,
)

if __name__ == "__main__":
    measure(PEER)
