"""A Gram matrix and its inverse in one buffer; what has no inverse is refused."""

import numpy as np
import pytest

from lindrop.base.errors import UserError
from lindrop.linalg.blas import NotPositiveDefinite
from lindrop.linalg.packed import PackedGram
from support.matrices import DTYPES, counts, distance, tolerance

SINGULAR = {  # all in whole numbers: no rounding before the inversion
    "an item without users": lambda x: x * (np.arange(x.shape[1]) != 30),
    "two items alike": lambda x: np.column_stack([x[:, 1:], x[:, 3]]),
    "fewer users than items": lambda x: x[:25],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", SINGULAR)
@pytest.mark.parametrize("seed", range(5))
def test_a_singular_matrix_is_refused_in_one_line(kind, seed, dtype):
    """A singular matrix is refused even if all its pivots are positive because of rounding."""
    x = SINGULAR[kind](np.random.default_rng(seed).poisson(0.5, (200, 60)).astype(float))
    with pytest.raises(NotPositiveDefinite, match=r"not positive definite .* larger λ") as caught:
        PackedGram((x.T @ x).astype(dtype)).invert(np.zeros(60))
    assert isinstance(caught.value, UserError)
    assert "\n" not in str(caught.value)
    packed = PackedGram((x.T @ x).astype(dtype))
    packed.invert(np.full(60, 0.5))  # but a little λ is enough
    expected = np.linalg.inv(x.T @ x + 0.5 * np.eye(60))
    assert distance(packed.take_inverse(), expected) < tolerance(dtype)


@pytest.mark.parametrize("bad", [-1.0, np.nan])
@pytest.mark.parametrize("place", [(555, 555), (555, 9)])
def test_an_indefinite_or_undefined_matrix_is_refused(place, bad):
    matrix = np.eye(600)
    matrix[place] = matrix[place[::-1]] = bad
    with pytest.raises(NotPositiveDefinite):
        PackedGram(matrix).invert(np.zeros(600))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_gram_and_inverse_share_one_buffer(dtype, order):
    n, random = 70, np.random.default_rng(1)
    gram, y = counts(n), random.standard_normal((n, 5))
    buffer = np.array(gram, dtype, order=order)
    packed = PackedGram(buffer)
    assert (len(packed), packed.dtype) == (n, dtype)

    def check_gram():
        product = packed.gram_times(y.astype(dtype))
        assert product.dtype == dtype
        assert distance(product, gram @ y) < tolerance(dtype)

    check_gram()
    for penalty in (random.uniform(1, 50, n), random.uniform(0.1, 1, n)):
        packed.invert(penalty)
        c = np.linalg.inv(gram + np.diag(penalty))
        check_gram()
        np.testing.assert_array_equal(packed.gram_diagonal, np.diag(gram))
        assert distance(packed.inverse_diagonal, np.diag(c)) < tolerance(dtype)
        assert distance(packed.inverse_times(y), c @ y) < tolerance(dtype)
        # any layout of Y will do
        assert distance(packed.inverse_times(np.asfortranarray(y)[:, ::2]), c @ y[:, ::2]) < 1e-3
        k = random.standard_normal((n, n)).astype(dtype)
        expected = k * (np.triu(gram, 1) + np.tril(c))
        packed.hadamard(k)
        assert distance(k, expected) < tolerance(dtype)
    whole = packed.take_inverse()
    assert distance(whole, c) < tolerance(dtype)
    np.testing.assert_array_equal(whole, whole.T)
    assert np.shares_memory(whole, buffer)
