"""Interactions for models on a pattern, and the columns that are solved for them."""

import numpy as np
import scipy.sparse as sp

from lindrop.models.base import Training
from lindrop.models.pattern.solver import Solver
from support.models import tasteful


def rare(users=400, items=90, density=0.04, seed=0):
    """Interactions so sparse that most pairs of items share no user."""
    rng = np.random.default_rng(seed)
    shares = density * np.linspace(2, 0.1, items)
    return sp.csr_array((rng.random((users, items)) < shares).astype(np.float32))


def weighted(x, seed=1):
    """Entries of either sign in the places of X."""
    x = x.copy()
    x.data = np.random.default_rng(seed).normal(size=x.nnz).astype(np.float32)
    return x


X = {"dense": tasteful(300, 70), "rare": rare(), "weighted": weighted(rare())}


def solved(x, k, p=0.4, ridge=5.0, dtype=np.float64, **options):
    """A solver for X, and all columns of B with k neighbours each."""
    data = Training.of(x, dtype=dtype)
    solver = Solver(data, k, p, ridge, **options)
    return solver, solver.columns(np.arange(data.items))


def dense(model):
    """B of a sparse model."""
    return model.matrix.toarray().astype(np.float64)
