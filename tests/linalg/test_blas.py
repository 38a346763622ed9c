"""Products and inverses of blocks of a larger matrix are NumPy's."""

import numpy as np
import pytest

from lindrop.linalg.blas import invert_small, product, product_into
from support.matrices import DTYPES, counts, distance, tolerance


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
    product_into(c[part], a[:6, :5], b[:6, 4:], -2.0, transposed=False, columns=True)
    np.testing.assert_allclose(c[part], -2 * a[:6, :5].T @ b[:6, 4:], rtol=tolerance(dtype))
    for wrong in (b[:5], b[:4].astype(np.float16), b[:4, 1:]):
        with pytest.raises(ValueError, match="into"):
            product_into(c[:4, :4], a[:4], wrong)
    with pytest.raises(ValueError, match="contiguous"):
        product_into(c[:4, :4], a[:4, ::2], b[:4, ::2])
