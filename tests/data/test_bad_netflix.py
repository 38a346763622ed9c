"""Errors for Netflix texts in which a line, a film or a file differs from the published form."""

import pytest

from lindrop.data.formats import read_interactions
from support.files import films, write_netflix_tar, write_zip
from support.refusals import message_of


@pytest.mark.parametrize(
    "bad", ["12,x,2005-09-06", "12", "12,4", "12,4,a,b", "word,4,2005-09-06", "", "9;4;2005"]
)
def test_netflix_line_that_is_no_rating(bad, tmp_path):
    texts = films()
    texts[7] += f"{bad}\n3,4,2005-09-06\n"
    path = write_netflix_tar(tmp_path / "nf.tar.gz", dict(sorted(texts.items())))
    message = message_of(path, "netflix", min_rating=3.5)
    assert f"mv_0000007.txt, line 4: {bad!r} is neither" in message


def test_netflix_text_that_starts_with_something_else(tmp_path):
    path = tmp_path / "combined_data_1.txt"
    for start in ("\n", "\ufeff"):
        path.write_text(f"{start}1:\n12,4,2005-09-06\n")
        assert "line 1:" in message_of(path, "netflix")
    path.write_text("99999999999:\n12,4,2005-09-06\n")
    assert "line 1: '99999999999:' is neither" in message_of(path, "netflix")


def test_netflix_lines_that_a_carriage_return_cuts(tmp_path):
    """A fuzzer found the first text, in which Arrow counts as many rows as there are lines.

    Arrow skips the empty line and takes the line with a carriage return for two rows.
    """
    path = tmp_path / "combined_data_1.txt"
    for text, line in (
        ("4:\r\n\r\n\r99,5.0,x\r99,5.0,x\r\n", 2),
        ("4:\n99,5,x\r99,5,x\n", 2),
        ("4:\n12,5,x\n99,5,x\ry\n", 3),
    ):
        path.write_bytes(text.encode())
        assert f"line {line}: " in message_of(path, "netflix")
    path.write_bytes(b"4:\r\n12,5,x\r\r\n\r99,5,x\r\n")  # at the ends of a line, \r does no harm
    assert len(read_interactions(path, "netflix")) == 2


def test_netflix_rating_before_any_film(tmp_path):
    (tmp_path / "combined_data_1.txt").write_text("12,4,2005-09-06\n1:\n12,4,2005-09-06\n")
    message = message_of(tmp_path / "combined_data_1.txt", "netflix")
    assert "line 1: a rating before the first line `film:`" in message


def test_netflix_ratings_that_are_there_twice(tmp_path):
    for name in ("a/mv_0000001.txt", "b/mv_0000001.txt"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("1:\n12,4,2005-09-06\n")
    assert "holds the ratings more than once" in message_of(tmp_path, "netflix")
    (tmp_path / "b/mv_0000001.txt").rename(tmp_path / "combined_data_1.txt")
    assert "holds the ratings more than once" in message_of(tmp_path, "netflix")
    both = {"mv_0000001.txt": "1:\n12,4,x\n", "combined_data_1.txt": "1:\n12,4,x\n"}
    path = write_zip(tmp_path / "both.zip", both)
    assert "holds the ratings more than once" in message_of(path, "netflix")


def test_the_same_film_twice_or_in_the_file_of_another(tmp_path):
    path = tmp_path / "combined_data_1.txt"
    path.write_text("1:\n12,4,2005-09-06\n2:\n12,4,2005-09-06\n1:\n13,4,2005-09-06\n")
    assert "line 5: film 1 for the second time" in message_of(path, "netflix")
    texts = {1: "1:\n12,4,x\n", 2: "2:\n12,4,x\n", 3: "1:\n14,4,x\n"}
    path = write_netflix_tar(tmp_path / "nf.tar.gz", texts)
    message = message_of(path, "netflix")
    assert "mv_0000003.txt, line 1: film 1 in the file of another film" in message
    path = write_netflix_tar(tmp_path / "nf.tar.gz", texts | {3: "14,4,x\n"})
    message = message_of(path, "netflix")
    assert "mv_0000003.txt, line 1: the file does not start with a line `film:`" in message
    path = write_netflix_tar(tmp_path / "nf.tar.gz", texts | {3: "3:\n14,4,x\n4:\n1,2,x\n"})
    assert "mv_0000003.txt, line 3: film 4 in the file of" in message_of(path, "netflix")


def test_a_byte_order_mark_between_films(tmp_path, monkeypatch):
    """Arrow skips a byte order mark at the start of a buffer, and nowhere else."""
    (tmp_path / "all.txt").write_text("4:\n\ufeff12,4,x\n", encoding="utf-8")
    for size in (4, 1 << 20):
        monkeypatch.setattr("lindrop.data.netflix.BUFFER_BYTES", size)
        assert "line 2: '\\ufeff12,4,x' is neither" in message_of(tmp_path / "all.txt", "netflix")


def test_a_film_that_comes_again_in_a_later_buffer(tmp_path, monkeypatch):
    monkeypatch.setattr("lindrop.data.netflix.BUFFER_BYTES", 40)
    for film in (1, 2):
        rows = "12,4,2005-09-06\n" * 9
        (tmp_path / f"combined_data_{film}.txt").write_text(f"{film}:\n{rows}{film + 5}:\n{rows}")
    assert read_interactions(tmp_path, "netflix").raw.items == 4
    (tmp_path / "combined_data_2.txt").write_text(f"2:\n{rows}6:\n{rows}")
    message = message_of(tmp_path, "netflix")
    assert "combined_data_2.txt, line 11: film 6 for the second time" in message
