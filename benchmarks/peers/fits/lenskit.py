"""EASE and SLIM of LensKit, fitted to its Dataset made from a table of users and items."""

from typing import Any

import scipy.sparse as sp
from peers.fits.measure import Peer, measure


def prepare(x: sp.csr_matrix) -> Any:
    import pandas as pd
    from lenskit.data import from_interactions_df

    entries = x.tocoo()
    return from_interactions_df(pd.DataFrame({"user_id": entries.row, "item_id": entries.col}))


def trained(model: Any, data: Any) -> Any:
    from lenskit.training import TrainingOptions

    model.train(data, TrainingOptions())
    return model


def ease(data: Any, ridge: float) -> Any:
    from lenskit.knn import EASEScorer

    return trained(EASEScorer(regularization=ridge), data)


def slim(data: Any, l1: float, l2: float, **stop: int) -> Any:
    from lenskit.knn import SLIMScorer

    return trained(SLIMScorer(l1_reg=l1, l2_reg=l2, **stop), data)


PEER = Peer(
    title="LensKit",
    lock="lenskit.lock",
    packages=["lenskit", "torch", "numpy"],
    prepare=prepare,
    fits={"ease": ease, "slim_shipped": slim},
    matrix=lambda model: (model.weights, model.items.ids()),
    pytorch=True,
)

if __name__ == "__main__":
    measure(PEER)
