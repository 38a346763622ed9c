"""EASE (its DenseSLIM), EDLAE and SLIM of irspack, fitted to the sparse matrix of interactions.

Its SLIM stops like ours: when a sweep changes no weight by more than 1e-4.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from peers.fits.measure import Peer, as_it_is, measure

SWEEPS = 10_000  # so that it stops where the tolerance says


def ease(x: sp.csr_matrix, ridge: float) -> Any:
    from irspack import DenseSLIMRecommender

    return DenseSLIMRecommender(x, reg=ridge).learn()


def edlae(x: sp.csr_matrix, p: float, ridge: float) -> Any:
    from irspack.recommenders import EDLAERecommender

    return EDLAERecommender(x, reg=ridge, dropout_p=p).learn()


def slim(x: sp.csr_matrix, l1: float, l2: float, **stop: Any) -> Any:
    from irspack import SLIMRecommender

    alpha = (l1 + l2) / x.shape[0]
    return SLIMRecommender(x, alpha=alpha, l1_ratio=l1 / (l1 + l2), **stop).learn()


def same_slim(x: sp.csr_matrix, l1: float, l2: float) -> Any:
    return slim(x, l1, l2, n_iter=SWEEPS)


def matrix(model: Any) -> tuple[Any, Any]:
    return as_it_is(model.W if sp.issparse(model.W) else np.asarray(model.W))


PEER = Peer(
    title="irspack",
    lock="irspack.lock",
    packages=["irspack", "numpy", "scipy"],
    prepare=lambda x: x,
    fits={"ease": ease, "edlae": edlae, "slim": same_slim, "slim_shipped": slim},
    matrix=matrix,
)

if __name__ == "__main__":
    measure(PEER)
