"""Full-rank models from an inverse of users × users are those from items × items."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from lindrop.models import dual
from lindrop.models.base import Training
from lindrop.models.full_rank import fit_dlae, fit_edlae, fit_emphasised
from lindrop.models.memory import dual_pays

FITS = {
    "dlae": fit_dlae,
    "edlae": fit_edlae,
    "emphasised": lambda data, p, ridge: fit_emphasised(data, p, ridge, 1.0, 0.4),
}


@pytest.fixture(scope="module")
def x():
    """Interactions of 60 users and 1,300 items with a long tail, some items without any user."""
    rng = np.random.default_rng(5)
    popular = 0.4 * (1 + np.arange(1300)) ** -0.6
    return sp.csr_array(rng.random((60, 1300)) < popular, dtype=np.float32)


def relative(left, right):
    return np.linalg.norm(left.astype(float) - right) / np.linalg.norm(right)


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize(("p", "ridge"), [(0, 0.5), (0, 100), (0.5, 3), (0.9, 20)])
def test_both_inverses_give_the_same_model(x, name, p, ridge, monkeypatch):
    fitted = {
        dtype: FITS[name](Training.of(x, dtype=dtype), p, ridge).model.matrix
        for dtype in (np.float32, np.float64)
    }
    monkeypatch.setattr(dual, "dual_pays", lambda *counts: False)
    primal = FITS[name](Training.of(x, dtype=np.float64), p, ridge).model.matrix
    assert relative(fitted[np.float64], primal) < 1e-10
    assert relative(fitted[np.float32], primal) < 1e-6
    assert fitted[np.float32].diagonal() == pytest.approx(primal.diagonal(), abs=1e-6)


def test_it_reads_no_gram_matrix(x):
    def refuse(dtype):
        raise AssertionError("X'X was read")

    data = replace(Training.of(x), read_gram=refuse, read_triangle=refuse)
    assert fit_edlae(data, 0, 10.0).model.matrix.shape == (1300, 1300)
    with pytest.raises(AssertionError):
        fit_edlae(replace(data, x=sp.csr_array(x.T)), 0, 10.0)


def test_items_without_a_penalty_need_the_other_inverse(x):
    assert dual.dual(Training.of(x), np.full(1300, 3.0)) is not None
    assert dual.dual(Training.of(x), np.r_[0.0, np.full(1299, 3.0)]) is None


def test_it_pays_where_users_are_few():
    assert dual_pays(1_477, 15_270, 73_000)
    assert not dual_pays(5_000, 3_000, 500_000)
    assert not dual_pays(29_858, 40_981, 810_128)  # K in float64 would be larger than X'X
    assert not dual_pays(9_000, 20_000, 10**9)  # products with so many entries take longer
