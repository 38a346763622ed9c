"""Sampled dropout has the gradients it claims and ends near the closed form that it samples."""

import numpy as np
import pytest
import scipy.sparse as sp

from lindrop.models.base import dropped
from lindrop.models.sampled import fit_sampled, gradients


@pytest.fixture(scope="module")
def x():
    """Binary, with a few directions that users share."""
    rng = np.random.default_rng(0)
    taste = rng.normal(size=(2_000, 4)) @ rng.normal(size=(4, 30)) + rng.normal(size=30)
    return sp.csr_array((taste + rng.logistic(size=taste.shape) > 2).astype(np.float32))


def penalty(gram, p, ridge):
    return p / (1 - p) * gram.diagonal() + ridge


def optimum(x, rank, p, ridge):
    """Minimum and minimiser B of row 3 (Steck 2020, Table 1; docs/models.md), in float64."""
    gram = (x.T @ x).toarray().astype(float)
    weights = penalty(gram, p, ridge)
    inverse = np.linalg.inv(gram + np.diag(weights))
    gcg = gram - np.diag(weights) + weights[:, None] * inverse * weights
    values, vectors = np.linalg.eigh(gcg)
    top = vectors[:, -rank:]
    return np.trace(gram) - values[-rank:].sum(), inverse @ gram @ top @ top.T


def objective(x, b, p, ridge):
    """‖X − XB‖² + ‖Λ̃^{1/2}B‖², what E‖X − ZB‖² + λ‖B‖² is (Eqs. 3 and 4)."""
    dense = x.toarray().astype(float)
    weights = penalty((x.T @ x).toarray().astype(float), p, ridge)
    return np.sum((dense - dense @ b) ** 2) + weights @ np.sum(b.astype(float) ** 2, axis=1)


def test_gradients_are_those_of_the_loss_with_the_mask_held():
    rng = np.random.default_rng(3)
    x = sp.csr_array(rng.poisson(0.5, size=(8, 7)).astype(float))
    z = dropped(x, 0.25, rng)
    u, v = rng.normal(size=(2, 7, 3))
    ridge = 0.5  # penalty per user, so the loss of 8 users has 8 times this

    def mean(u, v):
        b = u @ v.T
        return np.sum((x.toarray() - z @ b) ** 2) / 8 + ridge * np.sum(b**2)

    found = gradients(x, z, u, v, ridge)
    assert found.loss == pytest.approx(8 * mean(u, v), rel=1e-12)
    step = 1e-6
    for parameters, gradient in ((u, found.u), (v, found.v)):
        numeric = np.empty_like(gradient)
        for place in np.ndindex(parameters.shape):
            parameters[place] += step
            above = mean(u, v)
            parameters[place] -= 2 * step
            numeric[place] = (above - mean(u, v)) / (2 * step)
            parameters[place] += step
        np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-7)


def test_dropout_keeps_the_mean_and_has_the_variance_of_equation_4(x):
    rng = np.random.default_rng(1)
    z = dropped(x, 0.3, rng)
    assert z.nnz / x.nnz == pytest.approx(0.7, abs=0.01)
    np.testing.assert_allclose(z.data, 1 / 0.7, rtol=1e-6)
    assert x.nnz == x.data.sum()  # X is as it was
    noise = (z - x).toarray().astype(float)
    np.testing.assert_allclose(np.mean(noise[x.toarray() > 0] ** 2), 0.3 / 0.7, rtol=0.03)


@pytest.mark.parametrize(("p", "ridge"), [(0.3, 0.0), (0.5, 20.0)])
def test_it_approaches_the_closed_form_of_row_3(x, p, ridge):
    u, v, history = fit_sampled(x, 5, p, ridge, epochs=60, batch=128, learning_rate=0.025)
    best, b = optimum(x, 5, p, ridge)
    assert best == pytest.approx(objective(x, b, p, ridge), rel=1e-9)
    reached = objective(x, u @ v.T, p, ridge)
    assert best < reached < 1.01 * best
    assert np.linalg.norm(u @ v.T - b) < 0.1 * np.linalg.norm(b)
    assert history[-1]["loss"] == pytest.approx(reached, rel=0.01)
    assert history[-1]["lr"] < 1e-6 < max(row["lr"] for row in history)
    assert [row["epoch"] for row in history] == list(range(1, 61))


def test_without_dropout_it_is_row_2_which_is_pca(x):
    """B = Σ s/(s+λ) v v' over the leading eigenpairs of G."""
    u, v, _ = fit_sampled(x, 4, 0.0, 30.0, epochs=60, batch=128, learning_rate=0.025)
    values, vectors = np.linalg.eigh((x.T @ x).toarray().astype(float))
    top = vectors[:, -4:]
    pca = top * (values[-4:] / (values[-4:] + 30.0)) @ top.T
    assert np.linalg.norm(u @ v.T - pca) < 0.1 * np.linalg.norm(pca)
    assert objective(x, u @ v.T, 0.0, 30.0) == pytest.approx(objective(x, pca, 0.0, 30.0), rel=1e-3)


def test_the_seed_decides_everything(x):
    one, same, other = (fit_sampled(x, 3, 0.3, 1.0, epochs=2, seed=seed) for seed in (1, 1, 2))
    for left, right in zip(one[:2], same[:2], strict=True):
        np.testing.assert_array_equal(left, right)
        assert left.dtype == np.float32
    assert one[2] == same[2]
    assert not np.array_equal(one[0], other[0])
