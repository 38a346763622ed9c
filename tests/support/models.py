"""Data of a few tastes, and what each model needs to be fitted on them."""

import numpy as np
import scipy.sparse as sp

from lindrop.models.catalogue import CATALOGUE, TORCH
from lindrop.models.tuning import parameters
from lindrop.ranking.grids import axes


def tasteful(users, items, seed=0):
    """Binary, with a few directions that users share."""
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=(users, 4)) @ rng.normal(size=(4, items)) + rng.normal(size=items)
    return sp.csr_array((taste + rng.logistic(size=taste.shape) > 2).astype(np.float32))


X = tasteful(200, 40)
ITEMS = np.array([f"film {i} ü" for i in range(40)], object)
WITHOUT_TORCH = [name for name in CATALOGUE if name not in TORCH]
# Values of the searched options.
VALUES = {"l1": 1.0, "l2": 10.0, "factors": 8, "alpha": 2.0, "neighbours": 12}
SINGULAR = {
    "an item without users": sp.csr_array(X.toarray() * (np.arange(40) != 30)),
    "two items alike": sp.csr_array(X.toarray()[:, [*range(39), 3]]),
    "fewer users than items": X[:25],
}


def arguments(name, p=0.3, ridge=10.0):
    """Every parameter that a model needs, for `fit`: the options that are searched, and a rank."""
    values, entry = VALUES | {"p": p, "lambda": ridge}, CATALOGUE[name]
    options = {option: stated.default for option, stated in entry.options.items()}
    point = {axis: values.get(axis, grid[0]) for axis, grid in axes(options).items()}
    return parameters(point, {}) | ({"rank": 8} if entry.low_rank else {})
