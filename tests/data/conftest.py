"""A web server that fails on demand, and the place of the file that is downloaded from it."""

import pytest

from support.file_server import Server
from support.files import serving


@pytest.fixture
def server(monkeypatch):
    """A server whose slow answers, on a busy machine, are waited for without a limit."""
    monkeypatch.setattr("lindrop.data.fetch.TIMEOUT", None)
    with serving(Server()) as server:
        yield server


@pytest.fixture
def target(tmp_path):
    return tmp_path / "downloads" / "file.zip"
