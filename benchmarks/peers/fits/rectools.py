"""EASE of RecTools, fitted to its Dataset made from a table of users, items, weights and times."""

from typing import Any

import scipy.sparse as sp
from peers.fits.measure import Peer, measure


def prepare(x: sp.csr_matrix) -> Any:
    import pandas as pd
    from rectools import Columns
    from rectools.dataset import Dataset

    entries = x.tocoo()
    table = pd.DataFrame({Columns.User: entries.row, Columns.Item: entries.col})
    table[Columns.Weight] = 1.0
    table[Columns.Datetime] = pd.Timestamp("2020-01-01")
    return Dataset.construct(table)


def ease(data: Any, ridge: float) -> tuple[Any, Any]:
    from rectools.models import EASEModel

    return EASEModel(regularization=ridge).fit(data), data


PEER = Peer(
    title="RecTools",
    lock="rectools.lock",
    packages=["rectools", "numpy", "scipy"],
    prepare=prepare,
    fits={"ease": ease},
    matrix=lambda fitted: (fitted[0].weight, fitted[1].item_id_map.external_ids),
)

if __name__ == "__main__":
    measure(PEER)
