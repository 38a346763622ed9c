"""Every model is optimal: gradients, constraints and limits, against float64 references.

Objectives are written here from the paper, as dense expressions; none comes from the library.
"""

from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from lindrop.linalg.packed import PackedGram
from lindrop.models.base import LowRank, Training
from lindrop.models.closed_form import fit_dropout_l2, fit_product_l2, fit_weight_decay
from lindrop.models.edlae import as_published
from lindrop.models.edlae.als import ExactEncoder
from lindrop.models.edlae.fit import fit_edlae, fit_zero_diagonal
from lindrop.models.edlae.objective import Problem
from lindrop.models.full_rank import emphasised_matrix, fit_dlae, fit_emphasised
from lindrop.models.full_rank import fit_edlae as fit_full_edlae
from lindrop.ranking.evaluation import evaluate, summary
from support.golden import read_golden
from support.models import tasteful

DTYPES = [np.float32, np.float64]
CASES = [(0.33, 20.0), (0.5, 0.0), (0.0, 60.0), (0.33, 300.0)]  # p and λ; the last is strong
RANK = 4


X = tasteful(300, 20)
DENSE = X.toarray().astype(float)


def noise(p, x=DENSE):
    """The diagonal of Λ (Eq. 4)."""
    return p / (1 - p) * np.sum(x**2, axis=0)


def off(b):
    return b - np.diag(np.diag(b))


class Loss:
    """‖X - XB‖² + ‖Λ̃^½ B‖² (Eq. 3), of off(B) where the diagonal is free (Eq. 10)."""

    def __init__(self, p, ridge, x=DENSE, free_diagonal=False):
        self.gram, self.penalty = x.T @ x, noise(p, x) + ridge
        self.h = self.gram + np.diag(self.penalty)
        self.part = off if free_diagonal else lambda b: b

    def __call__(self, u, v=None):
        b = self.part(u if v is None else u @ v.T)
        return np.trace(self.gram) - 2 * np.vdot(self.gram, b) + np.vdot(b, self.h @ b)

    def gradient(self, b):
        return self.part(2 * (self.h @ self.part(b) - self.gram))

    def gradients(self, u, v):
        """With respect to U and V."""
        of_b = self.gradient(u @ v.T)
        return of_b @ v, of_b.T @ u

    def steepness(self, u, v):
        """The largest entry of the gradients, by the size of their terms, in a balanced gauge."""
        u, v = balanced(u, v)
        return max(abs(of).max() for of in self.gradients(u, v)) / abs(2 * self.gram @ v).max()


class WeightDecay(Loss):
    """‖X - XUV'‖² + λ(‖U‖² + ‖V‖²), row 1."""

    def __init__(self, ridge):
        super().__init__(0.0, 0.0)
        self.ridge = ridge

    def __call__(self, u, v):
        return super().__call__(u, v) + self.ridge * (np.sum(u**2) + np.sum(v**2))

    def gradients(self, u, v):
        of_u, of_v = super().gradients(u, v)
        return of_u + 2 * self.ridge * u, of_v + 2 * self.ridge * v


def balanced(u, v):
    left, values, right = np.linalg.svd(u @ v.T)
    root = np.sqrt(values[: u.shape[1]])
    return left[:, : len(root)] * root, right[: len(root)].T * root


def least(loss, rank=RANK, starts=8):
    """The best of several runs of L-BFGS from random starts."""
    shape, rng = (2, len(loss.gram), rank), np.random.default_rng(0)

    def value_and_gradient(flat):
        u, v = flat.reshape(shape)
        return loss(u, v), np.concatenate(loss.gradients(u, v)).ravel()

    options = {"maxiter": 20_000, "maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-7, "maxcor": 30}
    runs = [
        minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", options=options)
        for start in rng.normal(0, 0.3, (starts, np.prod(shape)))
    ]
    return min(run.fun for run in runs)


def training(x=X, dtype=np.float64):
    return Training.of(x, dtype=dtype)


def only(fits):
    """The one fit of an iterative solver, its encoder and its decoder."""
    ((_, fit),) = fits
    return fit, fit.model.encoder, fit.model.decoder


def solved(solver, p, ridge, rank=RANK, x=X, iterations=400, dtype=np.float64, tolerance=-1):
    """Run for so many iterations; a negative tolerance never stops."""
    options = {"iterations": iterations, "tolerance": tolerance}
    if solver == "zero diagonal":
        return only(fit_zero_diagonal(training(x, dtype), [rank], p, ridge, **options))
    return only(fit_edlae(training(x, dtype), [rank], p, ridge, solver=solver, **options))


def test_the_gradients_of_this_file_are_those_of_its_objectives():
    rng = np.random.default_rng(0)
    u, v, du, dv = rng.normal(size=(4, 20, RANK))
    for loss in (Loss(0.3, 5.0), Loss(0.3, 5.0, free_diagonal=True), WeightDecay(5.0)):
        of_u, of_v = loss.gradients(u, v)
        slope = (loss(u + 1e-5 * du, v + 1e-5 * dv) - loss(u - 1e-5 * du, v - 1e-5 * dv)) / 2e-5
        assert np.vdot(of_u, du) + np.vdot(of_v, dv) == pytest.approx(slope, rel=1e-7)


# Full rank


@pytest.mark.parametrize(("p", "ridge"), CASES)
def test_full_rank_dlae_minimises_equation_3(p, ridge):
    loss = Loss(p, ridge)
    b = fit_dlae(training(), p, ridge).model.matrix
    assert abs(loss.gradient(b)).max() < 1e-10 * abs(loss.gram).max()


@pytest.mark.parametrize(("p", "ridge"), CASES)
def test_full_rank_edlae_minimises_equation_7(p, ridge):
    loss = Loss(p, ridge)
    b = fit_full_edlae(training(), p, ridge).model.matrix
    assert np.all(b.diagonal() == 0)
    assert abs(off(loss.gradient(b))).max() < 1e-10 * abs(loss.gram).max()


def test_without_dropout_edlae_is_ease():
    """Steck 2019, item by item: the ridge regression of each on the others."""
    b = fit_full_edlae(training(), 0.0, 60.0).model.matrix
    gram = DENSE.T @ DENSE
    for i in range(20):
        others = np.arange(20) != i
        weights = np.linalg.solve(gram[np.ix_(others, others)] + 60 * np.eye(19), gram[others, i])
        np.testing.assert_allclose(b[others, i], weights, rtol=1e-9)


def equation_6(b, p, ridge, a, emphasis):
    """With Λ̃ in place of Λ; its second weight b is named `emphasis` here."""
    mean, diagonal = a * p + emphasis * (1 - p), np.diag(np.diag(b))
    rest = DENSE - DENSE @ (b - (1 - emphasis / mean) * diagonal)
    shrunk = b - (1 - np.sqrt(a * emphasis) / mean) * diagonal
    return np.sum(rest**2) + (noise(p) + ridge) @ np.sum(shrunk**2, axis=1)


@pytest.mark.parametrize(("p", "ridge"), CASES)
@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 0.3), (5, 0.01)])
def test_any_emphasis_minimises_equation_6(p, ridge, a, b):
    best = fit_emphasised(training(), p, ridge, a, b).model.matrix
    np.testing.assert_allclose(
        best, emphasised_matrix(DENSE.T @ DENSE, p, ridge, a, b), rtol=1e-10, atol=1e-13
    )

    def slope(place):  # central differences of a quadratic are exact
        step = np.zeros_like(best)
        step[place] = 1
        return (
            equation_6(best + step, p, ridge, a, b) - equation_6(best - step, p, ridge, a, b)
        ) / 2

    slopes = [slope(place) for place in np.ndindex(best.shape)]
    assert max(map(abs, slopes)) < 1e-8 * equation_6(best, p, ridge, a, b) / min(1, b)


@pytest.mark.parametrize(("p", "ridge"), [(0.33, 0.0), (0.33, 20.0)])
def test_limits_of_the_emphasis(p, ridge):
    """Equal: Eq. 5. Full: Eq. 8, but for the diagonal (E1)."""
    equal = fit_emphasised(training(), p, ridge, 2.0, 2.0).model.matrix
    dlae = fit_dlae(training(), p, ridge).model.matrix
    np.testing.assert_allclose(equal, dlae, atol=1e-12)

    full = fit_emphasised(training(), p, ridge, 1.0, 1e-10).model.matrix
    np.testing.assert_allclose(
        off(full), fit_full_edlae(training(), p, ridge).model.matrix, atol=1e-8
    )
    weights = noise(p) + ridge
    c = np.linalg.inv(DENSE.T @ DENSE + np.diag(weights))
    limit = p * (1 / (weights * c.diagonal()) - 1)
    assert limit.min() > 0.03
    np.testing.assert_allclose(full.diagonal(), limit, rtol=1e-6)


# Low rank, rows 1 to 3 of Table 1

ROWS = {
    "row 1": (lambda data, k: fit_weight_decay(data, k, 60.0), WeightDecay(60.0)),
    "row 1, less than rank 4": (lambda data, k: fit_weight_decay(data, k, 150.0), WeightDecay(150)),
    "row 2": (lambda data, k: fit_product_l2(data, k, 60.0), Loss(0.0, 60.0)),
    "row 3": (lambda data, k: fit_dropout_l2(data, k, 0.4, 20.0), Loss(0.4, 20.0)),
    "row 3, no λ": (lambda data, k: fit_dropout_l2(data, k, 0.4, 0.0), Loss(0.4, 0.0)),
}


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


# EDLAE of low rank: Eq. 10


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
def test_both_solvers_reach_the_minimum_of_equation_10(p, ridge):
    loss = Loss(p, ridge, free_diagonal=True)
    minimum = least(loss)
    for solver, iterations in (("als", 400), ("admm", 4_000)):
        fit, u, v = solved(solver, p, ridge, iterations=iterations)
        assert loss(u, v) == pytest.approx(minimum, rel=1e-6)
        assert fit.history[-1]["objective"] == pytest.approx(loss(u, v), rel=1e-12)
        assert loss.steepness(u, v) < 1e-6


@pytest.mark.parametrize(("p", "ridge"), CASES)
def test_exact_least_squares_never_go_up(p, ridge):
    fit, _, _ = solved("als", p, ridge, iterations=60)
    objectives = [row["objective"] for row in fit.history]
    assert len(objectives) == 60
    assert np.all(np.diff(objectives) <= 1e-9 * objectives[0])
    assert all(row["gap"] >= -1e-9 for row in fit.history)


@pytest.mark.parametrize(
    ("p", "ridge"), [(0.0, 30.0), (0.33, 100.0), (0.33, 1_000.0), (0.8, 100.0)]
)
def test_the_default_solver_needs_no_tuning(p, ridge):
    """Ω grows with Λ̃; where it did not, columns collapsed (the third case ended 35 % too high)."""
    data = training(tasteful(1_000, 100))
    found, exact = (
        only(fit_edlae(data, [10], p, ridge, solver=solver))[0] for solver in ("admm", "als")
    )
    assert found.history[-1]["objective"] == pytest.approx(exact.history[-1]["objective"], rel=2e-3)
    assert found.converged


def last(iterations, steps):
    return next(islice(iterations, steps - 1, None))


def test_the_printed_admm_solves_another_problem():
    """E3: that with Λ̃ + Ω = 2Λ̃ + ωI in place of Λ̃; and so ends above the minimum."""
    p, ridge, omega = 0.33, 20.0, 5.0
    loss = Loss(p, ridge, free_diagonal=True)
    _, u, v = solved("als", p, ridge)
    minimum = loss(u, v)
    u, v = last(as_published.printed_admm(loss.gram, p, ridge, omega, v), 3_000)
    other = Loss(p, ridge, free_diagonal=True)
    other.penalty = 2 * loss.penalty + omega
    other.h = loss.gram + np.diag(other.penalty)
    assert other.steepness(u, v) < 1e-10
    assert loss.steepness(u, v) > 1e-3
    assert 1.005 < loss(u, v) / minimum < 1.1


def test_the_notebooks_admm_passes_the_minimum_and_diverges():
    """E4."""
    p, ridge, omega = 0.33, 20.0, 50.0
    loss = Loss(p, ridge, free_diagonal=True)
    _, u, v = solved("als", p, ridge)
    minimum = loss(u, v)
    steps = as_published.notebook_admm(
        loss.gram, p, ridge, omega, as_published.notebook_start(20, RANK)
    )
    after = [loss(u, v) / minimum - 1 for u, v in islice(steps, 20)]
    assert 1e-3 < min(after[:6]) < 0.02
    assert after[9] > 0.1
    assert after[19] > 1e3


# EDLAE with diag(UV') = 0: Eq. 11


def with_multipliers(loss, u, v):
    """How far from stationary the Lagrangian of diag(UV') = 0 is, with its best η, and η."""
    u, v = balanced(u, v)
    of_b = loss.gradient(u @ v.T)
    eta = -(np.sum(of_b @ v * v, axis=1) + np.sum(of_b.T @ u * u, axis=1))
    eta /= np.sum(u**2, axis=1) + np.sum(v**2, axis=1)
    of_b = of_b + np.diag(eta)
    return max(abs(of_b @ v).max(), abs(of_b.T @ u).max()) / abs(2 * loss.gram @ v).max(), eta


@pytest.mark.parametrize(("p", "ridge"), CASES[:3])
def test_the_corrected_admm_is_stationary_for_equation_11(p, ridge):
    loss = Loss(p, ridge)
    fit, u, v = solved("zero diagonal", p, ridge, iterations=4_000)
    assert abs(np.sum(u * v, axis=1)).max() < 1e-12
    residual, eta = with_multipliers(loss, u, v)
    assert residual < 1e-6
    assert abs(eta).min() > 1  # the constraint binds
    assert fit.history[-1]["objective"] == pytest.approx(loss(u, v), rel=1e-12)
    assert fit.history[-1]["residual"] < 1e-6


def test_the_printed_alternation_stalls_at_small_ranks_only():
    """E5: rank² - 1 against the number of items."""
    p, ridge = 0.5, 0.0
    loss = Loss(p, ridge)

    def alternation(rank):
        start = np.random.default_rng(0).normal(size=(20, rank))
        steps = as_published.printed_alternation(loss.gram, p, ridge, start, zero_diagonal=True)
        return last(steps, 3_000)

    def relative(rank):
        (u, v), (_, *best) = alternation(rank), solved("zero diagonal", p, ridge, rank, X, 4_000)
        assert abs(np.sum(u * v, axis=1)).max() < 1e-9
        return loss(u, v) / loss(*best) - 1, with_multipliers(loss, u, v)[0]

    above, residual = relative(2)
    assert above > 1e-3
    assert residual > 1e-3
    above, residual = relative(6)
    assert abs(above) < 1e-6
    assert residual < 1e-6


# What every iterative fit says, and in float32

SOLVERS = ["als", "admm", "zero diagonal"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_single_precision_is_nearly_as_good(solver):
    p, ridge, x = 0.33, 50.0, tasteful(2_000, 120, seed=1)
    loss = Loss(p, ridge, x.toarray().astype(float), free_diagonal=solver != "zero diagonal")
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


# The published code

GOLDEN_SETS = ["edge-ml-100k-5star", "ml-100k", "msd-format", "netflix-format"]


@pytest.fixture(scope="module", params=GOLDEN_SETS)
def golden(request, shared):
    """All but ml-latest-small, whose 5,697 items take minutes in the published form."""
    return read_golden(shared / "golden" / request.param)


def test_transcriptions_have_the_published_metrics_and_exact_solvers_a_lower_objective(golden):
    settings = golden.settings("edlae_admm")
    p, ridge, rank = settings["pdrop"], settings["L2const"], settings["hidden_dim"]
    x = golden.train.toarray()
    gram, items = x.T @ x, x.shape[1]
    start = np.random.RandomState(0).randn(rank, items).T * 1e-4
    runs = {
        "edlae_admm": as_published.notebook_admm(
            gram, p, ridge, settings["omega"], as_published.notebook_start(items, rank)
        ),
        "edlae_approx_freediag": as_published.printed_alternation(gram, p, ridge, start, False),
        "edlae_approx_zerodiag": as_published.printed_alternation(gram, p, ridge, start, True),
    }
    published = {}
    for name, steps in runs.items():
        u, v = published[name] = last(steps, golden.settings(name)["train_epochs"])
        for part, (fold_in, held_out) in golden.parts.items():
            found = summary(evaluate(LowRank(u, v), fold_in, held_out))
            golden.expect(name, part, found, 1e-4)

    data = Training.of(golden.train, dtype=np.float64)
    best = fit_dropout_l2(data, rank, p, ridge).model
    row_3, equation_10 = Loss(p, ridge, x), Loss(p, ridge, x, free_diagonal=True)
    assert row_3(best.encoder, best.decoder) <= row_3(*published["edlae_approx_freediag"])
    _, *factors = only(fit_edlae(data, [rank], p, ridge))
    assert equation_10(*factors) <= equation_10(*published["edlae_admm"])
    zero = only(fit_zero_diagonal(data, [rank], p, ridge))[1:]
    constrained = Loss(p, ridge, x)  # the same loss, and the diagonal is zero in both
    assert constrained(*zero) <= constrained(*published["edlae_approx_zerodiag"]) * (1 + 1e-4)

    for name in ("ease_lambda_only", "edlae_fullrank"):
        settings = golden.settings(name)
        for dtype, tolerance in ((np.float64, 1e-6), (np.float32, 1e-5)):
            train = Training.of(golden.train, dtype=dtype)
            model = fit_full_edlae(train, settings["pdrop"], settings["L2const"]).model
            for part, (fold_in, held_out) in golden.parts.items():
                found = summary(evaluate(model, fold_in, held_out))
                golden.expect(name, part, found, tolerance)
