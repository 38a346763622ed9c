"""The inverse in place of the lower triangle is NumPy's."""

import numpy as np
import pytest

from lindrop.base.reporting import Progress
from lindrop.linalg import inverse as inverses
from lindrop.linalg import triangle as triangles
from lindrop.linalg.inverse import invert_lower, invert_panels
from lindrop.linalg.triangle import mirror_lower
from support.matrices import DTYPES, counts, distance, tolerance


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("n", "panel", "pivots", "leaf"),
    [
        *((n, 960, 512, 256) for n in (1, 2, 255, 256, 257, 511, 512, 513, 769, 1000)),
        *((n, 16, 8, 4) for n in (1, 3, 4, 5, 7, 8, 9, 16, 17, 50)),
        (50, 20, 7, 3),
        (50, 5, 3, 7),
        (50, 3, 8, 4),
        (50, 1, 1, 1),
    ],
)
def test_the_lower_triangle_becomes_that_of_the_inverse(n, panel, pivots, leaf, dtype, monkeypatch):
    monkeypatch.setattr(triangles, "PANEL", panel)
    monkeypatch.setattr(inverses, "PIVOTS", pivots)
    monkeypatch.setattr(inverses, "LEAF", leaf)
    matrix = counts(n)
    a = matrix.astype(dtype)
    a[np.triu_indices(n, 1)] = marks = np.arange(n * (n - 1) // 2)
    invert_lower(a)
    assert distance(np.tril(a), np.tril(np.linalg.inv(matrix))) < tolerance(dtype)
    np.testing.assert_array_equal(a[np.triu_indices(n, 1)], marks)  # nobody looked, nobody wrote
    alone = matrix.astype(dtype)
    alone[np.triu_indices(n, 1)] = np.nan  # would spread if it were read
    invert_panels(triangles.panels_of(alone), upper=False)
    assert distance(np.tril(alone), np.tril(a)) < tolerance(dtype)
    lower = np.tril(a)
    mirror_lower(a)
    np.testing.assert_array_equal(a, lower + np.tril(lower, -1).T)


def test_a_long_inversion_tells_how_far_it_is(monkeypatch):
    monkeypatch.setattr(inverses, "LONG", 50)
    monkeypatch.setattr(inverses, "PIVOTS", 20)
    told = []
    monkeypatch.setattr(Progress, "watchers", [lambda progress: told.append(progress.done)])
    for n in (49, 50):
        invert_lower(np.eye(n, dtype=np.float32))
    assert told == [20, 40, 50]
