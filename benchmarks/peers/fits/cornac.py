"""EASE of Cornac, fitted to its Dataset of (user, item, rating); `posB=False` allows any sign."""

from typing import Any

import scipy.sparse as sp
from cornac.data import Dataset
from cornac.models import EASE
from measure import Peer, measure


def prepare(x: sp.csr_matrix) -> Dataset:
    entries = x.tocoo()
    rows, columns, values = (part.tolist() for part in (entries.row, entries.col, entries.data))
    return Dataset.from_uir(zip(rows, columns, values, strict=True), seed=0)


def fit(data: Dataset, ridge: float) -> EASE:
    return EASE(lamb=ridge, posB=False, verbose=False).fit(data)


def matrix(model: EASE) -> tuple[Any, Any]:
    return model.B, model.item_ids


if __name__ == "__main__":
    measure(Peer(["cornac", "numpy", "scipy"], prepare, fit, matrix))
