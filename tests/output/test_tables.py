"""A table says the same in all its forms, whatever is in its cells."""

import csv
from types import SimpleNamespace

import pandas as pd
import pytest

from lindrop.output.tables import write_table

FRAME = pd.DataFrame(
    {
        "name": ["50 % & more_or_less", "<b>ü</b>", "a|b"],
        "number": [1234567, 0, 5],
        "paper_number": ["1,234", None, None],
    }
)


@pytest.fixture
def written(tmp_path):
    files = {end: str(tmp_path / f"table.{end}") for end in ("csv", "md", "html", "tex")}
    write_table(FRAME, SimpleNamespace(**files), "Numbers & names")
    return {end: (tmp_path / f"table.{end}").read_text(encoding="utf-8") for end in files}


def test_csv_holds_the_raw_values(written):
    rows = list(csv.DictReader(written["csv"].splitlines()))
    assert rows[0] == {"name": FRAME.name[0], "number": "1234567", "paper_number": "1,234"}
    assert rows[1]["paper_number"] == ""


def test_numbers_are_grouped_and_gaps_are_shown(written):
    for end in ("md", "html", "tex"):
        assert "1,234,567" in written[end]
        assert "–" in written[end]
        assert "paper number" in written[end]


def test_special_characters_stay_what_they_are(written):
    assert "50 % & more_or_less" in written["md"]
    assert r"a\|b" in written["md"]
    assert "&lt;b&gt;ü&lt;/b&gt;" in written["html"]
    assert "Numbers &amp; names" in written["html"]
    assert r"50 \% \& more\_or\_less" in written["tex"]
    assert r"\caption{Numbers \& names}" in written["tex"]
