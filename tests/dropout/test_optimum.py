"""Closed-form optima of dropout (Mianjy 2018): stationary, equalised, never beaten."""

import numpy as np
import pytest

from lindrop.dropout.equalise import equalised, equalised_factors, equalizer, universal_equalizer
from lindrop.dropout.multistart import minima, tied_minima
from lindrop.dropout.objective import (
    expected_loss,
    gradient,
    importance,
    keep_of,
    lam_of,
    objective,
    path_regulariser,
    squared_norms,
    tied_gradient,
    tied_objective,
)
from lindrop.dropout.optimum import (
    effective_rank,
    optimal_value,
    shrunk,
    solve,
    solve_tied,
    tied_optimal_value,
    top_singular,
)
from lindrop.papers.mianjy2018.as_printed import universal_equalizer_printed

SETTINGS = [(r, lam) for r in (1, 2, 4, 6, 9) for lam in (0.0, 0.1, 2.0, 50.0)]


def matrix(rows=7, columns=6, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, columns))


def differences(function, weights, step=1e-6):
    """Central differences of a function of a matrix."""
    found = np.zeros_like(weights)
    for place in np.ndindex(weights.shape):
        shift = np.zeros_like(weights)
        shift[place] = step
        found[place] = (function(weights + shift) - function(weights - shift)) / (2 * step)
    return found


def test_gradients_are_those_of_the_objective():
    m, u, v, lam = matrix(4, 3), matrix(4, 5, 1), matrix(3, 5, 2), 0.7
    by_u, by_v = gradient(m, u, v, lam)
    np.testing.assert_allclose(by_u, differences(lambda w: objective(m, w, v, lam), u), rtol=1e-6)
    np.testing.assert_allclose(by_v, differences(lambda w: objective(m, u, w, lam), v), rtol=1e-6)
    square = matrix(4, 4)  # not symmetric
    tied = differences(lambda w: tied_objective(square, w, lam), u)
    np.testing.assert_allclose(tied_gradient(square, u, lam), tied, rtol=1e-6, atol=1e-7)


def test_theta_and_lambda_are_each_other():
    assert lam_of(0.5) == 1
    assert lam_of(1.0) == 0
    assert keep_of(lam_of(0.3)) == pytest.approx(0.3)


def test_objective_is_loss_plus_squared_path_regulariser():
    m, u, v = matrix(), matrix(7, 3, 1), matrix(6, 3, 2)
    by_paths = np.sqrt(sum(u[j, i] ** 2 * v[k, i] ** 2 for j, k, i in np.ndindex(7, 6, 3)))
    assert path_regulariser(u, v) == pytest.approx(by_paths)
    assert objective(m, u, v, 0.7) == pytest.approx(expected_loss(m, u, v) + 0.7 * by_paths**2)
    np.testing.assert_allclose(
        importance(u, v), [np.linalg.norm(u[:, i]) * np.linalg.norm(v[:, i]) for i in range(3)]
    )


@pytest.mark.parametrize("shape", [(3, 1), (2, 2), (1, 5), (9, 4), (4, 9), (30, 33), (5, 128)])
def test_eqz_equalises_by_a_rotation(shape):
    u = matrix(*shape)
    q = equalizer(u)
    np.testing.assert_allclose(q.T @ q, np.eye(shape[1]), atol=1e-13)
    np.testing.assert_allclose(squared_norms(u @ q), np.mean(squared_norms(u)), rtol=1e-12)


def test_eqz_of_weights_that_are_zero_or_equal_already():
    for u in (np.zeros((3, 4)), np.eye(4), np.eye(5)[:, :1] @ np.eye(4)[:1]):
        q = equalizer(u)
        np.testing.assert_allclose(q.T @ q, np.eye(4), atol=1e-13)
        np.testing.assert_allclose(squared_norms(u @ q), np.mean(squared_norms(u)), atol=1e-13)


@pytest.mark.parametrize("r", [1, 2, 8, 64])
def test_the_universal_equaliser_serves_every_matrix(r):
    z = universal_equalizer(r)
    np.testing.assert_allclose(z.T @ z, np.eye(r), atol=1e-13)
    for seed in range(3):
        u = matrix(5, r, seed)
        right = np.linalg.svd(u)[2].T
        np.testing.assert_allclose(squared_norms(u @ right @ z), np.mean(squared_norms(u)))


@pytest.mark.parametrize("r", [0, 3, 12])
def test_no_universal_equaliser_is_claimed_for_other_widths(r):
    with pytest.raises(ValueError, match="powers of two"):
        universal_equalizer(r)


def test_the_printed_universal_equaliser_is_a_rotation_up_to_k_2_only():
    for k, right in ((1, True), (2, True), (3, False), (4, False)):
        z = universal_equalizer_printed(k)
        assert z.shape == (2 ** (k - 1),) * 2
        assert np.allclose(z.T @ z, np.eye(len(z))) == right


@pytest.mark.parametrize("r", [2, 6, 9])
def test_an_equalised_network_answers_alike(r):
    u, v = matrix(7, r, 1), matrix(6, r, 2)
    other_u, other_v = equalised(u, v)
    assert other_u.shape == u.shape
    np.testing.assert_allclose(other_u @ other_v.T, u @ v.T, atol=1e-12)
    share = np.linalg.norm(u @ v.T, "nuc") / r
    np.testing.assert_allclose(squared_norms(other_u), share)
    np.testing.assert_allclose(squared_norms(other_v), share)


@pytest.mark.parametrize(("r", "lam"), SETTINGS)
def test_the_solution_is_stationary_equalised_and_has_the_optimal_value(r, lam):
    m = matrix()
    u, v = solve(m, r, lam)
    assert u.shape == (7, r)
    assert v.shape == (6, r)
    assert objective(m, u, v, lam) == pytest.approx(optimal_value(m, r, lam), rel=1e-12, abs=1e-12)
    for slope in gradient(m, u, v, lam):
        np.testing.assert_allclose(slope, 0, atol=1e-11)
    np.testing.assert_allclose(importance(u, v), np.mean(importance(u, v)), rtol=1e-11)


@pytest.mark.parametrize(("r", "lam"), SETTINGS)
def test_the_tied_solution_too_for_any_square_matrix(r, lam):
    m = matrix(6, 6)
    u = solve_tied(m, r, lam)
    assert tied_objective(m, u, lam) == pytest.approx(tied_optimal_value(m, r, lam), rel=1e-12)
    np.testing.assert_allclose(tied_gradient(m, u, lam), 0, atol=1e-11)
    np.testing.assert_allclose(squared_norms(u), np.mean(squared_norms(u)), rtol=1e-11)


@pytest.mark.parametrize(("r", "lam"), [(1, 0.5), (2, 2.0), (4, 10.0), (9, 0.3)])
def test_no_descent_ends_below_and_one_ends_there(r, lam):
    rng = np.random.default_rng(r)
    m, square = matrix(), matrix(6, 6)
    assert minima(m, r, lam, 6, rng)[0].value == pytest.approx(optimal_value(m, r, lam), rel=1e-9)
    best = tied_minima(square, r, lam, 6, rng)[0].value
    assert best == pytest.approx(tied_optimal_value(square, r, lam), rel=1e-9)


def test_a_matrix_of_negative_eigenvalues_is_not_learnt_by_tied_weights():
    m = -np.diag([3.0, 1.0])
    np.testing.assert_array_equal(solve_tied(m, 2, 0.1), 0)
    assert tied_optimal_value(m, 2, 0.1) == 10


def test_nothing_to_learn():
    u, v = solve(np.zeros((4, 3)), 2, 1.0)
    assert optimal_value(np.zeros((4, 3)), 2, 1.0) == 0
    assert not u.any()
    assert not v.any()


def test_without_dropout_the_optimum_is_the_truncated_svd():
    m = matrix()
    u, v = solve(m, 3, 0.0)
    left, values, right = np.linalg.svd(m)
    np.testing.assert_allclose(u @ v.T, left[:, :3] * values[:3] @ right[:3], atol=1e-12)


@pytest.mark.parametrize("lam", [0.01, 1.0, 30.0])
def test_rho_is_the_largest_feasible_and_no_other_rank_is_better(lam):
    """Every rank is tried on the reduced problem in singular values."""
    values = np.sort(np.random.default_rng(3).exponential(size=6))[::-1]
    r = 5
    best = {}
    for rho in range(r + 1):
        head = values[:rho]
        kept = head - lam * head.sum() / (r + lam * rho)
        if np.all(kept > 0):
            best[rho] = np.sum((head - kept) ** 2) + values[rho:] @ values[rho:]
            best[rho] += lam / r * kept.sum() ** 2
    rho = effective_rank(values, r, lam)
    assert rho == max(best)
    assert best[rho] == min(best.values())
    assert np.count_nonzero(shrunk(values, r, lam)) == rho


def test_a_few_triplets_of_a_large_matrix_equal_those_of_its_full_decomposition():
    m = matrix(90, 70)
    few, full = top_singular(m, 3), np.linalg.svd(m)
    np.testing.assert_allclose(few.values, full[1][:3], rtol=1e-12)
    product = few.left * few.values @ few.right.T
    np.testing.assert_allclose(product, full[0][:, :3] * full[1][:3] @ full[2][:3], atol=1e-10)
    assert optimal_value(m, 3, 0.5) == pytest.approx(objective(m, *solve(m, 3, 0.5), 0.5))


def test_factors_without_padding_leave_f_too_high():
    m, r, lam = matrix(), 6, 10.0
    left, values, right = top_singular(m, r)
    rho = effective_rank(values, r, lam)
    assert rho < r
    compact = left[:, :rho], shrunk(values, r, lam)[:rho], right[:, :rho]
    u, v = equalised_factors(*compact, rho)
    padded_u, padded_v = solve(m, r, lam)
    np.testing.assert_allclose(u @ v.T, padded_u @ padded_v.T, atol=1e-12)
    assert objective(m, u, v, lam) > 1.05 * optimal_value(m, r, lam)
