"""EDLAE of low rank: each step and each solver is optimal for Eq. 10 or Eq. 11 of Steck 2020."""

import numpy as np
import pytest

from lindrop.linalg.packed import PackedGram
from lindrop.models.edlae.als import ExactEncoder
from lindrop.models.edlae.fit import fit_edlae, fit_zero_diagonal
from lindrop.models.edlae.objective import Problem
from support.models import tasteful
from support.objectives import (
    CASES,
    DENSE,
    DTYPES,
    RANK,
    Loss,
    least,
    noise,
    only,
    solved,
    training,
    with_multipliers,
)


def problem_of(p, ridge, zero_diagonal=False):
    return Problem(np.sum(DENSE**2, axis=0), noise(p) + ridge, zero_diagonal)


@pytest.mark.parametrize("zero_diagonal", [False, True])
@pytest.mark.parametrize(("p", "ridge"), CASES)
def test_the_decoder_step_is_optimal(p, ridge, zero_diagonal):
    loss, rng = Loss(p, ridge, free_diagonal=not zero_diagonal), np.random.default_rng(0)
    problem, u = problem_of(p, ridge, zero_diagonal), rng.normal(size=(20, RANK))
    v = problem.best_decoder(u, loss.gram @ u)
    found = loss(u, v)
    assert problem.objective(u, v, loss.gram @ u) == pytest.approx(found, rel=1e-12)
    steps = rng.normal(0, 0.1, (20, 20, RANK))
    if zero_diagonal:
        np.testing.assert_allclose(np.sum(u * v, axis=1), 0, atol=1e-12)
        along = u / np.linalg.norm(u, axis=1, keepdims=True)
        steps = steps - np.sum(steps * along, axis=2, keepdims=True) * along
    else:
        gradient = loss.gradients(u, v)[1]
        assert abs(gradient).max() < 1e-9 * abs(loss.gram @ u).max()
    assert all(loss(u, v + step) > found for step in steps)


@pytest.mark.parametrize(("p", "ridge"), CASES)
def test_the_encoder_step_is_optimal(p, ridge):
    loss, v = Loss(p, ridge, free_diagonal=True), np.random.default_rng(0).normal(size=(20, RANK))
    gram = PackedGram(loss.gram.copy())
    gram.invert(loss.penalty)
    for tolerance, expected in ((1e-8, 1e-5), (1e-12, 1e-8)):  # of MINRES, of the gradient
        u = ExactEncoder(gram, problem_of(p, ridge), tolerance)(v)
        gradient = loss.gradients(u, v)[0]
        assert abs(gradient).max() < expected * abs(2 * loss.gram @ v).max()
    steps = np.random.default_rng(1).normal(0, 0.01, (20, 20, RANK))
    assert all(loss(u + step, v) > loss(u, v) for step in steps)


@pytest.mark.parametrize(("p", "ridge"), CASES)
def test_every_solver_reaches_the_minimum_of_equation_10(p, ridge):
    loss = Loss(p, ridge, free_diagonal=True)
    minimum = least(loss)
    for solver, iterations in (("lbfgs", 400), ("als", 400), ("admm", 4_000)):
        fit, u, v = solved(solver, p, ridge, iterations=iterations)
        assert loss(u, v) == pytest.approx(minimum, rel=1e-6)
        assert fit.history[-1]["objective"] == pytest.approx(loss(u, v), rel=1e-12)
        assert loss.steepness(u, v) < 1e-6


@pytest.mark.parametrize(("p", "ridge"), CASES)
@pytest.mark.parametrize("solver", ["lbfgs", "als", "zero diagonal"])
def test_the_objective_never_rises(solver, p, ridge):
    fit, _, _ = solved(solver, p, ridge, iterations=60)
    objectives = [row["objective"] for row in fit.history]
    assert len(objectives) == 60
    assert np.all(np.diff(objectives) <= 1e-9 * objectives[0])
    assert all(row["gap"] >= -1e-9 for row in fit.history)


@pytest.mark.parametrize(
    ("p", "ridge"), [(0.0, 30.0), (0.33, 100.0), (0.33, 1_000.0), (0.8, 100.0)]
)
@pytest.mark.parametrize("solver", ["lbfgs", "admm"])
def test_no_solver_needs_tuning(solver, p, ridge):
    """Ω grows with Λ̃; where it did not, columns collapsed (the third case ended 35 % too high)."""
    data = training(tasteful(1_000, 100))
    found, exact = (
        only(fit_edlae(data, [10], p, ridge, solver=each, tolerance=3e-5))[0]
        for each in (solver, "als")
    )
    assert found.history[-1]["objective"] == pytest.approx(exact.history[-1]["objective"], rel=2e-3)
    assert found.converged


@pytest.mark.parametrize("solver", ["zero diagonal", "zero diagonal, admm"])
@pytest.mark.parametrize(("p", "ridge"), CASES[:3])
def test_solvers_of_equation_11_end_at_stationary_points(solver, p, ridge):
    loss = Loss(p, ridge)
    fit, u, v = solved(solver, p, ridge, iterations=4_000)
    assert abs(np.sum(u * v, axis=1)).max() < 1e-12
    residual, eta = with_multipliers(loss, u, v)
    assert residual < 1e-6
    assert abs(eta).min() > 1  # the constraint binds
    assert fit.history[-1]["objective"] == pytest.approx(loss(u, v), rel=1e-12)
    assert fit.history[-1]["residual"] < 1e-6


SOLVERS = ["lbfgs", "als", "admm", "zero diagonal", "zero diagonal, admm"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_single_precision_is_nearly_as_good(solver):
    p, ridge, x = 0.33, 50.0, tasteful(2_000, 120, seed=1)
    loss = Loss(p, ridge, x.toarray().astype(float), free_diagonal="zero" not in solver)
    found = []
    for dtype in DTYPES:
        _, u, v = solved(solver, p, ridge, 15, x, 60, dtype)
        assert u.dtype == v.dtype == dtype
        found.append(loss(u.astype(float), v.astype(float)))
    assert found[0] == pytest.approx(found[1], rel=1e-3)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("iterations", [1, 2, 3, 500])
def test_a_fit_says_how_it_went(solver, iterations):
    fit, _, _ = solved(solver, 0.33, 20.0, iterations=iterations, tolerance=1e-7)
    assert [row["iteration"] for row in fit.history] == list(range(1, len(fit.history) + 1))
    assert all({"objective", "gap", "residual"} < set(row) for row in fit.history)
    assert np.isfinite([list(row.values()) for row in fit.history]).all()
    assert fit.converged == (iterations == 500)
    assert (len(fit.history) < iterations) == fit.converged


def test_several_ranks_are_those_of_single_fits():
    for fits in (fit_edlae, fit_zero_diagonal):
        together = dict(fits(training(), [2, 5], 0.33, 20.0))
        for rank in (2, 5):
            ((_, alone),) = fits(training(), [rank], 0.33, 20.0)
            assert together[rank].model.encoder.shape == (20, rank)
            assert together[rank].history[-1]["objective"] == pytest.approx(
                alone.history[-1]["objective"], rel=1e-9
            )
