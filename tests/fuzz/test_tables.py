"""Delimited files as Python's csv reads them, or refused in one line that names the file."""

import csv
import io
import math
import re
import tempfile
from pathlib import Path
from unittest import mock

from hypothesis import strategies as st

from lindrop.data.formats import read_interactions
from support.fuzzing import fuzzed, outcome

REFUSED = re.compile("^\ufeff|^$|[\x00-\x08\x0a-\x1f\x7f]")  # ids
PIECES = ['"', '""', ",", "\t", ":", "::", "\n", "\r\n", "\r", " ", "é", "日", "\u2028", "\x85"]
PIECES += ["a", "b", "7", "007", "4.5", "nan", "inf", "-1", "1e3", "", "\ufeff", "\0", "x" * 40]
value = st.lists(st.sampled_from(PIECES), max_size=3).map("".join)
plain = st.sampled_from(["u1", "u2", "7", "12", "é"])
number = st.sampled_from(["4", "3.5", "5.0", "0.1", "1e2"]) | value
row = st.tuples(plain | value, plain | value, number, value)
quoting = st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
damage = st.lists(
    st.tuples(st.integers(0, 10**6), st.integers(0, 2), st.sampled_from(PIECES)), max_size=3
)


def damaged(text, edits):
    """A text with pieces put in at some places, in the place of what is there or not."""
    for place, cut, piece in edits:
        at = place % (len(text) + 1)
        text = text[:at] + piece + text[at + cut :]
    return text


def read(text, format, block=1 << 10, **options):
    """Pairs of user and item in a file with this text, or the line with which it is refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mine.txt"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        with mock.patch("lindrop.data.delimited.BLOCK_BYTES", block):
            data, message = outcome(read_interactions, path, format, **options)
        assert message is None or str(path) in message
    if data is None:
        return None, message
    users, items = data.user_ids[data.user], data.item_ids[data.item]
    return list(zip(users, items, strict=True)), None


def finite(text):
    """A number as Python and Arrow read it; None if it is none or not finite."""
    try:
        found = float(text) if re.fullmatch(r"[ \t]*[-+.\w]+[ \t]*", text, re.ASCII) else None
    except ValueError:
        return None
    return found if found is not None and math.isfinite(found) and "_" not in text else None


def expected(rows, names, min_rating, rated):
    """Pairs in rows as Python's csv gives them, or None if the file must be refused."""
    pairs = []
    for fields in rows:
        if len(fields) != len(names):
            return None
        user, item = fields[names.index("user")], fields[names.index("item")]
        if REFUSED.search(user) or REFUSED.search(item):
            return None
        rating = finite(fields[names.index("rating")]) if rated else 0
        if rating is None:
            return None
        if min_rating is None or rating > min_rating:
            pairs.append((user, item))
    return pairs if rows else None


def python_rows(text, delimiter, **options):
    """Rows of a text without empty lines; None if Python's strict reader refuses it."""
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, **options)
        return [fields for fields in reader if fields]
    except csv.Error:
        return None


@fuzzed(
    6000,
    rows=st.lists(row, min_size=1, max_size=40),
    delimiter=st.sampled_from(",\t"),
    quoting=quoting,
    end=st.sampled_from(["\n", "\r\n"]),
    edits=damage,
    min_rating=st.sampled_from([None, 3.5]),
    block=st.sampled_from([256, 1 << 10, 1 << 24]),
)
def test_tables_with_a_header(rows, delimiter, quoting, end, edits, min_rating, block):
    """What Python's strict reader accepts is read as it reads it; all else is refused."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter, quoting=quoting, lineterminator=end)
    names = ["user", "item", "rating", "note"]
    writer.writerows([names, *rows])
    text = damaged(buffer.getvalue(), edits)
    options = {"rating": "rating"} if min_rating else {}
    format = "csv" if delimiter == "," else "tsv"
    pairs, message = read(text, format, block, min_rating=min_rating, **options)
    found = python_rows(text.removeprefix("\ufeff"), delimiter, strict=True)
    right = None
    if found and all(found[0].count(name) == 1 for name in ("user", "item", *options)):
        right = expected(found[1:], found[0], min_rating, bool(options))
    if block == 256 and pairs is None:
        return False  # a row may be longer than a block
    assert pairs == right, message
    return pairs is not None


NAMES = {
    "msd": (["user", "item", "rating"], "\t"),
    "movielens": (["user", "item", "rating", "note"], "\t"),
    "::": (["user", "1", "item", "2", "rating", "3", "note"], ":"),
}


@fuzzed(
    6000,
    layout=st.sampled_from(sorted(NAMES)),
    rows=st.lists(st.tuples(plain, plain, st.sampled_from("12345"), plain), min_size=1),
    edits=damage,
    min_rating=st.sampled_from([None, 3.5]),
)
def test_tables_without_a_header(layout, rows, edits, min_rating):
    """Quotes are characters, every rating is a number, and two colons are one separator."""
    names, delimiter = NAMES[layout]
    fields = 3 if layout == "msd" else 4
    lines = [("::" if layout == "::" else delimiter).join(one[:fields]) for one in rows]
    first, text = lines[0] + "\n", "\n".join(lines[1:]) + "\n" if lines[1:] else ""
    text = first + damaged(text, edits)  # the first line tells the layout
    pairs, message = read(text, "msd" if layout == "msd" else "movielens", min_rating=min_rating)
    found = python_rows(text, delimiter, quoting=csv.QUOTE_NONE)
    if found and layout == "::" and any(any(one[1::2]) for one in found):
        found = None
    right = found and expected(found, names, min_rating, rated=True)
    assert pairs == right, message
    return pairs is not None


FILM = re.compile(r"(\d{1,9}):\r?")
RATING = re.compile(r"(\d+),([^,]*),[^,]*")
film_line = st.sampled_from(["1:", "2:", "3:", "10:", "002:"])
rating_line = st.sampled_from(["12,4,2005-09-06", "7,3,2005-01-01", "12,1,", "99,5.0,x"])
odd_line = st.sampled_from(
    ["", "12", "12,4", "a,4,x", "12,x,y", "1::", ":", "12,4,5,6", "12,nan,x"]
)


@fuzzed(
    5000,
    lines=st.lists(film_line | rating_line | rating_line | rating_line, min_size=1, max_size=30),
    more=st.lists(st.tuples(st.integers(0, 99), odd_line), max_size=1),
    edits=damage,
    end=st.sampled_from(["\n", "\r\n"]),
    buffer=st.sampled_from([7, 64, 1 << 20]),
    min_rating=st.sampled_from([None, 3.5]),
)
def test_films(lines, more, edits, end, buffer, min_rating):
    """Each line is a film or a rating, each film comes once, and rows are in the films' order."""
    for place, line in more:
        lines.insert(place % (len(lines) + 1), line)
    text = damaged(end.join(["4:", *lines, ""]), edits if more else edits[:1])
    with mock.patch("lindrop.data.netflix.BUFFER_BYTES", buffer):
        pairs, message = read(text, "netflix", min_rating=min_rating)
    film, films, right = None, set(), []
    parts = text.split("\n")
    for line in parts if parts[-1] else parts[:-1]:
        if found := FILM.fullmatch(line):
            film = int(found[1])
            right = None if film in films else right
            films.add(film)
        else:
            found = RATING.fullmatch(line.strip("\r"))  # for Arrow, they end lines without text
            good = film is not None and found and "\r" not in found[0] and found[1].isascii()
            if not good or finite(found[2]) is None:
                right = None
            if right is not None:
                right.append((film, found[1], float(found[2])))
        if right is None:
            break
    if right:
        right.sort(key=lambda one: one[0])
        right = [(u, str(f)) for f, u, r in right if min_rating is None or r > min_rating]
    else:
        right = None
    assert pairs == right, message
    return pairs is not None
