"""The published metrics: golden values, a transcription, ties, masks and what is undefined."""

import json
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.linalg.lapack import dpotrf, dpotri

from lindrop.base.errors import UserError
from lindrop.data.formats import read_interactions
from lindrop.data.split import split
from lindrop.linalg.gram import gram_matrix
from lindrop.linalg.kernels import sparse_times_dense
from lindrop.ranking import evaluation
from lindrop.ranking.evaluation import evaluate, paired, summary, top_items
from support.golden import CASES

PUBLISHED = ["ndcg@100", "recall@20", "recall@50"]


class Linear:
    def __init__(self, b):
        self.b = b

    def scores(self, x):
        return sparse_times_dense(x, self.b)


class Constant:
    """The same scores for every user: popularity, for one."""

    def __init__(self, scores):
        self.row = scores

    def scores(self, x):
        return np.tile(self.row, (x.shape[0], 1))


class Fixed:
    """Scores of its own, whoever asks; one block only."""

    def __init__(self, scores):
        self.all = np.array(scores)

    def scores(self, x):
        return self.all.copy()


@pytest.fixture(scope="module", params=CASES[:5], ids=lambda case: case[0])
def golden(request, shared):
    """One golden set: its matrices, its expected metrics and those per user."""
    name, format, file, protocol = request.param
    parts = split(
        read_interactions(shared / file, format, min_rating=protocol.min_rating), protocol
    )
    folder = shared / "golden" / name
    metrics = json.loads((folder / "metrics.json").read_text())["models"]
    per_user = pd.read_csv(folder / "per_user_fullrank_float64.csv.gz")
    return parts, metrics, per_user


def full_rank(x, settings):
    """The notebook's learn_EDLAE_fullrank, in float64."""
    gram = gram_matrix(x, np.float64)
    p = settings["pdrop"]
    h = gram + np.diag(p / (1 - p) * gram.diagonal() + settings["L2const"])
    c = dpotri(dpotrf(h, lower=1)[0], lower=1)[0]  # half of the work of np.linalg.inv
    c = np.tril(c) + np.tril(c, -1).T
    b = -c / c.diagonal()
    np.fill_diagonal(b, 0)
    return b


def check(found, expected, tolerance):
    """A summary against the metrics.json of one part."""
    for metric in PUBLISHED:
        wanted, row = expected[metric], found.loc[metric]
        mean = wanted["nanmean"] if wanted["mean"] is None else wanted["mean"]
        assert row["mean"] == pytest.approx(mean, abs=tolerance)
        assert (row["n_users"], row["n_nan"]) == (wanted["n_users"], wanted.get("n_nan", 0))
        if wanted["stderr"] is not None:
            assert row["stderr"] == pytest.approx(wanted["stderr"], abs=tolerance)


def test_full_rank_models_have_the_published_metrics(golden):
    parts, metrics, per_user = golden
    for name in ("ease_lambda_only", "edlae_fullrank"):
        b = full_rank(parts.matrix("train"), metrics[name]["settings"])
        for dtype, tolerance in ((np.float32, 1e-5), (np.float64, 1e-6)):
            model, expected = Linear(b.astype(dtype)), metrics[name]["results"][dtype.__name__]
            for part in ("validation", "test"):
                fold_in = parts.matrix(f"{part}/fold_in").astype(dtype)
                found = evaluate(model, fold_in, parts.matrix(f"{part}/held_out")).per_user
                check(summary(found), expected[part], tolerance)
    # the last ones: edlae_fullrank, float64, test
    np.testing.assert_array_equal(per_user["row"], np.arange(len(found)))
    np.testing.assert_allclose(found[PUBLISHED], per_user[PUBLISHED], rtol=0, atol=1e-6)


def test_popularity_breaks_ties_by_the_lower_item(golden):
    parts, metrics, _ = golden
    model = Constant(parts.matrix("train").sum(axis=0).astype(np.float64))
    for part in ("validation", "test"):
        users = parts.matrix(f"{part}/fold_in"), parts.matrix(f"{part}/held_out")
        found = evaluate(model, *users).per_user
        check(summary(found), metrics["popularity"]["results"]["ties_low"][part], 1e-12)


def transcription(scores, fold_in, held_out):
    """The published metrics of one user from their definitions, by a full sort."""
    if not held_out.any():
        return [np.nan] * 3
    scores = np.where(fold_in > 0, -np.inf, scores)
    ranked = [item for item in np.argsort(-scores, kind="stable") if fold_in[item] == 0]
    gain = [held_out[item] / np.log2(rank + 2) for rank, item in enumerate(ranked[:100])]
    wanted = np.count_nonzero(held_out)
    ideal = sum(1 / np.log2(rank + 2) for rank in range(min(wanted, 100)))
    recalls = [np.count_nonzero(held_out[ranked[:k]]) / min(k, wanted) for k in (20, 50)]
    return [sum(gain) / ideal, *recalls]


def case(users, items, seed, density=0.1):
    """Scores with many ties, and disjoint fold-in and held-out counts; some users have none."""
    random = np.random.default_rng(seed)
    scores = random.integers(-20, 20, (users, items)).astype(np.float32)
    seen = random.random((users, items))
    fold_in, held_out = seen < density, seen > 1 - density
    held_out = held_out * random.integers(1, 3, (users, items))
    held_out[random.random(users) < 0.2] = 0
    return scores, fold_in.astype(np.float32), held_out.astype(np.float32)


@pytest.mark.parametrize("items", [1, 7, 30, 99, 100, 101, 1000])
@pytest.mark.parametrize("density", [0.02, 0.2, 0.5])
def test_any_scores_are_judged_as_the_transcription_says(items, density):
    scores, fold_in, held_out = case(80, items, items, density)
    found = evaluate(Fixed(scores), sp.csr_array(fold_in), sp.csr_array(held_out)).per_user
    expected = [transcription(*rows) for rows in zip(scores, fold_in, held_out, strict=True)]
    np.testing.assert_allclose(found[PUBLISHED], expected, rtol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 50, 400])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_best_items_are_those_of_a_stable_sort(k, dtype):
    scores, history, _ = case(60, 300, k)
    ids, values = top_items(Fixed(scores.astype(dtype)), sp.csr_array(history), k)
    scores[history > 0] = -np.inf
    for user in range(60):
        left = np.argsort(-scores[user], kind="stable")[: np.isfinite(scores[user]).sum()][:k]
        np.testing.assert_array_equal(ids[user, : len(left)], left)
        np.testing.assert_array_equal(values[user, : len(left)], scores[user, left])
        assert np.all(ids[user, len(left) :] == -1)
        assert np.all(values[user, len(left) :] == -np.inf)


def test_the_whole_history_leaves_nothing_to_recommend():
    ids, scores = top_items(Constant(np.ones(3)), sp.csr_array(np.ones((1, 3), np.float32)), 2)
    assert ids.tolist() == [[-1, -1]]
    assert scores.tolist() == [[-np.inf, -np.inf]]


@pytest.mark.parametrize("rows", [1, 3, 1000])
def test_blocks_and_threads_do_not_matter(rows, monkeypatch):
    random = np.random.default_rng(0)
    _, fold_in, held_out = map(sp.csr_array, case(50, 1_200, 1))
    model = Linear(random.standard_normal((1_200, 1_200)).astype(np.float32))
    expected = evaluate(model, fold_in, held_out).per_user
    monkeypatch.setattr(evaluation, "BLOCK_BYTES", rows * 8 * 1_200)
    for threads in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        found = evaluate(model, fold_in, held_out).per_user
        pd.testing.assert_frame_equal(found, expected, check_exact=True)


def test_sparse_times_dense_is_the_product():
    random = np.random.default_rng(0)
    _, x, _ = case(40, 700, 2)
    x[:9] *= np.arange(700) < np.arange(9)[:, None]  # 0 to 8 entries
    b = random.standard_normal((700, 2_100))
    np.testing.assert_allclose(sparse_times_dense(sp.csr_array(x), b), x @ b, atol=1e-12)
    single = sparse_times_dense(sp.csr_array(x), b.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, x @ b, atol=1e-4)


def test_memory_is_that_of_a_block(monkeypatch):
    users, items = 2_000, 2_000
    monkeypatch.setattr(evaluation, "BLOCK_BYTES", 100 * 8 * items)
    x = sp.random_array((users, items), density=0.01, format="csr", dtype=np.float32, rng=0)
    model = Constant(np.arange(items, dtype=np.float32))
    evaluate(model, x[:2], x[:2])  # compile
    tracemalloc.start()
    evaluate(model, x, x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.2 * 4 * users * items


def test_nan_scores_do_not_pass_for_a_ranking():
    scores = np.zeros((3, 150), np.float32)
    scores[1, 149] = np.nan
    empty = sp.csr_array(scores.shape, dtype=np.float32)
    with pytest.raises(UserError, match="Fixed: the scores of user 1 hold NaN") as caught:
        top_items(Fixed(scores), empty, 5)
    assert "\n" not in str(caught.value)


def test_users_with_nothing_held_out_are_counted_apart():
    values = np.array([[0.5, 0, 1], [np.nan] * 3, [0.1, 0, 0], [0.3, 0, 0.5]])
    per_user = pd.DataFrame(values, columns=PUBLISHED)
    found = summary(per_user)
    assert found.index.tolist() == PUBLISHED
    np.testing.assert_allclose(found["mean"], [0.3, 0, 0.5])
    np.testing.assert_allclose(found["stderr"], np.std(values[[0, 2, 3]], axis=0) / np.sqrt(3))
    assert found["n_users"].tolist() == [4] * 3
    assert found["n_nan"].tolist() == [1] * 3
    assert summary(per_user[1:2])["mean"].isna().all()
    assert summary(per_user[:2])["mean"].tolist() == [0.5, 0, 1]
    assert summary(per_user[:2])["stderr"].isna().all(), "one user tells nothing about the others"


def test_the_difference_of_two_models_is_taken_user_by_user():
    random = np.random.default_rng(0)
    easy = random.random((500, 1))  # some users are easy for both
    a, b = (
        pd.DataFrame(easy + 0.01 * random.standard_normal((500, 3)), columns=PUBLISHED)
        for _ in range(2)
    )
    found = paired(a + 0.01, b)
    np.testing.assert_allclose(found["mean"], (a + 0.01 - b).mean(axis=0))
    assert np.all(found["stderr"] < summary(a)["stderr"] / 10)
    assert np.all(paired(a, a)["stderr"] == 0)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"X is \(2, 3\), B is \(4, 4\)"):
        sparse_times_dense(sp.csr_array((2, 3)), np.ones((4, 4)))
    with pytest.raises(ValueError, match="must be C-ordered"):
        sparse_times_dense(sp.csr_array((2, 4)), np.ones((4, 4), order="F"))
    with pytest.raises(ValueError, match=r"scores are \(2, 4\) for users and items \(2, 3\)"):
        top_items(Constant(np.ones(4)), sp.csr_array((2, 3)), 1)
    with pytest.raises(ValueError, match=r"\(2, 3\), held-out \(2, 4\)"):
        evaluate(Constant(np.ones(3)), sp.csr_array((2, 3)), sp.csr_array((2, 4)))
    with pytest.raises(ValueError, match="k is 0"):
        top_items(Constant(np.ones(3)), sp.csr_array((2, 3)), 0)
    with pytest.raises(ValueError, match=r"same users and models are compared: \(5, 3\), \(1, 3\)"):
        paired(np.ones((5, 3)), np.ones((1, 3)))


def test_a_list_longer_than_there_are_items():
    ids, scores = top_items(Constant(np.array([1.0, 3, 2])), sp.csr_array((2, 3)), 10**6)
    assert ids.shape == scores.shape == (2, 10**6)
    assert ids[:, :4].tolist() == [[1, 2, 0, -1]] * 2
    assert np.all(scores[:, 3:] == -np.inf)


def test_scores_that_cannot_hold_minus_infinity_mask_as_well():
    """Minus infinity as a truth value is True, which would make masked items the best."""
    scores = np.array([[True, False, True, False], [True, True, False, False]])
    seen = sp.csr_array(np.array([[1, 0, 0, 0], [0, 0, 0, 1]], np.float32))
    for dtype in (bool, np.int8, np.int64, np.float16):
        ids, _ = top_items(Fixed(scores.astype(dtype)), seen, 4)
        assert ids.tolist() == [[2, 1, 3, -1], [0, 1, 2, -1]]
    for dtype in (complex, object):
        with pytest.raises(UserError, match="Fixed: its scores are"):
            top_items(Fixed(scores.astype(dtype)), seen, 4)


@pytest.mark.parametrize("shares", [[0.5] * 3, [0.5] * 5, [0.0] * 4, [np.nan] * 4, [2.0] * 4])
def test_shares_that_are_not_of_these_items_are_refused(shares):
    x = sp.csr_array(np.eye(4, dtype=np.float32))
    with pytest.raises(UserError, match="shares must be one number per item"):
        evaluate(Fixed(np.ones((4, 4))), x, x, ["novelty@2"], np.array(shares))


def test_held_out_entries_that_are_no_ones_are_warned_of(caplog):
    """With a matrix of ratings, for example, nDCG may be above 1."""
    fold_in, held_out = sp.csr_array((3, 4)), sp.csr_array(np.eye(3, 4, dtype=np.float32))
    evaluate(Constant([4, 3, 2, 1]), fold_in, held_out)
    assert caplog.text == ""
    found = evaluate(Constant([4, 3, 2, 1]), fold_in, 5 * held_out).per_user
    assert found["ndcg@100"].max() > 1
    assert "3 of 3 held-out entries are not 1" in caplog.text
