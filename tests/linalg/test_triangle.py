"""A symmetric matrix of which one triangle is kept is the same matrix as NumPy's."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from lindrop.linalg.gram import gram_matrix, gram_triangle
from lindrop.linalg.kernels import sparse_times_dense
from lindrop.linalg.packed import InverseTriangle, PackedGram, gram_of_rows_times, times
from lindrop.linalg.triangle import (
    PANEL,
    Triangle,
    entries,
    sparse_times_triangle,
)
from support.gram import interactions
from support.matrices import DTYPES, distance, tolerance

SIZES = [1, 2, PANEL - 1, PANEL, PANEL + 1, 2 * PANEL + 333]


def symmetric(items, dtype=np.float32):
    random = np.random.default_rng(items).integers(-9, 10, (items, items)).astype(dtype)
    return np.tril(random) + np.tril(random, -1).T


@pytest.mark.parametrize("items", SIZES)
def test_a_triangle_gives_back_its_matrix(items):
    matrix = symmetric(items)
    triangle = Triangle.of(matrix)
    np.testing.assert_array_equal(triangle.diagonal(), matrix.diagonal())
    np.testing.assert_array_equal(triangle.square(), matrix)
    rows, columns = np.random.default_rng(1).integers(items, size=(2, 50))
    np.testing.assert_array_equal(triangle.at(rows, columns), matrix[rows, columns])
    roomy = Triangle.empty(items, np.float32, room=True)
    roomy.values[:] = triangle.values
    tracemalloc.start()
    square = roomy.square()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(square, matrix)
    assert peak < max(0.2 * matrix.nbytes, 1e5)


def test_a_large_triangle_takes_half_the_memory():
    assert entries(100) == 100**2
    assert entries(100_000) < 0.506 * 100_000**2


def test_places_in_a_large_triangle_exceed_32_bits():
    items = 100_000
    triangle = Triangle(np.broadcast_to(np.float32(0), entries(items)), items)
    last = 104 * PANEL  # first row of the last panel, in which rows are longest
    triangle.values = Itself()
    rows, columns = np.array([last + 1, 7], np.int32), np.array([5, last], np.int32)
    first = PANEL**2 * 104 * 105 // 2
    assert triangle.at(rows, columns).tolist() == [first + items + 5, first + 7]


class Itself:
    """An array whose values are their own places."""

    def __getitem__(self, places):
        return places


def test_values_of_another_length_are_refused():
    with pytest.raises(ValueError, match="a triangle of 3 items"):
        Triangle(np.zeros(6), 3)


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("items", SIZES)
@pytest.mark.parametrize("ones", [True, False])
def test_products_are_those_of_the_matrix(items, ones, threads, monkeypatch):
    """Products of whole numbers are exact to the last bit."""
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    matrix, y = symmetric(items), np.random.default_rng(2).integers(-9, 10, (items, 3))
    triangle = Triangle.of(matrix)
    np.testing.assert_array_equal(times(triangle.panels, y), matrix @ y)
    triangle.mirror_blocks()
    for users in (0, 1, 40):
        x = interactions(users, items, 0.1, most=1 if ones else 5)
        expected = x.toarray() @ matrix
        np.testing.assert_array_equal(sparse_times_triangle(x, triangle), expected)
    backwards = x[:, ::-1]  # the entries of its rows are not sorted
    np.testing.assert_array_equal(
        sparse_times_triangle(sp.csr_array(backwards), triangle), backwards.toarray() @ matrix
    )


def test_a_product_with_another_number_of_items_is_refused():
    with pytest.raises(ValueError, match="A has 4 rows"):
        sparse_times_triangle(sp.csr_array((2, 5), dtype=np.float32), Triangle.of(np.eye(4)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("items", [70, PANEL + 200])
def test_the_inverse_alone_is_that_of_the_packed_matrix(items, dtype):
    x = interactions(3 * items, items, 0.02)
    gram, penalty = gram_matrix(x, np.float64), np.random.default_rng(1).uniform(1, 9, items)
    expected = np.linalg.inv(gram + np.diag(penalty))
    alone, packed = InverseTriangle(gram_triangle(x, dtype), x), PackedGram(gram_matrix(x, dtype))
    for inverse in (alone, packed):
        inverse.invert(penalty)
        assert inverse.dtype == dtype
        assert distance(inverse.inverse_diagonal, expected.diagonal()) < tolerance(dtype)
    assert alone.error == pytest.approx(packed.error, rel=3)
    assert 0 < alone.error < 100 * tolerance(dtype)
    triangle = alone.take_inverse()
    assert triangle.dtype == dtype
    assert distance(triangle.square(), expected) < tolerance(dtype)
    users = x[:5].astype(dtype)
    scores = sparse_times_triangle(users, triangle)
    assert distance(scores, sparse_times_dense(users, expected)) < tolerance(dtype)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_products_with_the_gram_matrix_need_no_gram_matrix(threads, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    x = interactions(203, 80, most=4)
    y = np.random.default_rng(1).integers(-9, 10, (80, 3)).astype(np.float32)
    np.testing.assert_array_equal(gram_of_rows_times(x, y), gram_matrix(x) @ y)
