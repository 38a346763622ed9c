"""The largest eigenpairs, by either method, are those of the matrix."""

import numpy as np
import pytest

from lindrop.linalg import spectrum
from lindrop.linalg.spectrum import top_eigenpairs
from support.matrices import DTYPES, tolerance

SPECTRA = {
    "fast decay": lambda n: 0.8 ** np.arange(n),
    "slow decay": lambda n: 1 / np.sqrt(1 + np.arange(n)),
    "pairs": lambda n: 0.95 ** (np.arange(n) // 2),
    "one value for all but a few": lambda n: np.r_[9.0, 8, 7, np.ones(n - 3)],
    "all the same": np.ones,
    "low rank": lambda n: np.r_[np.linspace(2, 1, 20), np.zeros(n - 20)],
    "some below zero": lambda n: 2 * 0.9 ** np.arange(n) - 0.1,
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", SPECTRA)
@pytest.mark.parametrize("block", [None, 1, 4, 7])
def test_the_largest_eigenpairs(kind, block, dtype, monkeypatch):
    """Decomposed whole (None) and by block Lanczos, whose blocks do not divide 203."""
    if block:
        monkeypatch.setattr(spectrum, "DENSE", 0)
        monkeypatch.setattr(spectrum, "BLOCK", block)
    n, k = 203, 15
    expected = SPECTRA[kind](n)
    q = np.linalg.qr(np.random.default_rng(0).standard_normal((n, n)))[0]
    matrix = (q * expected) @ q.T
    applied = []

    def times(y):
        applied.append(y.shape[1])
        return matrix.astype(dtype) @ y

    values, vectors = top_eigenpairs(times, n, k, dtype)
    assert set(applied) == {block or n}
    assert vectors.dtype == dtype
    assert vectors.flags.c_contiguous
    accuracy = spectrum.TOLERANCE if block else tolerance(dtype)
    np.testing.assert_allclose(values, expected[:k], rtol=accuracy)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=tolerance(dtype))
    residuals = np.linalg.norm(matrix @ vectors - vectors * values, axis=0)
    assert residuals.max() <= 1.01 * accuracy * (values[-1] if block else abs(expected).max())


@pytest.mark.parametrize("dtype", DTYPES)
def test_more_eigenpairs_than_the_matrix_has_rank(dtype, monkeypatch):
    """Block Lanczos stops; eigenvalues beyond the rank are zero, relative to the largest."""
    monkeypatch.setattr(spectrum, "DENSE", 0)
    monkeypatch.setattr(spectrum, "BLOCK", 4)
    x = np.random.default_rng(0).standard_normal((10, 150))
    calls = []
    values, vectors = top_eigenpairs(
        lambda y: calls.append(1) or ((x.T @ x).astype(dtype) @ y), 150, 20, dtype
    )
    expected = np.linalg.eigvalsh(x.T @ x)[::-1][:20]
    np.testing.assert_allclose(values, expected, atol=tolerance(dtype) * expected[0])
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(20), atol=tolerance(dtype))
    assert len(calls) < 60  # two fillings of the space, not sixty
