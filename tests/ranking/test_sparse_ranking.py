"""Rankings of sparse models, found without all scores, equal those of the dense scores."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from lindrop.base.errors import Unsolvable
from lindrop.models.base import SparseItems
from lindrop.ranking import evaluation
from lindrop.ranking.evaluation import evaluate, ranked, top_items


class Dense:
    """The scores of a sparse model alone, so that evaluation ranks all of them."""

    def __init__(self, model):
        self.scores = model.scores


def model_of(matrix):
    b = sp.csr_array(matrix)
    return SparseItems(b.indptr, b.indices, b.data)


def entries(rows, columns, per_row, random, values=None):
    """A sparse matrix with about `per_row` entries in a row, some of them equal."""
    x = sp.random_array(
        (rows, columns), density=per_row / columns, rng=random, dtype=np.float32, format="csr"
    )
    x.data = (random.integers(*values, len(x.data)) if values else np.ones(x.nnz)).astype(x.dtype)
    x.eliminate_zeros()
    return x


CASES = {
    "long tail": (500, 20, (-3, 8)),
    "mostly negative": (300, 40, (-9, 2)),
    "few scored": (400, 1, (1, 3)),
    "nearly dense": (60, 50, (-4, 5)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rankings_equal_those_of_dense_scores(case, dtype):
    items, per_row, values = CASES[case]
    random = np.random.default_rng(5)
    model = model_of(entries(items, items, per_row, random, values).astype(dtype) / dtype(7))
    history = entries(300, items, min(12, items / 4), random)
    held_out = entries(300, items, 6, random) - entries(300, items, 1, random)
    held_out.data[:] = 1
    held_out = held_out - held_out.multiply(history)
    held_out.eliminate_zeros()
    for k in (1, 7, 100, items, items + 5):
        for found, expected in zip(
            top_items(model, history, k), top_items(Dense(model), history, k), strict=True
        ):
            assert np.array_equal(found, expected)
    allowed = random.random(items) < 0.3
    for k, keep_seen in ((7, False), (items, False), (7, True), (items, True)):
        for some in (None, allowed, np.zeros(items, bool), np.ones(items, bool)):
            found, expected = (
                list(ranked(each, history, k, some, keep_seen)) for each in (model, Dense(model))
            )
            for index in (1, 2):  # item numbers, scores
                parts = [np.concatenate([block[index] for block in x]) for x in (found, expected)]
                assert np.array_equal(*parts)
    shares = random.random(items)
    metrics = ["ndcg@100", "recall@5", "map@20", "novelty@10", "coverage@30", "gini@3"]
    found, expected = (
        evaluate(each, history, held_out, metrics, shares, by_groups=True)
        for each in (model, Dense(model))
    )
    assert found.per_user.equals(expected.per_user)
    assert found.overall == expected.overall
    assert found.groups.equals(expected.groups)


def test_results_do_not_depend_on_threads_or_blocks(monkeypatch):
    random = np.random.default_rng(6)
    model = model_of(entries(900, 900, 30, random, (1, 9)))
    history = entries(700, 900, 10, random)
    found = []
    for threads, block in (("1", 1 << 27), ("3", 1 << 27), ("2", 3000)):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        monkeypatch.setattr(evaluation, "BLOCK_BYTES", block)
        found.append(top_items(model, history, 20))
    for ids, scores in found[1:]:
        assert np.array_equal(ids, found[0][0])
        assert np.array_equal(scores, found[0][1])


def test_a_nan_is_refused_unless_the_user_has_the_item():
    matrix = np.zeros((4, 4), np.float32)
    matrix[0, 1], matrix[0, 2] = np.nan, 1
    model = model_of(matrix)
    with pytest.raises(Unsolvable, match="the scores of user 1 hold NaN"):
        top_items(model, sp.csr_array([[0, 0, 0, 1.0], [1.0, 0, 0, 0]]), 2)
    with pytest.raises(Unsolvable, match="the scores of user 0 hold NaN"):
        evaluate(model, sp.csr_array([[1.0, 0, 0, 0]]), sp.csr_array([[0, 0, 1.0, 0]]))
    assert top_items(model, sp.csr_array([[1.0, 1.0, 0, 0]]), 2)[0].tolist() == [[2, 3]]


def test_memory_does_not_grow_with_users_times_items():
    random = np.random.default_rng(7)
    items, users = 200_000, 2_000
    model = model_of(entries(items, items, 5, random))
    history = entries(users, items, 10, random)
    held_out = entries(users, items, 3, random)
    evaluate(model, history[:5], held_out[:5])
    tracemalloc.start()
    evaluate(model, history, held_out)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6  # 3,200 MB of scores
