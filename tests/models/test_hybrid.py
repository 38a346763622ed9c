"""EDLAE with low rank beside a pattern: each part is optimal for the others."""

import numpy as np
import pytest
import scipy.sparse as sp

from lindrop.base.errors import UserError
from lindrop.models.base import Training, dropout_penalty
from lindrop.models.catalogue import fit
from lindrop.models.pattern.hybrid import Hybrid
from lindrop.ranking.evaluation import evaluate
from support.models import tasteful

P, RIDGE = 0.5, 20.0
X = tasteful(300, 50)
G = (X.T @ X).toarray().astype(float)
H = G + np.diag(dropout_penalty(np.diag(G), P, RIDGE))
GIVEN = {"p": P, "ridge": RIDGE}


def hybrid(x=X, factors=4, neighbours=6, dtype=np.float64, **more):
    return fit(
        "hybrid_edlae",
        Training.of(x, dtype=dtype),
        **({"factors": factors, "neighbours": neighbours, **GIVEN} | more),
    )


def low_rank(model):
    b = model.encoder @ model.decoder.T
    np.fill_diagonal(b, 0.0)
    return b


def product_of(model):
    return low_rank(model) + model.sparse.matrix.toarray()


def objective(b):
    """‖X - XB‖² + ‖Λ̃^½ B‖²."""
    return float(np.trace(G) - 2 * (G * b).sum() + (b * (H @ b)).sum())


def test_the_objective_is_that_of_the_model_and_never_rises():
    found = hybrid(tolerance=1e-9, iterations=12)
    values = [row["objective"] for row in found.history]
    assert values[-1] == pytest.approx(objective(product_of(found.model)), rel=1e-9)
    assert len(values) == 12
    assert np.all(np.diff(values) <= 1e-9 * values[0])
    assert values[-1] < values[0] - 1e-4 * values[0]


def test_s_is_the_optimum_on_its_pattern():
    """The gradient of the objective, computed from X, is 0 in every weight of S."""
    model = hybrid().model
    s = model.sparse.matrix.toarray()
    gradient = (H @ product_of(model) - G) / np.diag(H)[:, None]
    assert np.all((s != 0).sum(0) == 6)
    assert abs(gradient[s != 0]).max() < 1e-6
    assert abs(gradient[s == 0]).max() > 1e-3  # else the test would hold for anything


def test_more_turns_approach_a_minimum_over_u_and_v():
    """Gradients of U and V, whose lengths are compared with those after one turn."""

    def steepness(model):
        error = H @ product_of(model) - G
        np.fill_diagonal(error, 0.0)
        return np.linalg.norm(error @ model.decoder) * np.linalg.norm(model.encoder)

    one, many = (hybrid(iterations=turns, tolerance=1e-12).model for turns in (1, 300))
    assert steepness(many) < 0.05 * steepness(one)


def test_both_together_are_better_than_each_alone():
    both = objective(product_of(hybrid(factors=4, neighbours=6).model))
    pattern = fit("sparse_edlae", Training.of(X), neighbours=6, **GIVEN).model
    alone = fit("edlae", Training.of(X), rank=4, **GIVEN).model
    assert both < 0.99 * objective(pattern.matrix.toarray())
    assert both < 0.99 * objective(low_rank(alone))


def test_scores_and_explanations_are_those_of_b():
    model = hybrid().model
    b = product_of(model)
    np.testing.assert_allclose(model.scores(X), X @ b, atol=1e-10)
    history = np.array([3, 8, 20])
    for item in (8, 30):
        np.testing.assert_allclose(model.contributions(history, item), b[history, item], atol=1e-12)


def test_all_other_items_as_neighbours_leave_nothing_to_the_low_rank():
    """S alone is then the full-rank EDLAE, so that B is, whatever U and V are."""
    model = hybrid(neighbours=49).model
    whole = fit("full_edlae", Training.of(X, dtype=np.float64), **GIVEN).model
    np.testing.assert_allclose(model.scores(X), whole.scores(X), atol=1e-6)


def test_ratings_count_as_they_are():
    """Entries other than 1 are multiplied: doubled, they need four times the λ for the same B."""
    twice = hybrid(X * 2, ridge=4 * RIDGE, tolerance=1e-9).model
    once = hybrid(tolerance=1e-9).model
    np.testing.assert_allclose(product_of(twice), product_of(once), atol=1e-6)


def test_items_that_nobody_has_and_items_alone_have_no_weights():
    x = X.toarray()
    x[:, 7] = 0
    x = sp.csr_array(np.vstack([np.column_stack([x, np.zeros(300)]), np.eye(51)[[50]]]), dtype="f")
    b = product_of(hybrid(x).model)
    assert np.isfinite(b).all()
    assert abs(b[[7, 50]]).max() < 1e-6
    assert not hybrid(x).model.sparse.matrix.toarray()[:, [50]].any()


def test_items_that_nobody_has_together_leave_a_zero_model_which_is_refused():
    """U and V would hold rounding errors, and items would be recommended by these."""
    with pytest.raises(UserError, match="the model is zero, so that all items tie"):
        hybrid(sp.csr_array(np.vstack([np.eye(12)] * 3), dtype="f"), factors=2, neighbours=3)


def test_the_default_precision_and_a_fit_that_has_not_come_to_rest():
    found = hybrid(dtype=np.float32)
    assert found.precision == "float32"
    assert found.converged
    assert not hybrid(iterations=2).converged
    ranked = evaluate(found.model, X[:40], X[40:80], ["ndcg@20"])
    assert ranked.per_user["ndcg@20"].between(0, 1).all()


def test_as_many_factors_as_users_are_refused():
    with pytest.raises(UserError, match="factors is 30, but must be below 25") as error:
        hybrid(X[:25], factors=30)
    assert "\n" not in str(error.value)


def test_a_model_of_other_arrays_scores_alike():
    """The diagonal of UV' takes part in no score, however large it is."""
    own = np.full((3, 1), 10.0)
    empty = np.zeros(4, int), np.zeros(0, int), np.zeros(0)
    scores = Hybrid(own, own, *empty).scores(sp.csr_array(np.eye(3)))
    assert np.array_equal(scores, 100.0 - 100.0 * np.eye(3))
