"""The schema of a configuration, for the tests that check one."""

import pytest

from lindrop.configuration.schema import load_schema


@pytest.fixture(scope="module")
def schema():
    return load_schema()
