"""EASE of RecTools, fitted to its Dataset made from a table of users, items, weights and times."""

from typing import Any

import pandas as pd
import scipy.sparse as sp
from measure import Peer, measure
from rectools import Columns
from rectools.dataset import Dataset
from rectools.models import EASEModel

Fitted = tuple[EASEModel, Dataset]


def prepare(x: sp.csr_matrix) -> Dataset:
    entries = x.tocoo()
    table = pd.DataFrame({Columns.User: entries.row, Columns.Item: entries.col})
    table[Columns.Weight] = 1.0
    table[Columns.Datetime] = pd.Timestamp("2020-01-01")
    return Dataset.construct(table)


def fit(data: Dataset, ridge: float) -> Fitted:
    return EASEModel(regularization=ridge).fit(data), data


def matrix(fitted: Fitted) -> tuple[Any, Any]:
    model, data = fitted
    return model.weight, data.item_id_map.external_ids


if __name__ == "__main__":
    measure(Peer(["rectools", "numpy", "scipy"], prepare, fit, matrix))
