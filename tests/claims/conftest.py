"""The page of results of a small run: its path and its text."""

import pytest

from support.page import made


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return made(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def html(path):
    return path.read_text(encoding="utf-8")
