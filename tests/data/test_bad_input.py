"""Errors for a file that is not of the stated format, and for a wrong line of a table."""

import gzip
import os

import pandas as pd
import pytest

from lindrop.base.errors import UserError
from lindrop.data.formats import read_interactions
from lindrop.data.recognise import format_of
from support.files import RATINGS, ratings_csv, ratings_dat, triplets, u_data, write_zip
from support.refusals import message_of


def test_missing_file(tmp_path):
    assert "no such file" in message_of(tmp_path / "no.zip", "movielens")


def test_a_pipe_is_refused_instead_of_waited_for_or_read_in_part(tmp_path):
    """Recognising the format would consume the first bytes, and the reader would miss them."""
    os.mkfifo(tmp_path / "pipe")
    for read in (format_of, lambda path: read_interactions(path, "adjacency")):
        with pytest.raises(UserError, match="a pipe or a device"):
            read(tmp_path / "pipe")


@pytest.mark.parametrize("format", ["movielens", "netflix", "msd", "csv", "tsv"])
def test_empty_file(format, tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    assert "is empty" in message_of(tmp_path / "empty", format)


def test_header_alone(tmp_path):
    (tmp_path / "mine.csv").write_text("user,item\n")
    assert "no rows" in message_of(tmp_path / "mine.csv", "csv")


@pytest.mark.parametrize("format", ["movielens", "netflix", "msd", "csv"])
def test_web_page(format, tmp_path):
    """Saved by hand from a browser, where no checksum is stated."""
    path = tmp_path / "ml-1m.zip"
    path.write_text("<!DOCTYPE html>\n<html><body>Not\nFound</body></html>\n")
    assert "web page" in message_of(path, format)


def test_missing_columns(tmp_path):
    (tmp_path / "mine.csv").write_text('"user_id",item,stars\n1,2,3\n')
    message = message_of(tmp_path / "mine.csv", "csv", rating="rating", min_rating=3)
    assert "no column named 'user', 'rating'; the file has 'user_id', 'item', 'stars'" in message
    pd.DataFrame({"user_id": [1], "item": [1]}).to_parquet(tmp_path / "mine.parquet")
    message = message_of(tmp_path / "mine.parquet", "parquet")
    assert "no column named 'user'; the file has 'user_id', 'item'" in message


@pytest.mark.parametrize("line", [2, 7, 4000, 30_001])
@pytest.mark.parametrize(
    ("format", "text", "first"),
    [
        ("movielens", ratings_csv, 2),
        ("movielens", ratings_dat, 1),
        ("movielens", u_data, 1),
        ("msd", triplets, 1),
    ],
)
def test_rating_that_is_no_number_names_the_line(format, text, first, line, tmp_path, monkeypatch):
    monkeypatch.setattr("lindrop.data.delimited.BLOCK_BYTES", 1 << 14)
    rows = [("3", "5", "5.0")] * 30_005
    lines = text(rows).splitlines()
    lines[line - 1] = text([("3", "5", "*****")]).splitlines()[-1]
    (tmp_path / "ratings").write_text("\n".join(lines) + "\n")
    message = message_of(tmp_path / "ratings", format, min_rating=3.5)
    assert f"line {line}: the rating '*" in message


@pytest.mark.parametrize("bad", ["", "nan", "inf", "4,5"])
def test_rating_that_is_missing_or_not_finite(bad, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(f'user,item,rating\n1,2,3\n\n1,3,"{bad}"\n1,4,3\n')
    message = message_of(path, "csv", rating="rating", min_rating=3.5)
    assert "line 4: the rating" in message


def test_a_column_named_twice(tmp_path):
    (tmp_path / "mine.csv").write_text("user,user,item\n1,2,3\n")
    message = message_of(tmp_path / "mine.csv", "csv")
    assert "more than one column named 'user'; the file has 'user', 'user', 'item'" in message
    (tmp_path / "mine.csv").write_text("user,item\n1,2\n")
    message = message_of(tmp_path / "mine.csv", "csv", item="user")
    assert "must be different columns" in message


def test_lines_are_counted_as_an_editor_counts_them(tmp_path):
    (tmp_path / "mine.csv").write_text('user,review,item\n1,"two\nlines",2\n\n1,2\n')
    assert "line 5: 2 columns instead of 3" in message_of(tmp_path / "mine.csv", "csv")


def test_line_with_too_few_columns(tmp_path):
    (tmp_path / "mine.csv").write_text("user,item,when\n1,2,3\n1,2\n1,3,4\n")
    message = message_of(tmp_path / "mine.csv", "csv")
    assert "line 3: 2 columns instead of 3" in message


@pytest.mark.parametrize("what", ["user", "item"])
def test_empty_id(what, tmp_path):
    row = {"user": "u", "item": "i"} | {what: ""}
    (tmp_path / "mine.csv").write_text(f"user,item\nu,i\n{row['user']},{row['item']}\n")
    message = message_of(tmp_path / "mine.csv", "csv")
    assert f"line 3: the {what} id is empty" in message


def test_id_with_a_line_break(tmp_path):
    (tmp_path / "mine.csv").write_text('user,item\n"a\nb",1\n')
    assert "the user id 'a\\nb' holds a control character" in message_of(
        tmp_path / "mine.csv", "csv"
    )


def test_text_that_is_not_utf8(tmp_path):
    (tmp_path / "mine.csv").write_bytes("user,item\n1,2\nZoë,3\n".encode("latin-1"))
    assert "line 3: not UTF-8" in message_of(tmp_path / "mine.csv", "csv")


def test_threshold_without_a_rating_column(tmp_path):
    (tmp_path / "mine.csv").write_text("user,item\n1,2\n")
    assert "min_rating needs `rating`" in message_of(tmp_path / "mine.csv", "csv", min_rating=1)


def test_a_folder_or_archive_with_several_such_files(tmp_path):
    (tmp_path / "a").mkdir()
    for name in ("ratings.csv", "a/ratings.csv"):
        (tmp_path / name).write_text(ratings_csv())
    assert "holds 2 such files; set `path` to one of" in message_of(tmp_path, "movielens")
    path = write_zip(tmp_path / "two.zip", {"a.csv": "user,item\n1,2\n", "b.csv": "x"})
    assert "holds 2 such files; set `path` to one of" in message_of(path, "csv")


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (b"user;item\n1;2\n", "separated by semicolons? csv needs commas"),
        (b"user\titem\n1\t2\n", "separated by tabs?"),
        (b"User,Item\n1,2\n", "did you mean 'User', 'Item'? set `user`, `item`"),
        (b"a,b\n1,2\n", "set `user`, `item`, `rating` and `time` of the source"),
        ("user,item\n1,2\n".encode("utf-16"), "UTF-16 text; convert it to UTF-8"),
        (b"PAR1\0\0\1", "a parquet file; set `format: parquet`"),
    ],
)
def test_a_table_that_is_another_than_said(data, hint, tmp_path):
    (tmp_path / "mine.csv").write_bytes(data)
    assert hint in message_of(tmp_path / "mine.csv", "csv")


@pytest.mark.parametrize("lines", [300, 30_000, 3_000_000])
def test_a_quote_that_is_never_closed(lines, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text('user,item\n1,2\n"3,4\n' + "5,6\n" * lines)
    message = message_of(path, "csv")
    assert "quote that is never closed" in message or "columns instead of" in message


FILLER = [f"u{user},i{user % 9},fine" for user in range(3000)]


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (["u1,i1,fine", 'u1,i2,"great', "u2,i1,fine", "u3,i2,fine"], 3),
        (['u1,i1,"great', "u2,i1,fine", 'u3,i2,"also', "u4,i1,fine"], 2),  # an even number
        (["u1,i1,fine", 'u1,i2,"great" ', "u2,i1,fine"], 3),
        (["u1,i1,fine", 'u1,i2,"say "hi""', "u2,i1,fine"], 3),
        (["u1,i1,fine", '"u1,i2,great'], 3),
        (['u1,i1,"a ""b"', 'u1,i2,""" '], 3),
        ([*FILLER, 'u1,i2,"great', *FILLER], 3002),
        ([*FILLER, 'u1,i1,5" disk', 'u1,i2,"great', *FILLER, 'u1,i2,"great', *FILLER], 3003),
        ([*FILLER, 'u1,i2,"'], 3002),
    ],
    ids=range(9),
)
@pytest.mark.parametrize("format", ["csv", "csv in small blocks", "tsv", "movielens"])
def test_a_quote_that_would_swallow_rows_names_the_line(format, rows, line, tmp_path, monkeypatch):
    if "small" in format:
        monkeypatch.setattr("lindrop.data.delimited.BLOCK_BYTES", 1 << 12)
        format = "csv"
    head = "userId,movieId,review" if format == "movielens" else "user,item,review"
    text = "\n".join([head, *rows]) + "\n"
    path = tmp_path / "ratings.csv"
    path.write_text(text.replace(",", "\t") if format == "tsv" else text, encoding="utf-8-sig")
    assert f"line {line}: a quote that is never closed" in message_of(path, format)


def test_a_quote_in_the_names_of_the_columns_that_is_never_closed(tmp_path):
    (tmp_path / "mine.csv").write_text('user,item,"review\n' + "1,2,3\n" * 100_000)
    assert "line 1: a quote that is never closed" in message_of(tmp_path / "mine.csv", "csv")


@pytest.mark.parametrize("min_rating", [None, 3.5])
@pytest.mark.parametrize(
    ("format", "header", "text"),
    [
        ("msd", "user\tsong\tplay_count", triplets),
        ("movielens", "user id\titem id\trating\ttimestamp", u_data),
        ("movielens", "UserID::MovieID::Rating::Timestamp", ratings_dat),
    ],
)
def test_a_header_line_where_there_is_none(format, header, text, min_rating, tmp_path):
    lines = text(RATINGS * 3).splitlines()
    for at in (0, 7):  # at the start, and where two files were put together
        (tmp_path / "mine.txt").write_text("\n".join([*lines[:at], header, *lines[at:]]) + "\n")
        message = message_of(tmp_path / "mine.txt", format, min_rating=min_rating)
        assert f"line {at + 1}: the rating " in message
        assert "remove it if it is a header line" in message


@pytest.mark.parametrize("min_rating", [None, 3.5])
@pytest.mark.parametrize("rating", ["", "nan", "inf"])
def test_a_missing_rating_without_a_header_line(rating, min_rating, tmp_path):
    (tmp_path / "mine.txt").write_text(f"a\tb\t4\na\tc\t{rating}\n")
    assert "line 2: the rating " in message_of(tmp_path / "mine.txt", "msd", min_rating=min_rating)


@pytest.mark.parametrize("line", ["1:9:2:7:3::4", "1::2:7:3::4", "1::2::3:5:4"])
def test_single_colons_where_two_belong(line, tmp_path):
    (tmp_path / "ratings.dat").write_text(f"{ratings_dat()}{line}\n{ratings_dat()}")
    message = message_of(tmp_path / "ratings.dat", "movielens")
    assert "line 7: a column between two separators is not empty" in message


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("format", "header"),
    [("csv", "user,item"), ("csv", '"item","user"'), ("tsv", "user\titem")],
)
def test_a_header_line_that_comes_again(format, header, mark, tmp_path):
    """`cat a.csv b.csv` makes such a file: the line would be a user, and numbers sort as texts."""
    one = f"{mark}{header}\n" + ("1,2\n3,4\n" if "," in header else "1\t2\n3\t4\n")
    path = tmp_path / "x"
    path.write_text(one * 2, encoding="utf-8")
    with pytest.raises(UserError, match="line 4: the header line again, as if two files"):
        read_interactions(path, format)


@pytest.mark.parametrize("format", ["csv", "movielens", "msd", "parquet"])
def test_a_byte_order_mark_before_an_id(format, tmp_path):
    """`cat a b` of files without a header makes such a line, which would be another user's."""
    lines = {"csv": "{}1,2", "movielens": "{}1::2::4::9", "msd": "{}1\t2\t3"}
    path = tmp_path / "x"
    if format == "parquet":
        pd.DataFrame({"user": ["1", "\ufeff1"], "item": ["2", "3"]}).to_parquet(path)
    else:
        line = lines[format]
        text = "user,item\n" if format == "csv" else ""
        text += f"{line.format('')}\n{line.format(chr(0xFEFF))}\n"
        path.write_text(text, encoding="utf-8")
    message = message_of(path, format)
    assert r"the user id '\ufeff1' begins with a byte order mark, as if two files" in message


def test_a_user_may_be_called_user(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("user,item\nuser,2\n1,item\n")
    assert len(read_interactions(path, "csv")) == 2


def test_a_gzipped_file_beside_a_plain_one_is_not_passed_over(tmp_path):
    text = "user,item\n1,2\n3,4\n"
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(text.encode()))
    assert len(read_interactions(tmp_path, "csv")) == 2
    (tmp_path / "a.csv").write_text("user,item\n5,6\n")
    assert read_interactions(tmp_path, "csv").user_ids.tolist() == ["1", "3", "5"]
    (tmp_path / "b.csv").write_text(text)
    with pytest.raises(UserError, match=r"beside it lies b\.csv, the same unpacked; remove either"):
        read_interactions(tmp_path, "csv")
