"""The estimator fits what the catalogue fits, to all interactions given."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import lindrop
from lindrop.base.errors import UserError
from lindrop.models.base import Training
from lindrop.models.catalogue import fit
from lindrop.store.model import SavedModel
from support.models import tasteful

X = tasteful(200, 30)


def table():
    user, item = X.nonzero()
    return pd.DataFrame({"user": user, "item": item})


def test_it_fits_the_model_of_the_catalogue_and_names_items_by_their_ids():
    fitted = lindrop.Recommender("edlae", rank=5, p=0.3, ridge=10.0).fit(table())
    items = table()["item"].unique()  # in the order of first appearance
    assert list(fitted.model_.items) == [str(item) for item in items]
    expected = fit("edlae", Training.of(X[:, items]), rank=5, p=0.3, ridge=10.0).model
    np.testing.assert_allclose(
        fitted.model_.fit.model.scores(X[:9][:, items]), expected.scores(X[:9][:, items]), atol=1e-5
    )


def test_a_matrix_is_fitted_as_it_is():
    fitted = lindrop.Recommender("ease", ridge=10.0).fit(X)
    np.testing.assert_array_equal(
        fitted.model_.fit.model.matrix, fit("ease", Training.of(X), ridge=10.0).model.matrix
    )
    users = np.count_nonzero(np.diff(X.indptr))
    np.testing.assert_allclose(fitted.model_.shares, X.astype(bool).sum(axis=0) / users)


def test_without_interactions_it_recommends_to_the_users_it_was_fitted_to():
    fitted = lindrop.Recommender("ease", ridge=10.0).fit(table())
    pd.testing.assert_frame_equal(fitted.recommend(k=3), fitted.recommend(table(), k=3))
    assert fitted.recommend(k=3)["user"].nunique() == table()["user"].nunique()


def test_lambda_is_one_parameter_with_two_names():
    one = lindrop.Recommender("ease", **{"lambda": 10.0}).fit(X)
    two = lindrop.Recommender("ease", ridge=10.0).fit(X)
    np.testing.assert_array_equal(one.model_.fit.model.matrix, two.model_.fit.model.matrix)
    with pytest.raises(UserError, match="ridge and lambda are the same parameter"):
        lindrop.Recommender("ease", ridge=1.0, **{"lambda": 10.0}).fit(X)


def test_parameters_are_read_set_and_copied_as_scikit_learn_does():
    first = lindrop.Recommender("edlae", rank=5, p=0.3, ridge=10.0)
    copied = type(first)(**first.get_params())
    assert copied.get_params() == first.get_params()
    assert copied.set_params(p=0.5, seed=3).get_params() == {
        "model": "edlae",
        "seed": 3,
        "rank": 5,
        "p": 0.5,
        "ridge": 10.0,
    }
    assert first.get_params()["p"] == 0.3
    assert repr(first) == "Recommender(model='edlae', seed=1, rank=5, p=0.3, ridge=10.0)"


def test_refit_takes_the_parameters_of_a_saved_model():
    half = Training.of(X[:100])
    options = {"rank": 30, "p": 0.3, "lambda": 10.0}  # as the workflow saves a full-rank model
    items = np.arange(30).astype(str).astype(object)
    saved = SavedModel(
        "full_edlae", fit("full_edlae", half, **options), items, options, "", half.shares
    )
    again = lindrop.refit(saved, X)
    expected = fit("full_edlae", Training.of(X), p=0.3, ridge=10.0).model.matrix
    np.testing.assert_array_equal(again.fit.model.matrix, expected)


def test_refit_treats_repeats_and_ratings_as_the_model_did():
    source, items = {"min_rating": 3, "repeats": "sum"}, np.arange(30).astype(str).astype(object)
    saved = SavedModel(
        "ease", fit("ease", Training.of(X), ridge=10.0), items, {"lambda": 10.0}, "", None, source
    )
    rows = table()
    rated = pd.concat([rows, rows[::3]]).assign(rating=5)
    again = lindrop.refit(
        saved, pd.concat([rated, rows.sample(50, random_state=1).assign(rating=3)])
    )
    assert again.source == source
    same = lindrop.Recommender(ridge=10.0).fit(rated, weighted=True)
    np.testing.assert_array_equal(again.fit.model.matrix, same.model_.fit.model.matrix)
    once = lindrop.Recommender(ridge=10.0).fit(rated)
    assert not np.allclose(again.fit.model.matrix, once.model_.fit.model.matrix)


def test_it_says_that_it_is_not_fitted_and_that_there_is_nothing_to_fit():
    with pytest.raises(UserError, match=r"Recommender\(model='ease', seed=1\) is not fitted yet"):
        lindrop.Recommender().similar("a")
    with pytest.raises(UserError, match="no interaction to fit to"):
        lindrop.Recommender(ridge=1.0).fit(pd.DataFrame({"user": [], "item": []}))
    with pytest.raises(UserError, match="no model 'eese'"):
        lindrop.Recommender("eese").fit(X)


def test_a_fit_that_fails_leaves_the_earlier_one():
    fitted = lindrop.Recommender(ridge=10.0).fit(table())
    before = fitted.recommend()
    for parameters, interactions in [
        ({}, {"a": []}),
        ({"ridge": -1.0}, table().replace({"item": {0: 99}})),
    ]:
        with pytest.raises(UserError):
            fitted.set_params(**parameters).fit(interactions)
        pd.testing.assert_frame_equal(fitted.recommend(), before)


def test_pairs_of_ids_are_no_matrix():
    for pairs in (table().to_numpy(), table().astype(str).to_numpy(object)):
        with pytest.raises(UserError, match="looks like pairs of ids"):
            lindrop.Recommender(ridge=1.0).fit(pairs)
    two = X[:, :2]
    for matrix in (two, two.toarray(), two.toarray() > 0):
        assert len(lindrop.Recommender(ridge=1.0).fit(matrix).model_.items) == 2


@pytest.mark.parametrize("seed", [-1, 2.5, None, "a", True])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(UserError, match=r"the seed is .*; it must be a whole number, at least 0"):
        lindrop.Recommender(seed=seed, ridge=1.0).fit(X)


@pytest.mark.parametrize(
    ("model", "parameters", "message"),
    [
        ("ease", {"lamda": 3}, "no parameter 'lamda'; its parameters: ridge"),
        ("ease", {}, "the parameter ridge is missing"),
        ("ease", {"ridge": True}, "ridge is True, but must be a finite number"),
        ("ease", {"ridge": 3, "p": 0.5}, "p is 0 in this model"),
        ("edlae", {"rank": [2], "p": 0.3, "ridge": 1}, "edlae needs a rank from 1 to"),
        ("edlae", {"rank": 2.5, "p": 0.3, "ridge": 1}, "edlae needs a rank from 1 to"),
        ("sparse_ease", {"neighbours": "3", "ridge": 1}, "neighbours is '3', but must be a whole"),
        (["ease"], {}, "no model"),
    ],
)
def test_parameters_are_checked_before_the_fit(model, parameters, message):
    with pytest.raises(UserError, match=message):
        lindrop.Recommender(model, **parameters).fit(X)


def test_scikit_learn_copies_it_and_searches_its_parameters():
    first = lindrop.Recommender("ease", ridge=30.0)
    copied = clone(first)
    assert copied is not first
    assert copied.get_params() == first.get_params()
    grid = {"ridge": [1e-3, 30.0, 1e7]}
    search = GridSearchCV(lindrop.Recommender("ease"), grid, cv=3).fit(X)
    assert search.best_params_ == {"ridge": 30.0}
    expected = fit("ease", Training.of(X), ridge=30.0).model.matrix
    np.testing.assert_array_equal(search.best_estimator_.model_.fit.model.matrix, expected)


def test_the_score_is_a_metric_of_users_whose_items_are_partly_held_out():
    fitted = lindrop.Recommender("ease", ridge=30.0).fit(X[:150])
    assert fitted.score(X[150:]) == fitted.score(X[150:])
    by_chance = lindrop.Recommender("popularity").fit(X[:150])
    assert 1 > fitted.score(X[150:]) > by_chance.score(X[150:]) > 0
    assert fitted.score(X[150:], metric="hit_rate@30") == 1  # of 30 items, all are listed
    assert fitted.score(X[150:], metric="coverage@30") == 1  # a metric of all users together
    with pytest.raises(UserError, match="no user has five items"):
        fitted.score({"a": ["1", "2"]})


def test_importing_lindrop_imports_no_library():
    code = "import sys, lindrop; print(sorted({'numpy', 'pandas', 'numba'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    with pytest.raises(AttributeError, match="no attribute 'recomend'"):
        getattr(lindrop, "recomend")  # noqa: B009
