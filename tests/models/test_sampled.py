"""Sampled dropout has the gradients it claims and comes to rest at the optimum in closed form."""

import numpy as np
import pytest
import scipy.sparse as sp

from lindrop.base.errors import Unsolvable
from lindrop.models.base import Training, dropout_penalty, dropped
from lindrop.models.catalogue import fit
from lindrop.models.sampled import Masked, expected_objective, fit_sampled, is_check, nystrom
from lindrop.ranking.evaluation import evaluate, paired
from support.models import tasteful


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

    masked = Masked(x, z, u, 8 * ridge)
    of_encoder, loss = masked.of_encoder(v)
    assert loss == pytest.approx(8 * mean(u, v), rel=1e-6)
    step = 1e-6
    for parameters, half in ((u.copy(), of_encoder), (v, masked.of_decoder(v))):
        gradient, numeric = 2 * half / 8, np.empty_like(half)
        for place in np.ndindex(parameters.shape):
            parameters[place] += step
            above = mean(parameters, v) if parameters is not v else mean(u, v)
            parameters[place] -= 2 * step
            below = mean(parameters, v) if parameters is not v else mean(u, v)
            numeric[place] = (above - below) / (2 * step)
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
def test_it_comes_to_rest_at_the_closed_form_of_row_3(x, p, ridge):
    u, v, history, rested = fit_sampled(x, 5, p, ridge, batch=500)
    best, b = optimum(x, 5, p, ridge)
    assert best == pytest.approx(objective(x, b, p, ridge), rel=1e-9)
    reached = objective(x, u @ v.T, p, ridge)
    assert rested
    assert best < reached < 1.005 * best
    assert np.linalg.norm(u @ v.T - b) < 0.1 * np.linalg.norm(b)
    assert history[-1]["objective"] == pytest.approx(reached, rel=1e-5)
    assert history[-1]["loss"] == pytest.approx(reached, rel=0.02)  # of masks, so it fluctuates
    assert history[-1]["rate"] < history[0]["rate"]
    assert [row["epoch"] for row in history] == list(range(1, len(history) + 1))


def test_its_rankings_are_those_of_row_3():
    """Two standard errors of the difference, user by user, on users that it has not seen."""
    seen, others = tasteful(2_000, 60)[:1_500], tasteful(2_000, 60)[1_500:].toarray()
    known = np.random.default_rng(0).random(others.shape) < 0.7
    users = sp.csr_array(others * known), sp.csr_array(others * ~known)
    data = Training.of(seen)
    rows = [fit(name, data, 8, p=0.5, ridge=10.0) for name in ("dropout_l2", "sampled_dropout")]
    assert rows[1].converged
    third, fourth = (evaluate(row.model, *users).per_user for row in rows)
    difference = (fourth - third)["ndcg@100"]
    assert abs(difference.mean()) < 2 * difference.sem() + 1e-4
    assert not paired(fourth, third).empty


def test_more_epochs_gain_no_more_than_it_says(x):
    """What is left of the objective is about its decrease since half of the epochs."""
    best, _ = optimum(x, 5, 0.5, 20.0)
    rough, fine = (fit_sampled(x, 5, 0.5, 20.0, tolerance=by) for by in (1e-2, 5e-4))
    assert rough.rested
    assert fine.rested
    assert len(rough.history) < len(fine.history)
    for trained, by in ((rough, 1e-2), (fine, 5e-4)):
        assert objective(x, trained.u @ trained.v.T, 0.5, 20.0) < (1 + 2 * by) * best


def test_every_step_draws_its_own_masks(x, monkeypatch):
    drawn = []

    def noting(rows, p, rng):
        drawn.append(dropped(rows, p, rng))
        return drawn[-1]

    monkeypatch.setattr("lindrop.models.sampled.dropped", noting)
    _, _, history, rested = fit_sampled(x, 3, 0.5, 1.0, epochs=3, batch=500)
    assert not rested
    assert len(drawn) == 3 * 4
    assert {len(history)} == {3}
    kept = [z.nnz / x.nnz * 4 for z in drawn]
    np.testing.assert_allclose(kept, 0.5, atol=0.05)
    assert len({z.nnz for z in drawn}) > 4


def test_the_objective_is_measured_where_half_of_the_epochs_was():
    checks = [epoch for epoch in range(1, 100) if is_check(epoch)]
    assert checks == [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96]


def test_the_expected_objective_is_that_of_row_3(x):
    u, v = np.random.default_rng(0).normal(size=(2, 30, 4)).astype(np.float32) / 5
    weights = penalty((x.T @ x).toarray(), 0.4, 3.0)
    found = expected_objective(x, weights, u, v)
    assert found == pytest.approx(objective(x, u @ v.T, 0.4, 3.0), rel=1e-5)


def test_the_preconditioner_is_close_to_the_inverse(x):
    """A preconditioner of all directions is the inverse; one of a few stretches none much."""
    gram = (x.T @ x).toarray().astype(float)
    weights = dropout_penalty(gram.diagonal(), 0.5, 5.0)
    y = np.random.default_rng(1).normal(size=(30, 2)).astype(np.float32)
    multiply, largest = nystrom(x, weights, 30, np.random.default_rng(0))
    expected = np.linalg.solve(gram + np.diag(weights), y)
    np.testing.assert_allclose(multiply(y), expected, rtol=1e-2, atol=1e-6)
    assert largest == pytest.approx(1, abs=0.01)
    multiply, largest = nystrom(x, weights, 5, np.random.default_rng(0))
    product = multiply((gram + np.diag(weights)).astype(np.float32))
    values = np.linalg.eigvals(product).real
    assert 0.3 < values.min() < 1.001 * values.max() < 1.6
    assert largest == pytest.approx(values.max(), rel=0.1)


def test_without_dropout_it_is_row_2_which_is_pca(x):
    """B = Σ s/(s+λ) v v' over the leading eigenpairs of G."""
    u, v, *_ = fit_sampled(x, 4, 0.0, 30.0, batch=500)
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
    assert one.history == same.history
    assert not np.array_equal(one.u, other.u)


@pytest.mark.filterwarnings("error")
def test_a_training_that_diverges_is_told_in_one_line_without_warnings_of_numpy():
    x = sp.csr_array((np.random.default_rng(0).random((60, 100)) < 0.3).astype(np.float32))
    with pytest.raises(Unsolvable, match="the training diverged: its numbers overflow"):
        fit_sampled(x, 40, 0.95, 0.01, epochs=64)
