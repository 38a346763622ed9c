"""Interactions of which tests compute X'X."""

import numpy as np
import scipy.sparse as sp


def interactions(users=300, items=150, density=0.1, seed=0, most=1):
    """Random users × items counts from 0 to `most`; a tenth of users and of items have none."""
    random = np.random.default_rng(seed)
    x = (random.random((users, items)) < density) * random.integers(1, most + 1, (users, items))
    x[random.random(users) < 0.1] = 0
    x[:, random.random(items) < 0.1] = 0
    return sp.csr_array(x.astype(np.float32))
