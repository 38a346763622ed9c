"""The neighbours on a pattern have the largest scores, and heavy users count by a sample."""

import numpy as np
import pytest
import scipy.sparse as sp

from lindrop.models.base import Training, dropout_penalty
from lindrop.models.pattern.fit import fit_sparse_edlae
from lindrop.models.pattern.solver import Solver, numbers_by_users
from support.patterns import X, dense, solved


def reference(x, numbers, penalty):
    """Neighbours of each item by sorting all scores, computed as stated in float32."""
    x = x.toarray()
    gram, n = (x.T @ x).astype(np.float32), np.count_nonzero(x.any(1))
    mean = (x.sum(0, dtype=np.float64) / n).astype(np.float32)
    sums, diagonal = x.sum(0, dtype=np.float64).astype(np.float32), (x.astype(float) ** 2).sum(0)
    h = np.where(diagonal > 0, diagonal + penalty, np.inf)
    scores = abs(gram - np.outer(mean, sums)) * (1 / np.sqrt(h)).astype(np.float32)[:, None]
    shared = abs(x).T @ abs(x)
    for j in range(len(gram)):
        own = scores[:, j]
        others = np.flatnonzero((diagonal > 0) & (np.arange(len(gram)) != j))
        best = others[np.argsort(-own[others], kind="stable")][: numbers[j]]
        yield sorted(best) if shared[j, others].any() else []


@pytest.mark.parametrize("kind", ["dense", "rare"])
@pytest.mark.parametrize("k", [1, 5, 30, 60])
def test_neighbours_are_those_of_the_largest_scores(kind, k):
    """The lower of two equal scores is chosen; popular items that share no user with j count."""
    solver, found = solved(X[kind], k)
    expected = list(reference(X[kind], [k] * X[kind].shape[1], solver.penalty))
    assert len(found.lengths) == len(expected)
    for j, own in enumerate(expected):
        assert sorted(found.column(j)[0]) == own


@pytest.mark.parametrize("spread", [0.0, 0.1, 0.5, 0.9])
def test_items_with_equally_many_users_have_as_many_neighbours_as_are_asked_for(spread):
    """Rounding of their shares left most of such items one neighbour less."""
    for items in range(12, 300):
        for users in (1, 2, 5, 7):
            assert (numbers_by_users(np.full(items, users), 10, spread) == 10).all()


@pytest.mark.parametrize("spread", [0.25, 0.5, 0.9])
def test_items_with_more_users_have_more_neighbours(spread):
    """The numbers are proportional to (users + 1) ** spread, at most 4 k, their mean at most k."""
    x, k = X["rare"], 10
    solver, found = solved(x, k, spread=spread)
    users = np.diff(x.tocsc().indptr)
    shares = (users + 1.0) ** spread
    exact = k * shares / shares.mean()
    numbers = [max(1, min(4 * k, int(share))) for share in exact]
    assert min(numbers) < k < max(numbers)
    assert sum(numbers) <= k * len(users)
    for j, own in enumerate(reference(x, numbers, solver.penalty)):
        assert sorted(found.column(j)[0]) == own


def test_no_item_has_more_than_four_times_the_neighbours():
    """All users have the first item; each of the 199 others has one user."""
    x = sp.hstack([np.ones((400, 1)), sp.eye_array(400, 199)], format="csr", dtype=np.float32)
    model = fit_sparse_edlae(Training.of(x), 20, 0.4, 5.0, spread=0.9).model
    assert np.diff(model.matrix.tocsc().indptr).max() == 80


def test_neighbours_of_weighted_interactions_have_the_largest_scores():
    """By scores in float64, no item outside is above one inside, up to rounding."""
    x = X["weighted"].toarray().astype(np.float64)
    solver, found = solved(X["weighted"], 12)
    n = np.count_nonzero(x.any(1))
    h = np.sum(x**2, 0) + solver.penalty
    scores = abs(x.T @ x - np.outer(x.sum(0), x.sum(0)) / n) / np.sqrt(np.outer(h, h))
    np.fill_diagonal(scores, -1)
    scores[np.sum(x**2, 0) == 0] = -1
    for j in range(len(h)):
        inside = np.zeros(len(h), bool)
        inside[found.column(j)[0]] = True
        if inside.any():
            assert scores[inside, j].min() >= scores[~inside, j].max() - 1e-6


def test_one_user_with_all_items_is_capped_in_the_choice_alone():
    """The sample follows from the seed; columns stay the exact optimum on their neighbours."""
    x = sp.vstack([X["rare"], np.ones((1, 90), np.float32)], format="csr")
    penalty = dropout_penalty(Training.of(x).gram_diagonal, 0.4, 5.0)
    data = [Training.of(x, seed, dtype=np.float64) for seed in (1, 1, 2)]
    chosen = [fit_sparse_edlae(each, 10, 0.4, 5.0, user_cap=20).model for each in data]
    np.testing.assert_array_equal(chosen[0].indices, chosen[1].indices)
    assert not np.array_equal(chosen[0].indices, chosen[2].indices)
    all_counted = fit_sparse_edlae(data[0], 10, 0.4, 5.0, user_cap=90).model
    np.testing.assert_array_equal(
        all_counted.indices, fit_sparse_edlae(data[0], 10, 0.4, 5.0).model.indices
    )
    gram = (x.T @ x).toarray().astype(np.float64)
    b = dense(chosen[0])
    for j in range(90):
        own = np.flatnonzero(b[:, j])
        expected = np.linalg.solve(gram[np.ix_(own, own)] + np.diag(penalty[own]), gram[own, j])
        np.testing.assert_allclose(b[own, j], expected, atol=1e-10)


def test_a_user_with_100000_items_is_a_sample_in_the_choice_and_whole_in_the_columns():
    """Alone, the user would take 10¹⁰ additions for G; ten columns are compared with it."""
    rng, items, cap = np.random.default_rng(3), 100_000, 100
    few = sp.csr_array(
        (
            np.ones(60_000, np.float32),
            (rng.integers(0, 3_000, (60_000)), rng.integers(0, items, 60_000)),
        )
    )
    few.data[:] = 1
    x = sp.vstack([few, sp.csr_array(np.ones((1, few.shape[1]), np.float32))], format="csr")
    solver = Solver(Training.of(x, dtype=np.float64), 5, 0.4, 5.0, user_cap=cap)
    assert len(solver.of.items) == few.nnz + cap
    model = fit_sparse_edlae(Training.of(x, dtype=np.float64), 5, 0.4, 5.0, user_cap=cap).model
    b, xt = model.matrix.tocsc(), x.tocsc()
    for j in range(0, x.shape[1], x.shape[1] // 10):
        own = b.indices[b.indptr[j] : b.indptr[j + 1]]
        gram = (xt[:, own].T @ xt[:, own]).toarray().astype(float) + np.diag(solver.penalty[own])
        expected = np.linalg.solve(gram, (xt[:, own].T @ xt[:, [j]]).toarray()[:, 0].astype(float))
        np.testing.assert_allclose(b.data[b.indptr[j] : b.indptr[j + 1]], expected, atol=1e-10)
