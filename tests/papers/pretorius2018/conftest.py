"""A small set of synthetic images, for the tests that train on it."""

import pytest

from lindrop.papers.pretorius2018.image_sets import synthetic_set


@pytest.fixture(scope="module")
def images():
    return synthetic_set(200, 12, 1)
