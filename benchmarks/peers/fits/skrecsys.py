"""EASE of skrecsys, fitted to an array of pairs of a user and an item."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from measure import Peer, measure
from skrecsys.recommendation import EASE


def prepare(x: sp.csr_matrix) -> np.ndarray:
    entries = x.tocoo()
    return np.column_stack([entries.row, entries.col])


def fit(pairs: np.ndarray, ridge: float) -> EASE:
    return EASE(l2_reg=ridge).fit(pairs)


def matrix(model: EASE) -> tuple[Any, Any]:
    return model.similarity_, np.asarray(model.item_ids_)


if __name__ == "__main__":
    measure(Peer(["skrecsys", "numpy", "scipy"], prepare, fit, matrix))
