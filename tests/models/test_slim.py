"""SLIM's columns are optimal, whatever they start from and however many threads there are."""

import numpy as np
import pytest
import slim_fraction
from scipy.optimize import minimize

from lindrop.base.errors import UserError
from lindrop.linalg.kernels import csr, sparse_times_sparse
from lindrop.models.base import SparseItems, Training
from lindrop.models.full_rank import fit_edlae
from lindrop.models.slim import COLUMNS, distance, fit_slim, spread
from support.models import tasteful

X = tasteful(300, 70)
DENSE = X.toarray().astype(np.float64)
GRAM = DENSE.T @ DENSE
TOLERANCE = 1e-5


def fitted(l1, l2, **options):
    return fit_slim(Training.of(X), l1, l2, tolerance=TOLERANCE, **options)


def dense(fit):
    return fit.model.matrix.toarray().astype(np.float64)


@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize(("l1", "l2"), [(0.5, 3.0), (5.0, 30.0), (20.0, 0.0), (0.0, 30.0)])
def test_every_column_meets_the_conditions_of_optimality(l1, l2, nonnegative):
    """The gradient, from X itself, is in minus the subdifferential of the penalty, item by item."""
    fit = fitted(l1, l2, nonnegative=nonnegative)
    b = dense(fit)
    assert fit.converged
    assert np.all(b.diagonal() == 0)
    assert b.min() >= 0 or not nonnegative
    pull = DENSE.T @ (DENSE - DENSE @ b) - l2 * b
    off = ~np.eye(len(b), dtype=bool)
    slack = 2 * TOLERANCE * (GRAM.diagonal() + l2)[:, None] * np.ones_like(b)
    positive, negative, zero = off & (b > 0), off & (b < 0), off & (b == 0)
    assert positive.any()
    assert negative.any() or nonnegative or l1 == 20.0
    assert np.all(abs(pull - l1)[positive] <= slack[positive])
    assert np.all(abs(pull + l1)[negative] <= slack[negative])
    assert np.all(pull[zero] <= l1 + slack[zero])
    if not nonnegative:
        assert np.all(pull[zero] >= -l1 - slack[zero])


@pytest.mark.parametrize("nonnegative", [True, False])
def test_a_column_is_what_a_general_optimiser_finds(nonnegative):
    """b is the difference of two non-negative vectors, of which the second may have to be 0."""
    l1, l2, j = 1.0, 5.0, 3
    others = np.delete(np.arange(len(GRAM)), j)
    g, q = GRAM[np.ix_(others, others)], GRAM[others, j]

    def objective(parts):
        plus, minus = np.split(parts, 2)
        b = plus - minus
        gradient = g @ b - q + l2 * b
        value = 0.5 * b @ g @ b - q @ b + 0.5 * l2 * b @ b + l1 * parts.sum()
        return value, np.concatenate([gradient + l1, l1 - gradient])

    bounds = [(0, None)] * len(q) + [(0, 0 if nonnegative else None)] * len(q)
    options = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-8}
    found = minimize(objective, np.zeros(2 * len(q)), jac=True, bounds=bounds, options=options)
    plus, minus = np.split(found.x, 2)
    ours = dense(fitted(l1, l2, nonnegative=nonnegative))[others, j]
    np.testing.assert_allclose(ours, plus - minus, atol=1e-4)
    assert np.any(ours < 0) != nonnegative


def test_without_l1_and_signs_it_is_the_ridge_with_a_zero_diagonal():
    """EASE is the same problem but for the weight of the ridge, which is not halved there."""
    ease = fit_edlae(Training.of(X, dtype=float), 0.0, 30.0).model.matrix
    np.testing.assert_allclose(dense(fitted(0.0, 30.0, nonnegative=False)), ease, atol=1e-4)


def test_a_start_changes_the_way_and_not_the_end():
    cold, other = fitted(2.0, 10.0), fitted(20.0, 10.0)
    warm = fitted(2.0, 10.0, start=other.model)
    np.testing.assert_allclose(dense(warm), dense(cold), atol=20 * TOLERANCE)
    again = fitted(2.0, 10.0, start=cold.model)
    np.testing.assert_allclose(dense(again), dense(cold), atol=1e-6)


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch):
    models = []
    for threads in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        models.append(fitted(1.0, 10.0).model)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(*(getattr(model, part) for model in models))


def test_items_that_nobody_has_get_and_give_nothing():
    x = X.copy()
    x.data = x.data * ~np.isin(x.indices, [5, 40])
    x.eliminate_zeros()
    b = dense(fit_slim(Training.of(x), 1.0, 10.0))
    assert not b[[5, 40]].any()
    assert not b[:, [5, 40]].any()
    assert b.any()


def test_the_distance_is_that_of_the_next_step():
    """By hand: with b = 0, weight k would become (G_kj - l1) / (G_kk + l2)."""
    alone = (np.maximum(GRAM[:, 3] - 2.0, 0) / (GRAM.diagonal() + 9.0))[np.arange(70) != 3]
    found = distance(GRAM.astype(np.float32), 3, np.zeros(70), 2.0, 9.0, True)
    assert found == pytest.approx(alone.max())


def test_every_column_is_in_one_part_and_parts_are_spread():
    for items in (1, COLUMNS, COLUMNS + 1, 1000):
        parts = spread(items)
        assert sorted(np.concatenate(parts)) == list(range(items))
        assert max(map(len, parts)) <= COLUMNS
        assert all(np.all(np.diff(part) == len(parts)) for part in parts)


def test_the_time_of_all_columns_follows_from_a_share(monkeypatch):
    """24 of 70 columns are solved, in 2 and in 3 hours by a clock of the test."""
    clock = iter([0.0, 7200.0, 10_000.0, 20_800.0])
    monkeypatch.setattr(slim_fraction.time, "process_time", lambda: next(clock))
    rows = list(slim_fraction.measured(GRAM.astype(np.float32), 0.4))
    assert [row["columns"] for row in rows] == [24, 24]
    assert [row["core_seconds"] for row in rows] == [7200, 10_800]
    assert [row["hours for all columns"] for row in rows] == [5.833, 8.75]
    assert rows[0]["weights per column"] > rows[1]["weights per column"]


def test_scores_are_the_product():
    model = fitted(5.0, 30.0).model
    assert isinstance(model, SparseItems)
    assert 0 < len(model.data) < 70 * 69
    np.testing.assert_allclose(model.scores(X), DENSE @ model.matrix.toarray(), atol=1e-4)
    with pytest.raises(ValueError, match="B has 70 rows"):
        sparse_times_sparse(X[:, :60], csr(model.matrix))


@pytest.mark.parametrize(("l1", "l2"), [(-1.0, 1.0), (1.0, -1.0), (0.0, 0.0), (np.nan, 1.0)])
def test_penalties_that_mean_nothing_are_refused(l1, l2):
    with pytest.raises(UserError, match=r"l1 = .* and l2 = .*: both must be at least 0"):
        fitted(l1, l2)


def test_only_the_largest_weights_of_a_column_are_kept():
    whole = dense(fitted(0.5, 3.0, nonnegative=False))
    cut = dense(fitted(0.5, 3.0, nonnegative=False, largest=4))
    for j, column in enumerate(whole.T):
        kept = np.argsort(-abs(column), kind="stable")[:4]
        np.testing.assert_array_equal(np.flatnonzero(cut[:, j]), np.sort(kept[column[kept] != 0]))
        np.testing.assert_array_equal(cut[kept, j], column[kept])
