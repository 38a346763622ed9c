"""Float32 where it is enough, float64 where it is not: the metrics never show which."""

import logging
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ROOT
from precision import COMPARED, compared, default_options, middle
from test_models import tasteful
from test_registry import ITEMS, SINGULAR, X, arguments

from lindrop.data.formats import read_interactions
from lindrop.data.split import Protocol, split
from lindrop.data.synthetic.generator import synthetic_interactions
from lindrop.data.synthetic.recipe import recipe_of
from lindrop.errors import Unsolvable
from lindrop.models import precision
from lindrop.models.base import Training
from lindrop.models.precision import SEEN, inverted
from lindrop.models.registry import REGISTRY, fit
from lindrop.store.model import read_model, write_model

INVERTING = ["dropout_l2", "full_l2", "full_dlae", "ease", "full_edlae"]
SWITCHING = {name: arguments(name, 0.0, 1e-4) for name in INVERTING}
SWITCHING["edlae"] = arguments("edlae", 0.0, 1e-4) | {"solver": "als", "iterations": 3}


def matrices(model):
    return [part.astype(float) for part in vars(model).values()]


def product(fitted):
    first, *second = matrices(fitted.model)
    return first @ second[0].T if second else first


def distance(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


@pytest.mark.parametrize("name", SWITCHING)
@pytest.mark.parametrize("kind", SINGULAR)
def test_where_float32_would_be_wrong_the_fit_is_that_of_float64(name, kind, caplog, monkeypatch):
    options = SWITCHING[name]
    data, wide = (Training.of(SINGULAR[kind], dtype=dtype) for dtype in (np.float32, np.float64))
    expected = fit(name, wide, **options)
    with caplog.at_level(logging.INFO, "lindrop"):
        found = fit(name, data, **options)
    (line,) = [each for each in caplog.messages if "float64" in each]
    assert line.startswith("float32 is not enough (")
    assert found.precision == expected.precision == "float64"
    assert distance(product(found), product(expected)) < 1e-9

    monkeypatch.setattr(precision, "SEEN", np.inf)  # float32 alone is wrong, or cannot at all
    monkeypatch.setattr(precision, "NOISE", np.inf)
    try:
        alone = fit(name, data, **options)
    except Unsolvable:
        return
    if alone.precision == "float32":
        assert distance(product(alone), product(expected)) > SEEN


@pytest.mark.parametrize("name", REGISTRY)
def test_an_ordinary_problem_stays_in_float32(name):
    if name != "popularity":  # which counts
        assert fit(name, Training.of(X), **arguments(name)).precision == "float32"


def test_a_fit_in_float64_comes_back_from_its_file(tmp_path):
    data = Training.of(SINGULAR["two items alike"])
    found = fit("ease", data, **SWITCHING["ease"])
    write_model(tmp_path / "model.h5", "ease", found, ITEMS)
    assert read_model(tmp_path / "model.h5").fit.precision == "float64"


def test_the_first_buffer_is_gone_before_the_second_is_read():
    x, living, most = SINGULAR["fewer users than items"], weakref.WeakSet(), []
    gram = (x.T @ x).toarray()

    class Owner(np.ndarray):
        """A buffer that can be watched."""

    def read(dtype):
        most.append(len(living))
        matrix = gram.astype(dtype).view(Owner)
        living.add(matrix)
        return matrix

    penalty = np.full(40, 1e-4)
    assert inverted(Training(x, read), penalty).dtype == np.float64
    assert most == [0, 0]


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


def test_the_estimated_error_is_that_of_the_matrix():
    """Within a factor of 3, over four orders of magnitude."""
    data = Training.of(tasteful(300, 200))
    for ridge in (1.0, 1e-1, 1e-2, 1e-3):
        grams = []
        for dtype in (np.float32, np.float64):
            gram = data.packed(dtype)
            gram.invert(np.full(200, ridge), np.inf)
            grams.append(gram)
        estimated = grams[0].error
        found, expected = (
            each.take_inverse().astype(float) / each.inverse_diagonal for each in grams
        )
        assert 1 / 3 < distance(found, expected) / estimated < 3


def test_what_all_items_share_costs_no_digits():
    """Every user has most items, and one constant more or less of each is all that differs."""
    rng = np.random.default_rng(0)
    x = sp.csr_array((rng.random((400, 60)) < 0.97).astype(np.float32))
    errors = []
    for dtype in (np.float32, np.float64):
        gram = Training.of(x).packed(dtype)
        gram.invert(np.full(60, 1.0))
        errors.append(gram.take_inverse())
    assert distance(*map(np.asarray, errors)) < 5e-7


@pytest.fixture(scope="module")
def demo():
    recipe = recipe_of("demo", users=6000, items=150, interactions=100_000)
    return split(synthetic_interactions(recipe, 1), Protocol(heldout_users=1000))


@pytest.fixture(scope="module")
def real(shared):
    ratings = read_interactions(shared / "ml-100k" / "ml-100k.zip", "movielens", min_rating=3.5)
    return split(ratings, Protocol(100, 3.5, 5, 20))


@pytest.mark.parametrize("name", COMPARED)
@pytest.mark.parametrize("which", ["demo", "real"])
def test_metrics_do_not_depend_on_the_precision(name, which, request):
    """At the middle of the default grid; iterative solvers take as many steps in both."""
    row = compared(request.getfixturevalue(which), name, *middle(name, default_options(ROOT)), 20)
    assert row["precision"] == "float32"
    assert row["difference"] <= 1e-5
