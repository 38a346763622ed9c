"""EASE and SLIM of skrecsys, fitted to an array of pairs of a user and an item.

Its SLIM stops by a duality gap and keeps the 100 largest weights of each column.
"""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from peers.fits.measure import Peer, measure


def prepare(x: sp.csr_matrix) -> np.ndarray:
    entries = x.tocoo()
    return np.column_stack([entries.row, entries.col])


def ease(pairs: np.ndarray, ridge: float) -> Any:
    from skrecsys.recommendation import EASE

    return EASE(l2_reg=ridge).fit(pairs)


def slim(pairs: np.ndarray, l1: float, l2: float, **stop: Any) -> Any:
    from skrecsys.recommendation import SLIMElasticNet

    warnings.simplefilter("ignore")
    alpha = (l1 + l2) / (pairs[:, 0].max() + 1)
    return SLIMElasticNet(alpha=alpha, l1_ratio=l1 / (l1 + l2), **stop).fit(pairs)


def same_slim(pairs: np.ndarray, l1: float, l2: float) -> Any:
    return slim(pairs, l1, l2, n_neighbors=10**9, max_iter=10_000)


PEER = Peer(
    title="skrecsys",
    lock="skrecsys.lock",
    packages=["skrecsys", "numpy", "scipy"],
    prepare=prepare,
    fits={"ease": ease, "slim": same_slim, "slim_shipped": slim},
    matrix=lambda model: (model.similarity_, np.asarray(model.item_ids_)),
)

if __name__ == "__main__":
    measure(PEER)
