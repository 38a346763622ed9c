"""EASE of LensKit, fitted to its Dataset made from a table of users and items."""

from typing import Any

import pandas as pd
import scipy.sparse as sp
from lenskit.data import Dataset, from_interactions_df
from lenskit.knn import EASEScorer
from measure import Peer, measure


def prepare(x: sp.csr_matrix) -> Dataset:
    entries = x.tocoo()
    return from_interactions_df(pd.DataFrame({"user_id": entries.row, "item_id": entries.col}))


def fit(data: Dataset, ridge: float) -> EASEScorer:
    model = EASEScorer(regularization=ridge)
    model.train(data)
    return model


def matrix(model: EASEScorer) -> tuple[Any, Any]:
    return model.weights, model.items.ids()


if __name__ == "__main__":
    measure(Peer(["lenskit", "torch", "numpy"], prepare, fit, matrix))
