"""Training of rows 1 and 4 as published: gradients, Adam of TensorFlow 1.15, and its objective."""

from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp

from lindrop.models import adam_as_published as published
from lindrop.models.adam_as_published import Adam, Penalties
from lindrop.models.base import Training, dropped
from lindrop.models.closed_form import fit_weight_decay
from support.models import tasteful


@pytest.mark.parametrize("weights", [Penalties(decay=0.3), Penalties(product=0.2)])
def test_gradients_are_those_of_the_printed_loss(weights):
    rng = np.random.default_rng(3)
    x = sp.csr_array(rng.poisson(0.5, size=(8, 7)).astype(float))
    z = dropped(x, 0.25, rng) if weights.product else x
    u, v = rng.normal(size=(2, 7, 3))

    def loss(u, v):
        b = u @ v.T
        mean = np.mean((x.toarray() - z @ b) ** 2)
        decay = weights.decay * (np.sum(u**2) + np.sum(v**2))
        return mean + (decay + weights.product * np.sum(b**2)) / 2

    found = published.slopes(x, z, u, v, weights)
    assert found.loss == pytest.approx(loss(u, v), rel=1e-12)
    step = 1e-6
    for parameters, gradient in ((u, found.u), (v, found.v)):
        numeric = np.empty_like(gradient)
        for place in np.ndindex(parameters.shape):
            parameters[place] += step
            above = loss(u, v)
            parameters[place] -= 2 * step
            numeric[place] = (above - loss(u, v)) / (2 * step)
            parameters[place] += step
        np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-9)


def test_steps_are_those_of_tensorflow():
    """The formula in the documentation of tf.train.AdamOptimizer, entry by entry.

    Gradients about as small as ε tell its ε from that of the paper by Kingma and Ba.
    """
    rng = np.random.default_rng(0)
    gradients = 1e-8 * rng.normal(size=(5, 4))
    parameters = rng.normal(size=4)
    expected = parameters.copy()
    adam, m, v = Adam(parameters), np.zeros(4), np.zeros(4)
    for t, gradient in enumerate(gradients, 1):
        adam.descend(gradient)
        rate = 0.001 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        for i, g in enumerate(gradient):
            m[i] = 0.9 * m[i] + 0.1 * g
            v[i] = 0.999 * v[i] + 0.001 * g * g
            expected[i] -= rate * m[i] / (np.sqrt(v[i]) + 1e-8)
    np.testing.assert_allclose(parameters, expected, rtol=1e-12)


def test_the_start_is_xaviers():
    u, v = published.xavier(500, 100, np.random.default_rng(0))
    assert (u.shape, v.shape, u.dtype) == ((500, 100), (500, 100), np.float32)
    for part in (u, v):
        assert 0.0999 < abs(part).max() <= 0.1  # √(6 / 600)
        assert np.mean(part**2) == pytest.approx(0.01 / 3, rel=0.02)
    assert not np.array_equal(u, v)


def test_an_epoch_has_all_users_and_its_last_batch_is_shorter(monkeypatch):
    seen = []
    original = published.slopes

    def spy(x, z, *rest):
        seen.append((x, z))
        return original(x, z, *rest)

    monkeypatch.setattr(published, "slopes", spy)
    x = sp.csr_array(np.diag(np.arange(1.0, 11.0)))
    next(published.train(x, 2, 0.5, Penalties(), batch=4))
    assert [rows.shape[0] for rows, _ in seen] == [4, 4, 2]
    users = np.concatenate([rows.sum(axis=1) for rows, _ in seen])
    assert sorted(users) == list(range(1, 11))
    assert list(users) != sorted(users)
    kept = np.concatenate([z.sum(axis=1) / rows.sum(axis=1) for rows, z in seen])
    assert set(kept) == {0.0, 2.0}


def test_long_training_of_row_1_comes_to_the_minimum_of_its_objective():
    """The map of the penalty: λ = weight · users · items / 2, as a sum of squares."""
    x, rank, ridge = tasteful(300, 20), 4, 20.0
    weights = Penalties.of(ridge, x.shape, product=False)
    assert weights.decay * 300 * 20 / 2 == pytest.approx(ridge)
    # printed for ML-20M: 8e-6 with 116,677 training users and 20,108 items is λ = 9385
    assert Penalties.of(9385, (116_677, 20_108), product=False).decay == pytest.approx(8e-6, 1e-4)
    u, v = next(islice(published.train(x, rank, 0.0, weights, batch=300), 4_999, None))
    best = fit_weight_decay(Training.of(x, dtype=np.float64), rank, ridge).model

    def objective(u, v):
        misfit = np.sum((x.toarray() - x @ (u @ v.T)) ** 2)
        return misfit + ridge * (np.sum(u**2) + np.sum(v**2))

    minimum = objective(best.encoder, best.decoder)
    assert minimum <= objective(u.astype(float), v.astype(float)) * (1 + 1e-9)
    assert objective(u, v) < minimum * 1.001
