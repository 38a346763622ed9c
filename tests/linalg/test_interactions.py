"""Matrices from outside: every format gives the same numbers, and what is no matrix is refused."""

import numpy as np
import pytest
import scipy.sparse as sp

from lindrop.base.errors import UserError
from lindrop.linalg.interactions import interactions
from lindrop.linalg.kernels import sparse_times_dense, sparse_times_sparse
from lindrop.models.base import Training
from lindrop.models.catalogue import fit
from lindrop.ranking.evaluation import evaluate, top_items

FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")


@pytest.fixture(scope="module")
def square():
    """Histories and held-out items of 30 users: square, so that rows pass for columns."""
    filled = np.random.default_rng(0).random((2, 30, 30)) < 0.3
    return filled[0].astype(np.float32), (filled[1] & ~filled[0]).astype(np.float32)


@pytest.mark.parametrize("format", [*FORMATS, "dense"])
def test_every_format_gives_the_same_model_metrics_and_recommendations(format, square):
    def packed(x):
        return x if format == "dense" else sp.csr_array(x).asformat(format)

    x, held_out = square
    model = fit("ease", Training.of(sp.csr_array(x)), ridge=10).model
    found = fit("ease", Training.of(packed(x)), ridge=10).model
    np.testing.assert_array_equal(found.matrix, model.matrix)
    np.testing.assert_array_equal(
        evaluate(model, packed(x), packed(held_out)).per_user,
        evaluate(model, sp.csr_array(x), sp.csr_array(held_out)).per_user,
    )
    np.testing.assert_array_equal(
        top_items(model, packed(x), 3)[0], top_items(model, sp.csr_array(x), 3)[0]
    )


def test_a_dense_matrix_may_be_of_float16(square):
    found = interactions(square[0].astype(np.float16), "X")
    np.testing.assert_array_equal(found.toarray(), square[0])


def test_entries_that_a_mask_hides_are_not_taken(square):
    masked = np.ma.masked_array(square[0], mask=square[0] > 0)
    with pytest.raises(UserError, match="hides entries by a mask"):
        interactions(masked, "X")
    assert interactions(masked.filled(0), "X").nnz == 0


def test_a_matrix_that_is_as_it_must_be_is_not_copied(square):
    x = sp.csr_array(square[0])
    found = interactions(x, "X")
    for name in ("data", "indices", "indptr"):
        assert np.shares_memory(getattr(found, name), getattr(x, name))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int64", "float64"])
def test_repeated_entries_add_up_in_any_type(dtype):
    ones, item = np.ones(300, dtype), np.zeros(300, np.int32)
    x = sp.csr_array((ones, item, [0, 300]), shape=(1, 2))
    assert interactions(x, "X").toarray().tolist() == [[300, 0]]


def test_rows_that_were_reordered_after_they_were_called_sorted(square):
    x = sp.csr_array(square[0])
    assert x.has_canonical_format
    for start, stop in zip(x.indptr[:-1], x.indptr[1:], strict=True):
        x.indices[start:stop] = x.indices[start:stop][::-1]
    np.testing.assert_array_equal(interactions(x, "X").toarray(), square[0])


def test_stored_zeros_are_no_interactions(square):
    x, held_out = (sp.csr_array(part) for part in square)
    model = fit("ease", Training.of(x), ridge=10).model
    expected = evaluate(model, x, held_out).per_user
    full = sp.csr_array(np.ones(x.shape, np.float32))
    full.data[:] = square[1].reshape(-1)
    assert full.nnz == x.shape[0] * x.shape[1]
    np.testing.assert_array_equal(evaluate(model, x, full).per_user, expected)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_entries_that_are_not_finite_are_refused_wherever_they_are(value, square):
    x, held_out = (sp.csr_array(part) for part in square)
    model = fit("ease", Training.of(x), ridge=10).model
    for place in (0, 40, -1):
        bad = held_out.astype(np.float64)
        bad.data[place] = value
        for use in (
            lambda bad=bad: Training.of(bad, dtype=np.float64),
            lambda bad=bad: evaluate(model, x, bad),
            lambda bad=bad: evaluate(model, bad, held_out),
            lambda bad=bad: top_items(model, bad, 3),
        ):
            with pytest.raises(UserError, match="holds NaN or infinite entries"):
                use()


@pytest.mark.parametrize("value", [1e-200, 1e-50, -1e-13, 1e13, 1e50, -1e200])
@pytest.mark.parametrize("name", ["sparse_ease", "ease"])
def test_entries_whose_products_overflow_or_vanish_are_refused(value, name, square):
    """Entries of these sizes once made the choice of neighbours write outside of its memory."""
    x = square[0].astype(np.float64)
    x[3, np.flatnonzero(x[3])[0]] = value
    with pytest.raises(
        UserError, match=r"holds the entry .*: entries must be from 1e-12 to 1e\+12"
    ):
        fit(name, Training.of(x), ridge=1, **{"neighbours": 5} if name == "sparse_ease" else {})


@pytest.mark.parametrize("size", [1e-12, 1e12])
def test_entries_of_the_largest_and_smallest_size_are_fitted(size, square):
    """Their products are normal numbers, so all sizes have the same neighbours and weights."""
    x = square[0].astype(np.float64)
    alike = [
        fit("sparse_ease", Training.of(x * each), neighbours=5, ridge=each**2).model
        for each in (1, size)
    ]
    np.testing.assert_array_equal(alike[0].indices, alike[1].indices)
    np.testing.assert_allclose(alike[0].data, alike[1].data, rtol=1e-5)


def test_what_is_no_matrix_of_real_numbers_is_refused(square):
    x = sp.csr_array(square[0])
    for bad in (x.astype(np.complex64), x.astype(np.longdouble), np.ones(3), np.array([["a"]])):
        with pytest.raises(UserError, match="must be a matrix of real numbers"):
            Training.of(bad)
    with pytest.raises(UserError, match="float32 or float64, not in int32"):
        Training.of(x, dtype=np.int32)
    model = fit("ease", Training.of(x), ridge=10).model
    with pytest.raises(UserError, match="held-out holds negative entries"):
        evaluate(model, x, -x)


def test_indices_outside_of_the_matrix_are_refused(square):
    x = sp.csr_array(square[0])
    x.indices[-1] = 10**8
    with pytest.raises(UserError, match="the training matrix is not a valid CSR matrix"):
        Training.of(x)


def test_products_are_not_taken_with_the_arrays_of_another_format(square):
    x, b = sp.csc_array(square[0]), sp.csr_array(square[1])
    with pytest.raises(ValueError, match="of the format csc, not csr"):
        sparse_times_dense(x, square[1])
    with pytest.raises(ValueError, match="of the format csc, not csr"):
        sparse_times_sparse(x, (b.indptr, b.indices, b.data))
