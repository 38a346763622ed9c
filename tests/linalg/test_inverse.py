"""In place, on one triangle, in blocks: the same numbers as NumPy's of whole matrices."""

import numpy as np
import pytest

from lindrop.base.errors import UserError
from lindrop.linalg import inverse as inverses
from lindrop.linalg import spectrum
from lindrop.linalg.blas import NotPositiveDefinite, invert_small, product, product_into
from lindrop.linalg.inverse import invert_lower, mirror_lower
from lindrop.linalg.packed import PackedGram
from lindrop.linalg.spectrum import top_eigenpairs

DTYPES = [np.float32, np.float64]


def counts(n):
    """X'X of sparse counts, in whole numbers; well conditioned."""
    x = np.random.default_rng(n).poisson(0.1, (500, n)).astype(float)
    return x.T @ x + 20 * np.eye(n)


def distance(found, expected):
    assert found.shape == expected.shape
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


def tolerance(dtype):
    return 2e3 * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("n", "pivots", "leaf"),
    [
        *((n, 512, 256) for n in (1, 2, 255, 256, 257, 511, 512, 513, 769)),
        *((n, 8, 4) for n in (1, 3, 4, 5, 7, 8, 9, 16, 17, 50)),
        (50, 7, 3),
        (50, 3, 7),
        (50, 1, 1),
    ],
)
def test_the_lower_triangle_becomes_that_of_the_inverse(n, pivots, leaf, dtype, monkeypatch):
    monkeypatch.setattr(inverses, "PIVOTS", pivots)
    monkeypatch.setattr(inverses, "LEAF", leaf)
    matrix = counts(n)
    a = matrix.astype(dtype)
    a[np.triu_indices(n, 1)] = marks = np.arange(n * (n - 1) // 2)
    invert_lower(a)
    assert distance(np.tril(a), np.tril(np.linalg.inv(matrix))) < tolerance(dtype)
    np.testing.assert_array_equal(a[np.triu_indices(n, 1)], marks)  # nobody looked, nobody wrote
    lower = np.tril(a)
    mirror_lower(a)
    np.testing.assert_array_equal(a, lower + np.tril(lower, -1).T)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_block_of_a_larger_matrix_is_worked_on_in_its_place(dtype):
    random = np.random.default_rng(0)
    a, b, c = (random.standard_normal(shape).astype(dtype) for shape in ((9, 8), (9, 8), (9, 9)))
    whole, part = c.copy(), (slice(2, 7), slice(1, 5))
    product_into(c[part], a[2:7, 3:], b[1:5, 3:], -2.0, 0.5)
    expected = whole.copy()
    expected[part] = 0.5 * whole[part] - 2 * a[2:7, 3:] @ b[1:5, 3:].T
    np.testing.assert_allclose(c, expected, rtol=tolerance(dtype))

    matrix = counts(6).astype(dtype)
    kept = matrix.copy()
    inside = invert_small(matrix[1:5, 1:5])
    assert distance(inside, np.linalg.inv(kept[1:5, 1:5])) < tolerance(dtype)
    np.testing.assert_array_equal(matrix, kept)
    square = product(a[2:7, :4], b[1:5, 4:], transposed=False)
    np.testing.assert_allclose(square, a[2:7, :4] @ b[1:5, 4:], rtol=tolerance(dtype))
    for wrong in (b[:5], b[:4].astype(np.float16), b[:4, 1:]):
        with pytest.raises(ValueError, match="into"):
            product_into(c[:4, :4], a[:4], wrong)
    with pytest.raises(ValueError, match="contiguous"):
        product_into(c[:4, :4], a[:4, ::2], b[:4, ::2])


SINGULAR = {  # all in whole numbers: no rounding before the inversion
    "an item without users": lambda x: x * (np.arange(x.shape[1]) != 30),
    "two items alike": lambda x: np.column_stack([x[:, 1:], x[:, 3]]),
    "fewer users than items": lambda x: x[:25],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", SINGULAR)
@pytest.mark.parametrize("seed", range(5))
def test_a_singular_matrix_is_refused_in_one_line(kind, seed, dtype):
    """Also where rounding leaves pivots that are positive."""
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


SPECTRA = {
    "fast decay": lambda n: 0.8 ** np.arange(n),
    "slow decay": lambda n: 1 / np.sqrt(1 + np.arange(n)),
    "pairs": lambda n: 0.95 ** (np.arange(n) // 2),
    "one value for all but a few": lambda n: np.r_[9.0, 8, 7, np.ones(n - 3)],
    "all the same": np.ones,
    "low rank": lambda n: np.r_[np.linspace(2, 1, 20), np.zeros(n - 20)],
    "some below zero": lambda n: 2 * 0.9 ** np.arange(n) - 0.1,
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", SPECTRA)
@pytest.mark.parametrize("block", [None, 1, 4, 7])
def test_the_largest_eigenpairs(kind, block, dtype, monkeypatch):
    """Decomposed whole (None) and by block Lanczos, whose blocks do not divide 203."""
    if block:
        monkeypatch.setattr(spectrum, "DENSE", 0)
        monkeypatch.setattr(spectrum, "BLOCK", block)
    n, k = 203, 15
    expected = SPECTRA[kind](n)
    q = np.linalg.qr(np.random.default_rng(0).standard_normal((n, n)))[0]
    matrix = (q * expected) @ q.T
    applied = []

    def times(y):
        applied.append(y.shape[1])
        return matrix.astype(dtype) @ y

    values, vectors = top_eigenpairs(times, n, k, dtype)
    assert set(applied) == {block or n}
    assert vectors.dtype == dtype
    assert vectors.flags.c_contiguous
    accuracy = spectrum.TOLERANCE if block else tolerance(dtype)
    np.testing.assert_allclose(values, expected[:k], rtol=accuracy)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=tolerance(dtype))
    residuals = np.linalg.norm(matrix @ vectors - vectors * values, axis=0)
    assert residuals.max() <= 1.01 * accuracy * (values[-1] if block else abs(expected).max())


@pytest.mark.parametrize("dtype", DTYPES)
def test_more_eigenpairs_than_the_matrix_has_rank(dtype, monkeypatch):
    """It stops, and what it finds beyond the rank is zero in the precision of the first."""
    monkeypatch.setattr(spectrum, "DENSE", 0)
    monkeypatch.setattr(spectrum, "BLOCK", 4)
    x = np.random.default_rng(0).standard_normal((10, 150))
    calls = []
    values, vectors = top_eigenpairs(
        lambda y: calls.append(1) or ((x.T @ x).astype(dtype) @ y), 150, 20, dtype
    )
    expected = np.linalg.eigvalsh(x.T @ x)[::-1][:20]
    np.testing.assert_allclose(values, expected, atol=tolerance(dtype) * expected[0])
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(20), atol=tolerance(dtype))
    assert len(calls) < 60  # two fillings of the space, not sixty
