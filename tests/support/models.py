"""Data of a few tastes, and what each model needs to be fitted on them."""

import numpy as np
import scipy.sparse as sp

from lindrop.models.catalogue import CATALOGUE, TORCH


def tasteful(users, items, seed=0):
    """Binary, with a few directions that users share."""
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=(users, 4)) @ rng.normal(size=(4, items)) + rng.normal(size=items)
    return sp.csr_array((taste + rng.logistic(size=taste.shape) > 2).astype(np.float32))


X = tasteful(200, 40)
ITEMS = np.array([f"film {i} ü" for i in range(40)], object)
WITHOUT_TORCH = [name for name in CATALOGUE if name not in TORCH]
WITHOUT_P = {"popularity", "weight_decay", "product_l2", "zero_diagonal_l2", "full_l2", "ease"}
BASELINES = {
    "slim": {"l1": 1.0, "l2": 10.0},
    "wmf": {"factors": 8, "ridge": 10.0, "alpha": 2.0},
}
SINGULAR = {
    "an item without users": sp.csr_array(X.toarray() * (np.arange(40) != 30)),
    "two items alike": sp.csr_array(X.toarray()[:, [*range(39), 3]]),
    "fewer users than items": X[:25],
}


def arguments(name, p=0.3, ridge=10.0):
    """Every parameter that a model needs, for `fit`."""
    if name in BASELINES:
        return BASELINES[name]
    chosen = {"p": p, "ridge": ridge}
    if name in WITHOUT_P:
        del chosen["p"]
    if name == "popularity":
        del chosen["ridge"]
    return chosen | ({"rank": 8} if CATALOGUE[name].low_rank else {})
