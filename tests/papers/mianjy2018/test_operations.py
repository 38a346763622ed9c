"""Multiplications are counted where they are done, and the counted decomposition is right."""

import numpy as np
import pytest

from lindrop.dropout.equalise import equalizer
from lindrop.papers.mianjy2018.operations import Tally, eigh


def symmetric(n):
    a = np.random.default_rng(n).normal(size=(n, n))
    return a + a.T


@pytest.mark.parametrize(
    "matrix", [*map(symmetric, (1, 2, 3, 10, 40)), np.zeros((4, 4)), np.ones((5, 5)), np.eye(3)]
)
def test_the_counted_decomposition_is_that_of_lapack(matrix):
    values, vectors = eigh(Tally().array(matrix))
    vectors = np.asarray(vectors)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix), atol=1e-12)
    np.testing.assert_allclose(vectors * values @ vectors.T, matrix, atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(matrix)), atol=1e-12)


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (lambda a: a @ a.T, 3 * 5 * 3),
        (lambda a: np.ones((2, 3)) @ a, 2 * 3 * 5),
        (lambda a: 2 * a / a, 30),
        (lambda a: np.outer(a[0], a[:, 0]), 15),
        (lambda a: np.linalg.norm(a[0]), 5),
        (lambda a: a.copy()[1:].T @ np.ones(2), 10),
        (lambda a: (a + a - a).sum(axis=0), 0),
        (lambda a: np.multiply(a, a, out=a), 15),
        (lambda a: a.__imul__(2), 15),
    ],
)
def test_multiplications_are_counted(work, expected):
    tally = Tally()
    work(tally.array(np.arange(1.0, 16).reshape(3, 5)))
    assert tally.count == expected


def test_products_of_an_operator_are_counted():
    tally = Tally()
    operator = tally.operator(np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(operator @ np.ones(3), [3, 12])
    np.testing.assert_array_equal(operator.T @ np.ones(2), [3, 5, 7])
    assert tally.count == 12


def test_a_function_whose_multiplications_are_hidden_is_refused():
    with pytest.raises(TypeError, match="svd cannot be counted"):
        np.linalg.svd(Tally().array(np.eye(3)))


def test_algorithm_2_on_counted_arrays_equalises():
    u = np.random.default_rng(1).normal(size=(30, 6))
    tally = Tally()
    norms = (np.asarray(u @ np.asarray(equalizer(tally.array(u)))) ** 2).sum(axis=0)
    np.testing.assert_allclose(norms, norms.mean(), rtol=1e-12)
    assert tally.count > 30 * 6 * 6
