"""EASE and SLIM of RecBole, fitted to its Dataset, which it reads from a file of pairs.

Its SLIM calls scikit-learn for each column, with at most 100 sweeps. Names that NumPy 2 removed,
and that RecBole reads, are restored.
"""

import contextlib
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from peers.fits.measure import Peer, measure

GONE = {"float_": np.float64, "complex_": np.complex128, "unicode_": np.str_}
READ: dict[str, Any] = {
    "USER_ID_FIELD": "user",
    "ITEM_ID_FIELD": "item",
    "load_col": {"inter": ["user", "item"]},
    "use_gpu": False,
    "data_path": ".",
    "state": "ERROR",
}
Data = tuple[Any, int]


def prepare(x: sp.csr_matrix) -> Data:
    vars(np).update(GONE)
    warnings.simplefilter("ignore")
    import pandas as pd
    from recbole.config import Config
    from recbole.data import create_dataset

    entries = x.tocoo()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("set").mkdir()
        pairs = pd.DataFrame({"user:token": entries.row, "item:token": entries.col})
        pairs.to_csv("set/set.inter", sep="\t", index=False)
        return create_dataset(Config(model="EASE", dataset="set", config_dict=READ)), x.shape[1]


def fit(name: str, data: Data, **options: Any) -> tuple[Any, Data]:
    from recbole.config import Config
    from recbole.model import general_recommender

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        config = Config(model=name, dataset="set", config_dict=READ | options)
    return getattr(general_recommender, name)(config, data[0]).item_similarity, data


def ease(data: Data, ridge: float) -> Any:
    return fit("EASE", data, reg_weight=ridge)


def slim(data: Data, l1: float, l2: float) -> Any:
    users = data[0].user_num  # with one that pads
    penalties = {"alpha": (l1 + l2) / users, "l1_ratio": l1 / (l1 + l2)}
    return fit("SLIMElastic", data, positive_only=True, hide_item=True, **penalties)


def matrix(fitted: tuple[Any, Data]) -> tuple[Any, Any]:
    b, (data, items) = fitted
    numbers = data.token2id("item", [str(item) for item in range(items)])
    dense = b.toarray() if sp.issparse(b) else np.asarray(b)
    return dense[np.ix_(numbers, numbers)], np.arange(items)


PEER = Peer(
    title="RecBole",
    lock="recbole.lock",
    packages=["recbole", "torch", "numpy"],
    prepare=prepare,
    fits={"ease": ease, "slim_shipped": slim},
    matrix=matrix,
    pytorch=True,
)

if __name__ == "__main__":
    measure(PEER)
