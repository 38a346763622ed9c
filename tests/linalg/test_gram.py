"""X'X is exact, adds up from shards and stays within its memory."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from lindrop.base.errors import UserError
from lindrop.linalg import gram
from lindrop.linalg.gram import (
    GROUPS,
    _places,
    gram_matrix,
    gram_triangle,
    needed_bytes,
    user_shards,
)
from support.gram import interactions


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("most", [1, 2, 7])
@pytest.mark.parametrize("shape", [(300, 150), (3, 200), (200, 1), (1, 1), (0, 5), (5, 0)])
def test_the_matrix_equals_the_dense_product(shape, most, dtype):
    x = interactions(*shape, most=most)
    dense = x.toarray().astype(np.float64)
    gram = gram_matrix(x, dtype)
    assert gram.dtype == dtype
    assert gram.flags.c_contiguous
    np.testing.assert_array_equal(gram, dense.T @ dense)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_threads_and_the_order_of_entries_do_not_matter(threads, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    x = interactions(items=333, most=2)
    random = np.random.default_rng(1)
    shuffled = sp.csr_array((x.data.copy(), x.indices.copy(), x.indptr.copy()), shape=x.shape)
    for user in range(x.shape[0]):
        row = slice(*x.indptr[user : user + 2])
        order = random.permutation(row.stop - row.start)
        for array in (shuffled.data, shuffled.indices):
            array[row] = array[row][order]
    before = shuffled.indices.copy()
    np.testing.assert_array_equal(gram_matrix(shuffled), (x.T @ x).toarray())
    np.testing.assert_array_equal(shuffled.indices, before)


def test_duplicate_entries_add_up():
    x = sp.csr_array((np.ones(3, np.float32), [1, 0, 1], [0, 3]), shape=(1, 2))
    np.testing.assert_array_equal(gram_matrix(x), [[1, 2], [2, 4]])


@pytest.mark.parametrize("shards", [1, 2, 7, 400])
def test_shards_add_up_to_the_same_bits(shards):
    x = interactions(most=2)
    parts = user_shards(x.shape[0], shards)
    assert [user for part in parts for user in part] == list(range(x.shape[0]))
    assert {len(part) for part in parts} <= {x.shape[0] // shards, x.shape[0] // shards + 1}
    total = np.zeros((x.shape[1], x.shape[1]), np.float32)
    for part in parts:
        total += gram_matrix(x[part.start : part.stop])
    np.testing.assert_array_equal(total, gram_matrix(x))


def test_places_are_those_of_all_entries_group_by_group():
    x = interactions(500, 700, 0.05)
    listed = [
        (item, entry, earlier)
        for items, (first, where, numbers) in _places(x)
        for item in items
        for entry, earlier in zip(
            where[first[item] : first[item + 1]],
            numbers[first[item] : first[item + 1]],
            strict=True,
        )
    ]
    rows = np.repeat(np.arange(500), np.diff(x.indptr))
    expected = sorted(zip(x.indices, range(x.nnz), np.arange(x.nnz) - x.indptr[rows], strict=True))
    assert listed == expected
    assert len(list(_places(x))) == GROUPS


def test_numbers_within_a_row_of_more_than_65536_items_are_exact():
    x = sp.csr_array(np.ones((1, 70_000), np.float32))
    numbers = [earlier for _, (_, _, earlier) in _places(x)]
    assert {each.dtype for each in numbers} == {np.dtype(np.uint32)}
    np.testing.assert_array_equal(np.concatenate(numbers), np.arange(70_000))


@pytest.mark.parametrize("most", [1, 5])
def test_numbers_within_rows_may_have_four_bytes(most, monkeypatch):
    x = interactions(300, 150, 0.3, most=most)
    expected, listed = gram_matrix(x), list(_places(x))
    assert {earlier.dtype for _, (_, _, earlier) in listed} == {np.dtype(np.uint16)}
    wide = [(group, (*two, earlier.astype(np.uint32))) for group, (*two, earlier) in listed]
    monkeypatch.setattr(gram, "_places", lambda _: wide)
    np.testing.assert_array_equal(gram_matrix(x), expected)


def test_the_result_is_all_that_is_allocated():
    x = interactions(1_000, 2_000, 0.02)
    gram_triangle(x[:10])  # compile
    tracemalloc.start()
    gram = gram_triangle(x).values
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert gram.nbytes <= peak <= 1.25 * gram.nbytes
    assert peak <= 1.02 * needed_bytes(2_000, x.nnz)


@pytest.mark.parametrize("most", [4096, np.nan])
def test_counts_that_are_not_exact_are_refused(most):
    x = sp.csr_array(np.array([[0, 1, most]], np.float32))
    with pytest.raises(UserError, match=r"item 2 .* float32 is exact below 16,777,216"):
        gram_matrix(x)
    assert gram_matrix(x.astype(np.float64), np.float64).shape == (3, 3)


def test_a_matrix_that_cannot_fit_is_refused_before_work_starts():
    x = sp.csr_array((2, 10**7), dtype=np.float32)
    with pytest.raises(UserError, match=r"X'X of 10,000,000 items needs 400,000\.0 GB, .* are av"):
        gram_matrix(x)
