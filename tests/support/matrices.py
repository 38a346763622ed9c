"""Matrices with known answers, and how far a result may be from one."""

import numpy as np

DTYPES = [np.float32, np.float64]


def counts(n):
    """X'X of sparse counts, in whole numbers; well conditioned."""
    x = np.random.default_rng(n).poisson(0.1, (500, n)).astype(float)
    return x.T @ x + 20 * np.eye(n)


def distance(found, expected):
    assert found.shape == expected.shape
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


def tolerance(dtype):
    return 2e3 * np.finfo(dtype).eps
