"""Float32 where it is enough, float64 where it is not: the metrics never show which."""

import logging
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from precision import COMPARED, compared, default_options, middle, movielens

from lindrop.base.errors import Unsolvable, UserError
from lindrop.data.split import Protocol, split
from lindrop.data.synthetic.generator import synthetic_interactions
from lindrop.data.synthetic.recipe import recipe_of
from lindrop.linalg import packed
from lindrop.models import precision
from lindrop.models.base import FullRankModel, Training
from lindrop.models.catalogue import fit
from lindrop.models.precision import SEEN, inverted
from lindrop.store.model import read_model, write_model
from support.models import ITEMS, SINGULAR, WITHOUT_TORCH, X, arguments
from support.repository import REPOSITORY

INVERTING = ["dropout_l2", "full_l2", "full_dlae", "ease", "full_edlae"]
# with p = 0 and next to no λ
SWITCHING = {name: arguments(name, 0.0, 1e-4) for name in INVERTING}
SWITCHING["edlae"] = arguments("edlae", 0.0, 1e-4) | {"solver": "als", "iterations": 3}


def product(fitted):
    model = fitted.model
    if isinstance(model, FullRankModel):
        return model.matrix.astype(float)
    return model.encoder.astype(float) @ model.decoder.astype(float).T


def distance(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


@pytest.mark.parametrize("name", SWITCHING)
@pytest.mark.parametrize("kind", ["two items alike", "fewer users than items"])
def test_where_float32_is_not_enough_the_fit_is_that_of_float64(name, kind, caplog):
    options = SWITCHING[name]
    data, wide = (Training.of(SINGULAR[kind], dtype=dtype) for dtype in (np.float32, np.float64))
    expected = fit(name, wide, **options)
    with caplog.at_level(logging.INFO, "lindrop"):
        found = fit(name, data, **options)
    (line,) = [each for each in caplog.messages if "float64" in each]
    assert line.startswith("float32 is not enough (")
    assert found.precision == expected.precision == "float64"
    assert distance(product(found), product(expected)) < 1e-9


@pytest.mark.parametrize("name", ["full_l2", "full_dlae", "ease", "full_edlae"])
@pytest.mark.parametrize("kind", ["two items alike", "fewer users than items"])
def test_float32_alone_would_be_wrong_there(name, kind, monkeypatch):
    expected = product(fit(name, Training.of(SINGULAR[kind]), **SWITCHING[name]))
    monkeypatch.setattr(precision, "SEEN", np.inf)
    alone = fit(name, Training.of(SINGULAR[kind]), **SWITCHING[name])
    assert alone.precision == "float32"
    assert distance(product(alone), expected) > 10 * SEEN


@pytest.mark.parametrize("name", WITHOUT_TORCH)
def test_an_ordinary_problem_stays_in_float32(name):
    if name != "popularity":  # which counts
        assert fit(name, Training.of(X), **arguments(name)).precision == "float32"


def test_a_fit_in_float64_comes_back_from_its_file(tmp_path):
    data = Training.of(SINGULAR["two items alike"])
    found = fit("ease", data, **SWITCHING["ease"])
    write_model(tmp_path / "model.h5", "ease", found, ITEMS)
    assert read_model(tmp_path / "model.h5").fit.precision == "float64"


def test_the_first_buffer_is_gone_before_the_second_is_read():
    x, buffers = SINGULAR["fewer users than items"], []
    gram = (x.T @ x).toarray()

    def read(dtype):
        assert not any(buffer() is not None for buffer in buffers)
        matrix = gram.astype(dtype)
        buffers.append(weakref.ref(matrix))
        return matrix

    assert inverted(Training(x, read), np.full(40, 1e-4)).dtype == np.float64
    assert len(buffers) == 2


def test_without_room_for_float64_float32_may_err_but_not_be_noise(monkeypatch, caplog):
    monkeypatch.setattr(precision, "available_bytes", lambda: 1000.0)
    data = Training.of(SINGULAR["two items alike"])
    rough = inverted(data, np.full(40, 0.02))
    assert rough.dtype == np.float32
    assert SEEN < rough.error < precision.NOISE
    (line,) = caplog.messages
    assert line.startswith("C errs by ")
    with pytest.raises(Unsolvable, match=r"float32 .*larger λ .*: float64 needs 0\.0 GB") as caught:
        inverted(data, np.full(40, 1e-7))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("ridge", [0.02, 1e-7], ids=["would be seen", "not positive definite"])
def test_a_job_whose_retry_gets_more_memory_ends_instead(ridge, monkeypatch):
    monkeypatch.setattr(precision, "available_bytes", lambda: 1000.0)
    monkeypatch.setattr(precision, "retry_gets_more", lambda needed: needed > 1000)
    data = Training.of(SINGULAR["two items alike"])
    assert inverted(data, np.full(40, 100.0)).dtype == np.float32
    with pytest.raises(UserError, match=r"float64 needs 0\.0 GB, .* next attempt gets") as caught:
        inverted(data, np.full(40, ridge))
    assert not isinstance(caught.value, Unsolvable), "the point would be left out"


def inverse_errors(x, ridge):
    """Relative error of C in float32, with columns weighed as in B: the true and the estimated."""
    narrow, wide = (Training.of(x).packed(dtype) for dtype in (np.float32, np.float64))
    for gram in (narrow, wide):
        gram.invert(np.full(len(gram), ridge), np.inf)
    found, expected = (gram.take_inverse() / gram.inverse_diagonal for gram in (narrow, wide))
    return distance(found, expected), narrow.error


@pytest.mark.parametrize("users", [300, 3000])
def test_the_estimated_error_is_never_far_below_the_true_one(users):
    x = sp.csr_array((np.random.default_rng(0).random((users, 400)) < 0.3).astype(np.float32))
    for ridge in (100.0, 10.0, 1.0, 0.1):
        true, estimated = inverse_errors(x, ridge)
        assert true / 2 < estimated < 20 * true


def test_what_all_items_share_costs_no_digits(monkeypatch):
    x = sp.csr_array((np.random.default_rng(0).random((3000, 400)) < 0.3).astype(np.float32))
    apart, _ = inverse_errors(x, 1.0)
    monkeypatch.setattr(packed, "COMMON", 0.0)
    together, _ = inverse_errors(x, 1.0)
    assert apart < together / 5


@pytest.fixture(scope="module")
def demo():
    recipe = recipe_of("demo", users=6000, items=150, interactions=100_000)
    return split(synthetic_interactions(recipe, 1), Protocol(heldout_users=1000))


@pytest.fixture(scope="module")
def real(shared):
    return movielens(str(shared / "ml-100k" / "ml-100k.zip"))


@pytest.mark.parametrize("name", COMPARED)
@pytest.mark.parametrize("which", ["demo", "real"])
def test_metrics_do_not_depend_on_the_precision(name, which, request):
    """At the middle of the default grid; iterative solvers take as many steps in both."""
    row = compared(
        request.getfixturevalue(which), name, *middle(name, default_options(REPOSITORY)), 20
    )
    assert row["precision"] == "float32"
    assert row["difference"] <= 1e-5


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("name", ["ease", "full_l2"])
def test_entries_that_are_no_whole_numbers_are_fitted_in_float64(name, keep):
    """The error of C is estimated for the G that is there, so G itself must not be rounded."""
    rng = np.random.default_rng(3)
    x = (rng.random((20, 60)) < 0.4) * 10.0 ** rng.integers(-2, 3, (20, 60)).astype(np.float32)
    x, ridge = x.astype(np.float32), 0.01
    c = np.linalg.inv(x.astype(float).T @ x.astype(float) + ridge * np.eye(60))
    expected = np.eye(60) - ridge * c if name == "full_l2" else np.eye(60) - c / np.diag(c)
    found = fit(name, Training.of(sp.csr_array(x), keep=keep), ridge=ridge).model.matrix
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())
