"""The solvers as Steck 2020 prints and publishes them: what they minimise and where they fail."""

from itertools import islice

import numpy as np
import pytest

from lindrop.models.base import LowRank, Training
from lindrop.models.closed_form import fit_dropout_l2
from lindrop.models.edlae import as_published
from lindrop.models.edlae.fit import fit_edlae, fit_zero_diagonal
from lindrop.models.full_rank import fit_edlae as fit_full_edlae
from lindrop.ranking.evaluation import evaluate, summary
from support.golden import read_golden
from support.objectives import RANK, Loss, X, only, solved, with_multipliers


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
            found = summary(evaluate(LowRank(u, v), fold_in, held_out).per_user)
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
                found = summary(evaluate(model, fold_in, held_out).per_user)
                golden.expect(name, part, found, tolerance)
