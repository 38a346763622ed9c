"""Every model by name: it fits, is kept in a file, recommends, and refuses what it cannot do."""

import tracemalloc
from dataclasses import replace
from itertools import combinations

import h5py
import numpy as np
import pytest
import scipy.sparse as sp

from lindrop.base.errors import UserError
from lindrop.models.base import FullRank, Training, is_zero
from lindrop.models.catalogue import CATALOGUE, fit
from lindrop.ranking.evaluation import evaluate, summary
from lindrop.store.hdf5 import seal_file
from lindrop.store.model import PARTS, SavedModel, read_model, write_model
from support.models import (
    ITEMS,
    SINGULAR,
    WITHOUT_TORCH,
    X,
    arguments,
    tasteful,
)

SPARSE = ("indptr", "indices")  # positions of the entries of a sparse matrix


@pytest.fixture(scope="module")
def fits():
    return {name: fit(name, Training.of(X), **arguments(name)) for name in WITHOUT_TORCH}


@pytest.fixture(scope="module")
def unseen():
    """200 other users of the same tastes, half of whose items are held out."""
    x = tasteful(400, 40)[200:]
    known = np.random.default_rng(0).random(x.nnz) < 0.5
    halves = (x.copy(), x.copy())
    for half, kept in zip(halves, (known, ~known), strict=True):
        half.data = half.data * kept
        half.eliminate_zeros()
    return halves


@pytest.mark.parametrize("name", WITHOUT_TORCH)
def test_every_model_fits_and_beats_popularity(name, fits, unseen):
    scores = fits[name].model.scores(unseen[0])
    assert scores.shape == (200, 40)
    assert np.isfinite(scores).all()
    metric = "recall@20"
    floor, found = (
        summary(evaluate(fits[which].model, *unseen).per_user).loc[metric, "mean"]
        for which in ("popularity", name)
    )
    assert found >= floor + (0.02 if name != "popularity" else 0)


@pytest.mark.parametrize("name", WITHOUT_TORCH)
def test_a_model_comes_back_from_its_file(name, fits, unseen, tmp_path):
    before, options = fits[name], arguments(name)
    write_model(tmp_path / "model.h5", name, before, ITEMS, options, "5" * 64)
    saved = read_model(tmp_path / "model.h5")
    assert (saved.name, saved.parameters, saved.split_sha256) == (name, options, "5" * 64)
    assert (saved.fit.converged, saved.fit.history) == (before.converged, before.history)
    assert type(saved.fit.model) is type(before.model)
    np.testing.assert_array_equal(saved.items, ITEMS)
    np.testing.assert_array_equal(saved.fit.model.scores(unseen[0]), before.model.scores(unseen[0]))


@pytest.mark.parametrize("name", WITHOUT_TORCH)
def test_recommendations_are_the_best_unseen_items(name, fits):
    model = SavedModel(name, fits[name], ITEMS, {}, "")
    history = ["film 3 ü", "film 7 ü", "film 3 ü", "a film that nobody knows"]
    row = np.zeros((1, 40), np.float32)
    row[0, [3, 7]] = 1
    scores = fits[name].model.scores(sp.csr_array(row))[0]
    scores[[3, 7]] = -np.inf
    best = ITEMS[np.argsort(-scores, kind="stable")]
    assert model.recommend(history, 5) == list(best[:5])
    assert model.recommend(history, 100) == list(best[:38])  # all that are left
    for nobody in ([], ["unknown"]):
        with pytest.raises(UserError, match="none of the history's items is known"):
            model.recommend(nobody)
    with pytest.raises(UserError, match="history: a list of ids is needed, not 'film 3 ü'"):
        model.recommend("film 3 ü")


def refused(match, *args, **options):
    with pytest.raises(UserError, match=match) as caught:
        fit(*args, **options)
    assert "\n" not in str(caught.value)


def test_an_unknown_name_is_answered_with_the_known_ones():
    refused("no model 'edlea'; the models are popularity, .*edlae", "edlea", Training.of(X))


@pytest.mark.parametrize("name", [name for name in WITHOUT_TORCH if CATALOGUE[name].low_rank])
@pytest.mark.parametrize("rank", [None, 0, -3, 40, 41])
def test_a_rank_that_the_items_do_not_allow_is_refused(name, rank):
    options = arguments(name) | {"rank": rank}
    refused(f"{name} needs a rank from 1 to 39, not {rank}", name, Training.of(X), **options)


INVERTING = [
    name for name in WITHOUT_TORCH if name.startswith("full") or name in ("ease", "dropout_l2")
]


@pytest.mark.parametrize("name", INVERTING)
@pytest.mark.parametrize("kind", SINGULAR)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_to_regularise_a_singular_matrix_is_refused(name, kind, dtype):
    data = Training.of(SINGULAR[kind], dtype=dtype)
    refused("not positive definite .* larger λ", name, data, **arguments(name, 0.0, 0.0))


@pytest.mark.parametrize("name", [name for name in WITHOUT_TORCH if name != "sampled_dropout"])
@pytest.mark.parametrize("kind", SINGULAR)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_little_regularisation_is_enough(name, kind, dtype):
    model = fit(name, Training.of(SINGULAR[kind], dtype=dtype), **arguments(name, 0.2, 2.0)).model
    scores = model.scores(SINGULAR[kind])
    assert np.isfinite(scores).all()
    if name != "popularity":
        assert abs(scores).max() < 3  # entries of X are 0 and 1


SOLVERS = [
    (name, {"solver": solver})
    for name in ("edlae", "zero_diagonal", "zero_diagonal_l2")
    for solver in CATALOGUE[name].options["solver"].choices
]


@pytest.mark.parametrize(("name", "solver"), [*SOLVERS, ("weight_decay", {})])
def test_a_rank_above_the_number_of_users_is_fitted_or_refused(name, solver):
    options = arguments(name) | {"rank": 35} | solver
    try:
        scores = fit(name, Training.of(X[:20]), **options).model.scores(X)
    except UserError as error:
        assert "use a smaller rank" in str(error)  # noqa: PT017
    else:
        assert np.isfinite(scores).all()
        assert abs(scores).max() < 3


def test_iterations_too_few_to_judge_are_not_called_converged():
    for name in WITHOUT_TORCH:
        if CATALOGUE[name].low_rank and fit(name, Training.of(X), **arguments(name)).history:
            few = "epochs" if name == "sampled_dropout" else "iterations"
            found = fit(name, Training.of(X), **arguments(name), **{few: 1})
            assert (len(found.history), found.converged) == (1, False)


NO_MODEL = ["text", "foreign", "other kind", "cut short", "no model", "absent"]


@pytest.mark.parametrize("content", NO_MODEL)
def test_a_file_that_holds_no_model_is_refused(content, fits, tmp_path):
    path = tmp_path / "model.h5"
    if content == "text":
        path.write_text("hello")
    elif content == "foreign":
        h5py.File(path, "w").close()
    elif content != "absent":
        write_model(path, "edlae", fits["edlae"], ITEMS)
    if content == "cut short":
        path.write_bytes(path.read_bytes()[:900])
    elif content in ("other kind", "no model"):
        with h5py.File(path, "r+") as file:
            del file["encoder"]
            file.attrs["lindrop_file"] = "split/1" if content == "other kind" else "model/1"
        seal_file(path)
    with pytest.raises(UserError, match=rf"{path}: .*(delete it|no such file)") as caught:
        read_model(path)
    assert "\n" not in str(caught.value)


def test_a_fit_that_counts_for_itself_is_the_same_in_the_memory_of_one_triangle():
    x = sp.random_array((1200, 2000), density=0.01, rng=np.random.default_rng(0), format="csr")
    x.data = np.ones(x.nnz, np.float32)
    fit("ease", Training.of(x[:, :50]), ridge=10.0)  # compiled: that takes memory, too
    peaks, found = {}, {}
    for keep in (False, True):
        tracemalloc.start()
        found[keep] = fit("ease", Training.of(x, keep=keep), ridge=10.0).model.triangle
        peaks[keep] = tracemalloc.get_traced_memory()[1] / found[keep].nbytes
        tracemalloc.stop()
    np.testing.assert_array_equal(found[False], found[True])
    assert found[True].nbytes < 0.75 * 4 * 2000**2
    assert 1 < peaks[False] < 2  # buffers of 320 columns and 960² are much for so few items
    assert peaks[True] > peaks[False] + 0.9


@pytest.mark.parametrize(
    ("name", "rank", "parameters", "expected"),
    [
        (
            "weight_decay",
            4,
            {"ridge": np.nan},
            "ridge is nan, but must be a finite number",
        ),
        ("weight_decay", 4, {"ridge": -5}, "ridge is -5, but must be a finite number, at least 0"),
        ("slim", None, {"l1": 1, "l2": np.inf}, "l2 is inf, but must be a finite number"),
        (
            "sampled_dropout",
            4,
            {"p": 1, "ridge": 1, "epochs": 2},
            "p is 1, but must be a finite",
        ),
        ("sampled_dropout", 4, {"p": 0.5, "ridge": 1, "epochs": 1.5}, "but must be a whole number"),
        ("edlae", 4, {"p": 0.5, "ridge": 1, "solver": "sgd"}, "must be one of lbfgs, admm, als"),
        ("ease", None, {"p": 0.5, "ridge": 1}, "p is 0 in this model"),
    ],
)
def test_parameters_that_would_give_another_model_or_none(name, rank, parameters, expected):
    x = sp.csr_array((np.random.default_rng(0).random((60, 20)) < 0.3).astype(np.float32))
    with pytest.raises(UserError, match=expected):
        fit(name, Training.of(x), rank=rank, **parameters)


@pytest.mark.parametrize(
    ("name", "rank", "whole"),
    [
        ("sampled_dropout", 4, {"p": 0.5, "ridge": 10, "epochs": 9}),
        ("edlae", 4, {"p": 0.5, "ridge": 10, "iterations": 9}),
        ("wmf", None, {"factors": 4, "ridge": 10, "alpha": 1, "sweeps": 2}),
        ("sparse_edlae", None, {"neighbours": 5, "p": 0.5, "ridge": 10, "user_cap": 7}),
        ("hybrid_edlae", None, {"factors": 4, "neighbours": 5, "p": 0.5, "ridge": 10}),
    ],
)
def test_a_whole_number_may_be_written_with_a_point(name, rank, whole):
    """A table of trials holds every parameter as a float."""
    pointed = {key: float(value) for key, value in whole.items()}
    found = [fit(name, Training.of(X), rank=rank, **given).model for given in (whole, pointed)]
    np.testing.assert_array_equal(*(model.scores(X) for model in found))


@pytest.mark.parametrize("kind", PARTS)
def test_a_model_is_zero_if_its_scores_of_new_items_are(kind, fits):
    """`is_zero` looks classes up in `FACTORS`, so each class that is stored in files is tried."""
    models = [one.model for one in fits.values()]
    models.append(FullRank(fits["ease"].model.matrix))
    model = next(model for model in models if type(model).__name__ == kind)
    new = X.toarray() == 0
    arrays = [part for part in PARTS[kind] if np.ndim(getattr(model, part)) and part not in SPARSE]
    for count in range(len(arrays) + 1):
        for parts in combinations(arrays, count):
            nothing = {part: np.zeros_like(getattr(model, part)) for part in parts}
            changed = replace(model, **nothing)
            assert is_zero(changed, len(ITEMS)) == (not changed.scores(X)[new].any()), parts


@pytest.mark.parametrize("name", WITHOUT_TORCH)
def test_a_model_is_not_written_with_items_that_are_not_its_own(name, fits, tmp_path):
    path, model = tmp_path / "model.h5", fits[name]
    for items in (ITEMS[:-1], [*ITEMS, "more"]):
        with pytest.raises(UserError, match=f"{len(items)} items are named, the model has"):
            write_model(path, name, model, items)
    for items in ([*ITEMS[:-1], ITEMS[0]], list(range(len(ITEMS)))):
        with pytest.raises(UserError, match="must be texts, each of which occurs once"):
            write_model(path, name, model, items)
    assert not path.exists()
    write_model(path, name, model, list(ITEMS))
    assert list(read_model(path).items) == list(ITEMS)
