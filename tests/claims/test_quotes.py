"""Quotes of the papers stand in our copies of them, word by word, at the line that is given.

The copies are not part of the repository; without them beside it, these tests are skipped.
"""

import re

import pytest

from lindrop.papers.catalogue import PAPERS
from support.checks import claims_of
from support.repository import REPOSITORY

COPIES = REPOSITORY.parent / "shared" / "papers"
if not COPIES.is_dir():
    COPIES = REPOSITORY.parents[1] / "shared" / "papers"
FOLLOWING = 60  # lines from the given one in which the parts of a quote must stand

ACCUSED = [
    pytest.param(paper, claim.accusation, id=f"{paper}-{claim.id}")
    for paper in PAPERS
    for claim in claims_of(paper).claims
    if claim.accusation
]
ERRATA = [
    pytest.param(paper, erratum, id=f"{paper}-{erratum.id}")
    for paper in PAPERS
    for erratum in claims_of(paper).errata
    if erratum.quote
]


def plain(text):
    """Text with every run of white space as one space."""
    return " ".join(text.split())


def stands(quote, line, lines):
    """Whether the quote begins in the given line and its parts, split at …, follow in order."""
    text = plain(" ".join(lines[line - 1 : line - 1 + FOLLOWING]))
    parts = [plain(part) for part in re.split("…", quote) if part.strip()]
    found = text.find(parts[0])
    if not 0 <= found < max(len(plain(lines[line - 1])), 1):
        return False
    for part in parts[1:]:
        found = text.find(part, found + 1)
        if found < 0:
            return False
    return True


@pytest.mark.skipif(not COPIES.is_dir(), reason="our copies of the papers are not here")
@pytest.mark.parametrize(("paper", "entry"), [*ACCUSED, *ERRATA])
def test_a_quote_stands_in_our_copy_at_its_line(paper, entry):
    copies = sorted(COPIES.glob(f"{paper}*.txt"))
    assert copies
    assert entry.line, "a quote names its line"
    texts = [copy.read_text(encoding="utf-8").splitlines() for copy in copies]
    assert any(stands(entry.quote, entry.line, lines) for lines in texts), entry.quote


@pytest.mark.parametrize(
    ("quote", "line", "expected"),
    [
        ("two words", 2, True),
        ("two   words", 2, True),
        ("two words", 1, False),
        ("two words … the end", 2, True),
        ("the end … two words", 2, False),
        ("two wards", 2, False),
        ("words and more", 2, True),
    ],
)
def test_a_quote_is_found_only_where_it_begins(quote, line, expected):
    assert stands(quote, line, ["first", "here are two  words", "and more", "the end"]) == expected
