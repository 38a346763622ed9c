"""The closed forms of rows 1 to 3 of Table 1 of Steck 2020 are global minima."""

import numpy as np
import pytest
import scipy.sparse as sp

from lindrop.models.base import LowRank, Training
from lindrop.models.closed_form import (
    fit_dropout_l2,
    fit_popularity,
    fit_product_l2,
    fit_weight_decay,
)
from support.models import tasteful
from support.objectives import DENSE, DTYPES, RANK, Loss, WeightDecay, least, off, training

ROWS = {
    "row 1": (lambda data, k: fit_weight_decay(data, k, 60.0), WeightDecay(60.0)),
    "row 1, less than rank 4": (lambda data, k: fit_weight_decay(data, k, 150.0), WeightDecay(150)),
    "row 2": (lambda data, k: fit_product_l2(data, k, 60.0), Loss(0.0, 60.0)),
    "row 3": (lambda data, k: fit_dropout_l2(data, k, 0.4, 20.0), Loss(0.4, 20.0)),
    "row 3, no λ": (lambda data, k: fit_dropout_l2(data, k, 0.4, 0.0), Loss(0.4, 0.0)),
}


def test_popularity_counts_users_however_often_they_have_an_item():
    often = sp.csr_array(np.array([[9.0, 1, 0], [0, 1, 0], [0.5, 1, 0]], np.float32))
    assert fit_popularity(Training.of(often)).model.counts.tolist() == [2, 3, 0]


@pytest.mark.parametrize("row", ROWS)
def test_closed_forms_are_global_minima(row):
    fit, loss = ROWS[row]
    model = fit(training(), RANK).model
    u, v = model.encoder, model.decoder
    assert max(abs(of).max() for of in loss.gradients(u, v)) < 1e-9 * abs(loss.gram).max()
    assert loss(u, v) == pytest.approx(least(loss), rel=1e-8)
    smaller = fit(training(), 2).model
    np.testing.assert_allclose(
        model.truncated(2).encoder @ model.truncated(2).decoder.T,
        smaller.encoder @ smaller.decoder.T,
        atol=1e-10,
    )


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_rank_beyond_that_of_the_data_adds_nothing(row, dtype):
    """12 users span 12 dimensions; rounding makes some of the other eigenvalues negative."""
    fit, _ = ROWS[row]
    x = sp.vstack([np.ones((1, 20), np.float32), tasteful(11, 20)], format="csr")  # no item unseen
    products = []
    for rank in (12, 17):
        model = fit(training(x, dtype), rank).model
        products.append(model.encoder.astype(float) @ model.decoder.T)
    np.testing.assert_allclose(*products, atol=1e-5)


def test_row_1_translates_to_the_notebooks_hyper_parameter():
    """Mean squares of the data, sums over factors of size m·k: λ = L2const · users · items / 2."""
    l2, (users, items) = 0.02, DENSE.shape
    model = fit_weight_decay(training(), RANK, l2 * users * items / 2).model
    rng = np.random.default_rng(0)

    def notebook(u, v):
        return np.mean((DENSE - DENSE @ u @ v.T) ** 2) + l2 * (np.sum(u**2) + np.sum(v**2)) / 2

    found = notebook(model.encoder, model.decoder)
    for scale in (1e-3, 1e-2):
        du, dv = rng.normal(0, scale, (2, items, RANK))
        assert notebook(model.encoder + du, model.decoder + dv) > found


def test_the_balanced_gauge_keeps_b():
    model = fit_dropout_l2(training(), RANK, 0.4, 20.0).model
    u, v = model.encoder * [1, 10, 100, 1000], model.decoder / [1, 10, 100, 1000]
    even = LowRank(u, v).balanced()
    np.testing.assert_allclose(even.encoder @ even.decoder.T, u @ v.T, atol=1e-12)
    moments = even.encoder.T @ even.encoder
    np.testing.assert_allclose(moments, even.decoder.T @ even.decoder, atol=1e-12)
    np.testing.assert_allclose(off(moments), 0, atol=1e-12)
    assert np.all(np.diff(np.diag(moments)) < 0)
