"""Fixtures: a folder with a table, and functions that run a command in this process."""

import pandas as pd
import pytest

from lindrop.cli.app import run
from support.commands import X


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the table my.csv, which is the working directory of the test."""
    user, item = X.nonzero()
    table = pd.DataFrame({"customer": user, "stars": 1 + (user + item) % 5, "product": item})
    table["product"] = "p" + table["product"].astype(str)
    table.to_csv(tmp_path / "my.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def said(capsys):
    """Runs a command, which must succeed; returns its standard output and standard error."""

    def command(*arguments):
        code = run([str(each) for each in arguments])
        output, talk = capsys.readouterr()
        assert code == 0, talk
        return output, talk

    return command


@pytest.fixture
def refused(capsys):
    """Runs a command, which must end with this exit code and one error line; returns the line."""

    def command(code, *arguments):
        assert run([str(each) for each in arguments]) == code
        output, talk = capsys.readouterr()
        lines = [line for line in talk.splitlines() if line.startswith("lindrop: error: ")]
        assert len(lines) == 1
        assert "Traceback" not in talk
        assert output == ""
        return lines[0]

    return command
