"""WMF: training ends where exact steps end, users are folded in exactly, threads change nothing."""

import numpy as np
import pytest
import scipy.sparse as sp

from lindrop.base.errors import Unsolvable, UserError
from lindrop.models.base import Training
from lindrop.models.wmf import WeightedFactors, fit_wmf
from support.models import tasteful

X = tasteful(300, 40)
DENSE = X.toarray().astype(np.float64)
ALPHA, RIDGE = 3.0, 5.0


def fitted(factors=6, seed=1, sweeps=15):
    return fit_wmf(Training(X, X.toarray, seed), factors, RIDGE, ALPHA, sweeps).model


def folded_in(x, y):
    """User by user, as the loss says: weights 1 + α x, targets 1 where there is an interaction."""
    users = []
    for row in x:
        weights = np.diag(1 + ALPHA * row)
        system = y.T @ weights @ y + RIDGE * np.eye(y.shape[1])
        users.append(np.linalg.solve(system, y.T @ weights @ (row > 0)))
    return np.array(users)


def loss(users, y):
    weights, missing = 1 + ALPHA * DENSE, (DENSE > 0) - users @ y.T
    return np.sum(weights * missing**2) + RIDGE * (np.sum(users**2) + np.sum(y**2))


def test_users_are_folded_in_by_the_ridge_regression_of_the_loss():
    y = np.random.default_rng(0).normal(size=(40, 6))
    expected = folded_in(DENSE, y) @ y.T
    np.testing.assert_allclose(WeightedFactors(y, ALPHA, RIDGE).scores(X), expected, atol=1e-9)


def test_an_interaction_that_counts_twice_weighs_more_and_stays_one():
    y = np.random.default_rng(0).normal(size=(40, 6))
    twice = X.copy()
    twice.data = twice.data * 2
    expected = folded_in(2 * DENSE, y) @ y.T
    np.testing.assert_allclose(WeightedFactors(y, ALPHA, RIDGE).scores(twice), expected, atol=1e-9)


def test_a_user_without_items_has_no_preference():
    assert not fitted().scores(sp.csr_array((3, 40), dtype=np.float32)).any()


def test_training_ends_where_neither_side_can_do_better():
    """The items' own exact step, from the users', lowers the loss by next to nothing."""
    y = fitted(sweeps=200).item_factors.astype(np.float64)
    users = folded_in(DENSE, y)
    items = folded_in(DENSE.T, users)
    before = loss(users, y)
    assert loss(users, items) <= before
    assert loss(users, items) > (1 - 1e-4) * before
    assert before < loss(folded_in(DENSE, fitted(sweeps=1).item_factors), y)


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch):
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        model = fitted()
        found.append((model.item_factors, model.scores(X)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_seed_decides_the_start():
    one, again, other = (fitted(seed=seed, sweeps=1).item_factors for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("wrong", [{"factors": 0}, {"ridge": -1.0}, {"alpha": -1.0}, {"sweeps": 0}])
def test_parameters_that_mean_nothing_are_refused(wrong):
    options = {"factors": 6, "ridge": RIDGE, "alpha": ALPHA} | wrong
    with pytest.raises(UserError, match="factors and sweeps must be at least 1"):
        fit_wmf(Training.of(X), **options)


@pytest.mark.parametrize("wide", [{"alpha": 1e30}, {"alpha": 1e300}, {"ridge": 1e30}])
def test_numbers_that_are_too_large_leave_the_other_points_of_the_grid_alone(wide):
    options = {"factors": 6, "ridge": RIDGE, "alpha": ALPHA} | wide
    with pytest.raises(Unsolvable, match="the factors are not finite in 32-bit numbers"):
        fit_wmf(Training.of(X), **options)
