"""EDLAE on a pattern: optimal columns, the same bits for any threads and ranges, and refusals."""

import gzip
import itertools
import logging
import tracemalloc
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from lindrop.base.errors import Unsolvable, UserError
from lindrop.models import entry
from lindrop.models.base import Training
from lindrop.models.catalogue import CATALOGUE, fit
from lindrop.models.memory import Size
from lindrop.models.pattern import columns, order, rows
from lindrop.models.pattern import solver as fits
from lindrop.models.pattern.fit import fit_columns, fit_sparse_edlae
from lindrop.models.pattern.order import order_together
from lindrop.models.pattern.rows import cut, cuts_of, in_rows, joined
from lindrop.models.pattern.solver import Solver
from lindrop.ranking.evaluation import evaluate, summary
from support.patterns import X, dense, solved


@pytest.mark.parametrize("kind", X)
@pytest.mark.parametrize("k", [69, 89, 1000])
@pytest.mark.parametrize(
    ("name", "full", "options"),
    [
        ("sparse_edlae", "full_edlae", {"p": 0.4, "ridge": 5.0}),
        ("sparse_edlae", "full_edlae", {"p": 0.8, "ridge": 0.0}),
        ("sparse_ease", "ease", {"ridge": 30.0}),
    ],
)
def test_all_neighbours_give_the_dense_model(kind, k, name, full, options):
    x = X[kind][:, np.flatnonzero(np.diff(X[kind].tocsc().indptr))]
    data = Training.of(x, dtype=np.float64)
    k = max(k, data.items - 1)
    expected = fit(full, data, **options).model.matrix
    found = dense(fit(name, data, neighbours=k, **options).model)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    rounded = fit(name, Training.of(x), neighbours=k, **options).model
    assert rounded.data.dtype == np.float32
    np.testing.assert_allclose(dense(rounded), expected, atol=1e-5)


@pytest.mark.parametrize("kind", X)
@pytest.mark.parametrize("spread", [0.0, 0.5])
@pytest.mark.parametrize("k", [1, 7, 8, 9, 40])
def test_every_column_is_optimal_on_its_neighbours(kind, k, spread):
    require_optimal(X[kind], k, spread=spread)


def test_columns_of_few_users_with_many_items_are_optimal():
    """Rows of bits are not shared here, after each user was seen with more items than BITS."""
    require_optimal(sp.csr_array(np.random.default_rng(0).random((6, 400)) < 0.6, dtype="f"), 80)


def require_optimal(interactions, k, **options):
    """The gradient of the objective, computed from X, is 0 in every weight of the pattern."""
    x = interactions.toarray().astype(np.float64)
    solver, found = solved(interactions, k, dtype=np.float32, **options)
    model = in_rows(found, np.arange(x.shape[1]), x.shape[1])
    b, penalty = dense(model), solver.penalty[:, None]
    gradient = x.T @ (x @ b - x) + penalty * b
    curvature = np.sum(x**2, 0)[:, None] + penalty
    pattern_of_b = sp.csr_array(
        (np.ones(len(model.data)), model.indices, model.indptr), shape=b.shape
    ).toarray()
    assert np.all(pattern_of_b.sum(0) == found.lengths)
    assert np.all(b.diagonal() == 0)
    assert np.all(b[pattern_of_b == 0] == 0)
    assert abs((gradient / curvature)[pattern_of_b == 1]).max() < 1e-5


@pytest.mark.parametrize("kind", X)
@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_threads_blocks_and_ranges_change_no_bit(kind, spread, monkeypatch):
    """Columns of large blocks share rows of bits, those of small ones do not."""
    k, models = 20, []
    options = {"neighbours": k, "p": 0.4, "ridge": 5.0, "spread": spread}
    for threads, block in (("1", 64), ("2", 64), ("2", 7), ("1", 1)):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        monkeypatch.setattr(fits, "COLUMNS", block)
        models.append(fit_sparse_edlae(Training.of(X[kind]), **options).model)
    for weights in (1, 100, 399):  # columns are solved 1, 5 and 19 at a time
        monkeypatch.setattr(fits, "WEIGHTS", weights)
        models.append(fit_sparse_edlae(Training.of(X[kind]), **options).model)
    data = Training.of(X[kind])
    ranges = [range(*ends) for ends in itertools.pairwise([0, 0, 1, 30, 31, data.items])]
    blocks = [fit_columns(data, columns, **options) for columns in ranges]
    models.append(joined([cut(block, cuts_of(blocks[2])) for block in blocks]))
    for model in models[1:]:
        assert_same(model, models[0])


@pytest.mark.parametrize("kind", X)
def test_places_of_users_and_items_change_no_model(kind, monkeypatch):
    """Models of whole numbers are the same to the last bit."""
    expected = fit_sparse_edlae(Training.of(X[kind]), 20, 0.4, 5.0, user_cap=6).model
    monkeypatch.setattr(order, "SMALL", 0)
    data = Training.of(X[kind])
    found = fit_sparse_edlae(data, 20, 0.4, 5.0, user_cap=6).model
    assert not np.array_equal(Solver(data, 20, 0.4, 5.0).place_of, np.arange(data.items))
    if kind == "weighted":
        np.testing.assert_allclose(dense(found), dense(expected), atol=1e-6)
    else:
        assert_same(found, expected)
    for weights in (20, 399):  # parts whose columns do not follow each other
        monkeypatch.setattr(fits, "WEIGHTS", weights)
        assert_same(fit_sparse_edlae(data, 20, 0.4, 5.0, user_cap=6).model, found)
    ranges = range(0, 31), range(31, data.items)
    options = {"neighbours": 20, "p": 0.4, "ridge": 5.0, "user_cap": 6}
    blocks = [fit_columns(data, columns, **options) for columns in ranges]
    assert_same(joined([cut(block, cuts_of(blocks[0])) for block in blocks]), found)


def test_items_and_users_of_one_topic_are_neighbours_in_memory():
    """Users mostly have items of their own topic; numbers go through the three topics in turn."""
    rng = np.random.default_rng(0)
    topic_of_user, topic_of_item = np.arange(300) % 3, np.arange(60) % 3
    share = np.where(topic_of_user[:, None] == topic_of_item, 0.4, 0.03)
    x = sp.csr_array((rng.random(share.shape) < share).astype(np.float32))
    users, items = order_together(x)
    assert np.count_nonzero(np.diff(topic_of_item[items])) == 2
    assert np.count_nonzero(np.diff(topic_of_user[users])) == 2
    assert sorted(users) == list(range(300))
    assert sorted(items) == list(range(60))


def assert_same(model, expected):
    """Two models are the same to the last bit, types included."""
    for part in ("indptr", "indices", "data"):
        found, wanted = getattr(model, part), getattr(expected, part)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


def test_entries_that_are_one_number_in_memory_give_the_same_bits():
    """X of a split is read so (`read_split_matrix`), without memory for its entries."""
    x = X["dense"]
    one = np.broadcast_to(np.float32(1), x.nnz)
    light = sp.csr_array((one, x.indices, x.indptr), shape=x.shape)
    data = Training.of(light)
    assert data.x.data.strides == (0,)
    found, expected = (fit_sparse_edlae(each, 9, 0.4, 5.0).model for each in (data, Training.of(x)))
    assert_same(found, expected)
    np.testing.assert_array_equal(data.shares, Training.of(x).shares)


def test_a_fit_holds_each_weight_once(monkeypatch):
    """Columns are in memory in small parts only, and bands of rows until they are in the model."""
    rng = np.random.default_rng(0)
    data = Training.of(sp.csr_array((rng.random((500, 2_000)) < 0.02).astype(np.float32)))
    monkeypatch.setattr(fits, "WEIGHTS", 20_000)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    peaks = []
    for k in (150, 300):
        solver = Solver(data, k, 0.5, 5.0)
        solver.parts(range(10))  # compiled loops take no memory later
        tracemalloc.start()
        parts = solver.parts(range(2_000))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    weights = 8 * 2_000 * 150  # bytes that k = 300 has more than k = 150
    system = 8 * (300**2 - 150**2)  # of the columns that a thread solves
    assert weights < peaks[1] - peaks[0] < 1.25 * weights + system
    left, append = [], rows._append

    def counted(*arguments):
        bands = [array for part in parts for band in part.bands for array in band]
        left.append(sum(array.nbytes for array in bands))
        append(*arguments)

    monkeypatch.setattr(rows, "_append", counted)
    joined(parts)
    assert left[0] == 2 * weights
    assert left[-1] < 2 * weights / rows.BANDS
    assert all(before > after for before, after in itertools.pairwise(left))


def test_the_numbers_of_the_users_may_wrap_around(monkeypatch):
    """The slots of the users begin anew when their base comes near the largest integer."""
    _, expected = solved(X["dense"], 20)
    monkeypatch.setattr(fits.Slots, "of", near_the_end)
    _, found = solved(X["dense"], 20)
    for part, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(part, other)


def near_the_end(users, items):
    memory = columns.Slots(
        np.zeros(users + 1, np.int32), np.empty(users + 1, np.uint32), np.zeros(items, np.int32)
    )
    memory.slots[-1] = 2**31 - 1 - 3000
    return memory


def test_items_without_company_have_empty_columns_and_are_counted_once(caplog):
    """Item 3 has no user, items 5 and 8 only users of their own."""
    x = X["dense"].toarray()
    x[:, [3, 5, 8]] = 0
    alone = np.zeros((3, x.shape[1]), np.float32)
    alone[[0, 1, 2], [5, 8, 8]] = 1
    with caplog.at_level(logging.INFO, "lindrop"):
        model = fit_sparse_edlae(Training.of(sp.csr_array(np.vstack([x, alone]))), 10, 0.4, 5).model
    said = [line for line in caplog.messages if "their columns are empty" in line]
    assert said == ["3 items share no user with another item: their columns are empty"]
    counts = np.diff(model.matrix.tocsc().indptr)
    assert np.flatnonzero(counts == 0).tolist() == [3, 5, 8]
    assert set(counts) == {0, 10}


def test_more_neighbours_than_items_are_all_and_said(caplog):
    with caplog.at_level(logging.INFO, "lindrop"):
        model = fit_sparse_edlae(Training.of(X["dense"]), 500, 0.4, 5.0).model
    assert "500 neighbours of 70 items: takes all others" in caplog.text
    assert len(model.data) == 70 * 69


def test_a_single_item_has_nothing_to_learn_from():
    model = fit_sparse_edlae(Training.of(X["dense"][:, :1]), 5, 0.4, 5.0).model
    assert len(model.data) == 0


@pytest.mark.parametrize("kind", ["two items alike", "more items than users"])
def test_nothing_to_regularise_a_singular_system_is_refused(kind):
    x = X["dense"]
    x = sp.hstack([x, x[:, [3]]], format="csr") if kind == "two items alike" else x[:25]
    with pytest.raises(Unsolvable, match=r"not positive definite .* use a larger λ or dropout p"):
        fit("sparse_ease", Training.of(x), neighbours=100, ridge=0.0)


@pytest.mark.parametrize("options", [{"neighbours": 0}, {"neighbours": 5, "user_cap": 0}])
def test_numbers_below_one_are_refused(options):
    with pytest.raises(UserError, match="at least 1"):
        fit("sparse_edlae", Training.of(X["dense"]), p=0.4, ridge=5.0, **options)


@pytest.mark.parametrize("spread", [-0.1, 1.0, np.nan])
def test_a_spread_that_is_no_power_below_one_is_refused(spread):
    for fitted in (fit_sparse_edlae, partial(fit, "sparse_edlae")):
        with pytest.raises(UserError, match="spread"):
            fitted(data=Training.of(X["dense"]), neighbours=5, p=0.4, ridge=5.0, spread=spread)


def test_a_fit_never_reads_the_gram_matrix():
    def read(dtype):
        raise AssertionError("X'X was read")

    data = Training(X["dense"], read)
    for name, options in (("sparse_edlae", {"p": 0.4}), ("sparse_ease", {})):
        assert not CATALOGUE[name].gram
        assert len(fit(name, data, neighbours=5, ridge=5.0, **options).model.data) == 350


def test_too_many_neighbours_for_the_memory_name_the_largest_number_that_fits(monkeypatch):
    size = Size(1_000_000, 1_000_000, 40_000_000)
    needed = CATALOGUE["sparse_edlae"].needed_bytes
    monkeypatch.setattr(entry, "available_bytes", lambda: 4e9)
    monkeypatch.setattr("lindrop.base.memory.available_bytes", lambda: 4e9)
    with pytest.raises(UserError, match="the largest number of neighbours that fits") as e:
        CATALOGUE["sparse_edlae"].require_memory(size, [], neighbours=5000)
    largest = int(str(e.value).rpartition(" ")[2])
    assert needed(size, [], neighbours=largest) <= 4e9 < needed(size, [], neighbours=largest + 1)
    CATALOGUE["sparse_edlae"].require_memory(size, [], neighbours=[10, largest])


def test_gowalla_is_above_the_published_ease(shared):
    """Recall@20 of SPARSE.md: .1774 with 100 neighbours; the published dense EASE has .1765."""
    folder = shared / "gowalla"
    train, test = (lists(folder / f"{part}.txt.gz") for part in ("train", "test"))
    model = fit_sparse_edlae(Training.of(train), 100, 0.8, 60.0).model
    found = summary(evaluate(model, train, test, ["plain_recall@20"]).per_user)
    assert found.loc["plain_recall@20", "mean"] >= 0.1774


def lists(path):
    """X of a file whose lines are a user and the items of that user, both numbered from 0."""
    with gzip.open(path, "rt") as file:
        users = {int(user): list(map(int, own)) for user, *own in map(str.split, file)}
    rows = np.repeat(list(users), list(map(len, users.values())))
    pairs = rows, np.concatenate(list(users.values())).astype(int)
    return sp.csr_array((np.ones(len(rows), np.float32), pairs), shape=(29_858, 40_981))
