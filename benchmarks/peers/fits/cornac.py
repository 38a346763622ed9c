"""EASE of Cornac, fitted to its Dataset of (user, item, rating); `posB=False` allows any sign."""

from typing import Any

import scipy.sparse as sp
from peers.fits.measure import Peer, measure


def prepare(x: sp.csr_matrix) -> Any:
    from cornac.data import Dataset

    entries = x.tocoo()
    rows, columns, values = (part.tolist() for part in (entries.row, entries.col, entries.data))
    return Dataset.from_uir(zip(rows, columns, values, strict=True), seed=0)


def ease(data: Any, ridge: float) -> Any:
    from cornac.models import EASE

    return EASE(lamb=ridge, posB=False, verbose=False).fit(data)


PEER = Peer(
    title="Cornac",
    lock="cornac.lock",
    packages=["cornac", "numpy", "scipy"],
    prepare=prepare,
    fits={"ease": ease},
    matrix=lambda model: (model.B, model.item_ids),
)

if __name__ == "__main__":
    measure(PEER)
