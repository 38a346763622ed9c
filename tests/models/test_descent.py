"""Quasi-Newton descent: as low as ADMM in a third of its products of items² × rank operations."""

import numpy as np
import pytest

from lindrop.linalg.packed import PackedGram
from lindrop.models.base import Training
from lindrop.models.edlae.fit import fit_edlae, fit_zero_diagonal
from lindrop.models.edlae.objective import Problem, RankTooLarge
from lindrop.models.edlae.quasi_newton import QuasiNewton
from support.golden import read_golden
from support.models import tasteful
from support.objectives import DENSE, Loss, noise, only

PRODUCTS = {"admm": 2, "lbfgs": 3}  # of an iteration


@pytest.fixture(scope="module", params=["edge-ml-100k-5star", "ml-100k"])
def golden(request, shared):
    return read_golden(shared / "golden" / request.param)


def as_low(fits, data, rank, p, ridge):
    """Products of ADMM, and of the descent, until they are as low as ADMM gets (to 1e-6)."""
    runs = {}
    for solver in ("admm", "lbfgs"):
        fit, _, _ = only(
            fits(data, [rank], p, ridge, solver=solver, iterations=250, tolerance=1e-7)
        )
        runs[solver] = np.array([row["objective"] for row in fit.history])
    goal = runs["admm"].min() * (1 + 1e-6)
    assert runs["lbfgs"].min() <= goal
    first = {solver: 1 + int(np.argmax(run <= goal)) for solver, run in runs.items()}
    return [PRODUCTS[solver] * first[solver] for solver in runs]


@pytest.mark.parametrize("fits", [fit_edlae, fit_zero_diagonal])
def test_the_descent_is_as_low_as_admm_in_a_third_of_its_products(golden, fits):
    settings = golden.settings("edlae_admm")
    given = settings["hidden_dim"], settings["pdrop"], settings["L2const"]
    admm, descent = as_low(fits, Training.of(golden.train, dtype=np.float64), *given)
    assert 3 * descent <= admm


def descent(zero_diagonal, p=0.33, ridge=20.0, rank=4):
    """A descent from a random encoder, its loss, and what its objective adds to."""
    loss = Loss(p, ridge, free_diagonal=not zero_diagonal)
    problem = Problem(np.sum(DENSE**2, axis=0), noise(p) + ridge, zero_diagonal)
    gram = PackedGram(loss.gram.copy())
    gram.invert(problem.penalty + 5.0)
    return QuasiNewton(gram, problem, np.random.default_rng(0).normal(size=(20, rank))), loss


@pytest.mark.parametrize("zero_diagonal", [False, True])
def test_the_gradient_is_that_of_the_objective_with_the_best_decoder(zero_diagonal):
    run, loss = descent(zero_diagonal)
    run.step()

    def value(u):
        return loss(u, run.problem.best_decoder(u, loss.gram @ u))

    assert run.objective == pytest.approx(value(run.u), rel=1e-12)
    np.testing.assert_allclose(run.gu, loss.gram @ run.u, rtol=1e-10, atol=1e-9)
    for place in [(0, 0), (7, 3), (19, 1)]:
        step = np.zeros_like(run.u)
        step[place] = 1e-5 * abs(run.u).max()
        slope = (value(run.u + step) - value(run.u - step)) / (2 * step[place])
        assert 2 * run.half[place] == pytest.approx(slope, rel=1e-4, abs=1e-5 * abs(run.half).max())


@pytest.mark.parametrize("zero_diagonal", [False, True])
def test_a_wild_direction_is_shortened_and_a_wrong_one_refused(zero_diagonal):
    run, _ = descent(zero_diagonal)
    before, direction = run.objective, run._direction
    run._direction = lambda: 1e3 * direction()
    run.step()
    assert run.objective < before
    before, product = run.objective, run.u @ run.v.T
    run._direction = lambda: -direction()
    run.step()
    np.testing.assert_allclose(run.u @ run.v.T, product, atol=1e-10)
    assert run.objective == pytest.approx(before, rel=1e-12)
    run._direction = direction
    run.step()
    assert run.objective < before


def test_a_trial_of_dependent_columns_is_a_trial_that_failed():
    run, _ = descent(zero_diagonal=False)
    before, decoded, failures = run.objective, run._decoded, iter([True, True, False])

    def failing(u, gu):
        if next(failures, False):
            raise RankTooLarge
        return decoded(u, gu)

    run._decoded = failing
    run.step()
    assert run.objective < before


def test_single_precision_ends_where_double_precision_does():
    """The objectives still agree long after only rounding errors change."""
    x, long = tasteful(2_000, 120, seed=1), {"iterations": 150, "tolerance": -1}
    for fits in (fit_edlae, fit_zero_diagonal):
        single, double = (
            [row["objective"] for row in only(fits(data, [15], 0.33, 50.0, **long))[0].history]
            for data in (Training.of(x, dtype=dtype) for dtype in (np.float32, np.float64))
        )
        assert single[-1] == pytest.approx(double[-1], rel=1e-4)
        assert np.all(np.diff(single) <= 1e-5 * single[0])
