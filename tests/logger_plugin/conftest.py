"""A workflow that a test starts on a terminal."""

import pytest

from support.terminal import ENV, SHOWN, Terminal


@pytest.fixture
def workflow(tmp_path):
    """Starts a workflow on a terminal of a given size."""

    def start(snakefile, *options, command=SHOWN, **size):
        (tmp_path / "Snakefile").write_text(snakefile)
        return Terminal([*command, *options], tmp_path, **size, **ENV)

    start.folder = tmp_path
    start.go = lambda: (tmp_path / "go").touch()
    return start
