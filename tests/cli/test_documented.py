"""The commands that the documents show run as they stand there."""

import re
import shlex

import pandas as pd
import pytest

from lindrop.cli.app import run
from support.models import tasteful
from support.repository import REPOSITORY

PAGE = REPOSITORY / "docs" / "command-line.md"
X = tasteful(400, 40)


def commands(page):
    """Lines of the shell examples of a page that call lindrop."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("lindrop ")]


def test_the_commands_of_the_page_run_one_after_the_other(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    user, item = X.nonzero()
    table = pd.DataFrame({"user_id": [f"u{each}" for each in user]})
    table["product"] = [f"p{each}" for each in item]
    table.to_csv("my.csv", index=False)
    ratings = {"userId": user, "movieId": item, "rating": 3 + (user * item) % 3}
    pd.DataFrame(ratings).to_csv("ratings.csv", index=False)
    found = commands(PAGE)
    assert len(found) >= 9
    for line in found:
        assert run(shlex.split(line)[1:]) == 0, (line, capsys.readouterr().err)
    assert pd.read_parquet("recommendations.parquet").groupby("user").size().eq(10).all()


@pytest.mark.parametrize("command", ["tune", "recommend", "split", "fit", "evaluate", "explain"])
def test_the_page_shows_every_command(command):
    assert any(line.startswith(f"lindrop {command} ") for line in commands(PAGE))
