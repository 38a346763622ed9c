"""What a damaged or wrong file says: one line with what, where and what to do."""

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from lindrop.base.errors import UserError
from lindrop.data.formats import read_interactions
from lindrop.data.recognise import format_of
from support.files import (
    RATINGS,
    cut_short,
    films,
    ratings_csv,
    ratings_dat,
    tar_of,
    triplets,
    u_data,
    write_netflix_tar,
    write_zip,
)

LONG = RATINGS * 5000


def message_of(path, format, **options):
    with pytest.raises(UserError) as caught:
        read_interactions(path, format, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message  # where
    return message


def test_missing_file(tmp_path):
    assert "no such file" in message_of(tmp_path / "no.zip", "movielens")


def test_a_pipe_is_refused_instead_of_waited_for_or_read_in_part(tmp_path):
    """To recognise a format takes some of it, which whoever reads it then would miss."""
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


@pytest.mark.parametrize("keep", [0.02, 0.6, 0.99])
def test_truncated_zip(keep, tmp_path):
    path = cut_short(write_zip(tmp_path / "ml.zip", {"ml/ratings.csv": ratings_csv(LONG)}), keep)
    message = message_of(path, "movielens", min_rating=3.5)
    assert "damaged or cut short" in message
    assert "replace it by a good copy" in message


def test_zip_with_a_damaged_middle(tmp_path):
    path = write_zip(tmp_path / "ml.zip", {"ml/ratings.csv": ratings_csv(LONG)})
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 50] = bytes(50)
    path.write_bytes(data)
    assert "damaged" in message_of(path, "movielens", min_rating=3.5)


@pytest.mark.parametrize("keep", [0.01, 0.5, 0.999])
def test_truncated_gz(keep, tmp_path):
    path = tmp_path / "mine.csv.gz"
    path.write_bytes(gzip.compress(ratings_csv(LONG).encode()))
    message = message_of(cut_short(path, keep), "csv", user="userId", item="movieId")
    assert "damaged or cut short" in message


@pytest.fixture(params=["tar", "tar.gz"])
def netflix_tar(request, tmp_path):
    """A small Netflix archive, packed or not."""
    rows = [(str(u), str(f), "4") for f in range(1, 31) for u in range(f, f + 40)]
    path = write_netflix_tar(tmp_path / "nf.tar.gz", films(rows))
    if request.param == "tar":
        path.write_bytes(gzip.decompress(path.read_bytes()))
    return path


def test_cut_netflix_archive(netflix_tar):
    """Wherever it is cut: tarfile alone would end quietly between two members."""
    whole = netflix_tar.read_bytes()
    content = len(whole.rstrip(b"\0"))
    ends = np.linspace(512, content - 1, 60).astype(int)
    for end in {*ends, *(ends // 512 * 512)}:
        netflix_tar.write_bytes(whole[:end])
        assert "damaged or cut short" in message_of(netflix_tar, "netflix", min_rating=3.5), end


def test_netflix_archive_with_a_damaged_header(netflix_tar):
    """Of an inner member: the outer tar and, where there is one, the gzip are as they should be."""
    data = netflix_tar.read_bytes()
    packed = data.startswith(b"\x1f\x8b")
    data = bytearray(gzip.decompress(data) if packed else data)
    at = data.index(b"training_set/mv_0000012.txt")
    data[at : at + 8] = b"\xff" * 8
    netflix_tar.write_bytes(gzip.compress(data) if packed else data)
    assert "damaged or cut short" in message_of(netflix_tar, "netflix", min_rating=3.5)


def test_netflix_archive_with_a_wrong_checksum(tmp_path):
    path = write_netflix_tar(tmp_path / "nf.tar.gz", films())
    data = bytearray(path.read_bytes())
    data[-8:-4] = b"\0\0\0\0"
    path.write_bytes(data)
    assert "damaged or cut short" in message_of(path, "netflix", min_rating=3.5)


def test_gzip_in_several_members_is_read_to_its_end(tmp_path):
    rows = [(str(u), str(f), "4") for f in range(1, 31) for u in range(f, f + 40)]
    path = write_netflix_tar(tmp_path / "nf.tar.gz", films(rows))
    data = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(data[:5120]) + gzip.compress(data[5120:]))
    assert read_interactions(path, "netflix").raw.items == 30


def zip_with(path, flag=None, method=None):
    """A zip that claims to be encrypted, or packed by another method."""
    write_zip(path, {"ratings.csv": ratings_csv()})
    data = bytearray(path.read_bytes())
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(magic) + offset
        if flag is not None:
            data[at] |= flag
        if method is not None:
            data[at + 2] = method
    path.write_bytes(data)
    return path


def test_encrypted_zip(tmp_path):
    assert "encrypted; unpack it" in message_of(zip_with(tmp_path / "m.zip", flag=1), "movielens")


def test_zip_packed_as_windows_packs_large_files(tmp_path):
    path = zip_with(tmp_path / "m.zip", method=9)
    assert "Python cannot read" in message_of(path, "movielens")


@pytest.mark.parametrize("format", ["csv", "movielens", "msd"])
@pytest.mark.parametrize("kind", ["bz2", "xz", "tar", "tgz"])
def test_archives_that_are_not_read(kind, format, tmp_path):
    path = tmp_path / f"mine.{kind}"
    text = tar_of({"mine.csv": ratings_csv().encode()})
    pack = {"bz2": bz2.compress, "xz": lzma.compress, "tar": bytes, "tgz": gzip.compress}[kind]
    path.write_bytes(pack(text))
    assert "are not read; unpack it" in message_of(path, format)


def test_archive_of_something_else(tmp_path):
    path = write_zip(tmp_path / "photos.zip", {"a.jpg": "x"})
    assert "holds no file named ratings.csv, ratings.dat or u.data" in message_of(path, "movielens")
    assert "holds no film file" in message_of(
        write_netflix_tar(tmp_path / "nf.tar.gz", {}), "netflix"
    )


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


def test_netflix_rating_before_any_film(tmp_path):
    (tmp_path / "combined_data_1.txt").write_text("12,4,2005-09-06\n1:\n12,4,2005-09-06\n")
    message = message_of(tmp_path / "combined_data_1.txt", "netflix")
    assert "line 1: a rating before the first line `film:`" in message


def test_parquet_with_ids_that_are_no_ids(tmp_path):
    path = tmp_path / "mine.parquet"
    pd.DataFrame({"user": [1.0, 2.0], "item": [1, 2]}).to_parquet(path)
    assert "column 'user' holds double; ids must be" in message_of(path, "parquet")
    pd.DataFrame({"user": ["a", None], "item": [1, 2]}).to_parquet(path)
    assert "column 'user' has 1 empty ids" in message_of(path, "parquet")
    pd.DataFrame({"user": ["a"] * 9999, "item": range(9999)}).to_parquet(path)
    data = bytearray(path.read_bytes())
    data[100:400] = bytes(300)
    path.write_bytes(data)
    assert "not a readable parquet file" in message_of(path, "parquet")
    path.write_text("user,item\n1,2\n")
    assert "not a readable parquet file" in message_of(path, "parquet")
    assert "not a readable parquet file" in message_of(tmp_path, "parquet")


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
    """Arrow passes over it at the start of a buffer, and nowhere else."""
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


@pytest.mark.parametrize("depth", [3, 300])
def test_tars_inside_each_other(depth, tmp_path):
    data = tar_of({"training_set/mv_0000001.txt": b"1:\n12,4,2005-09-06\n"})
    for _ in range(depth):
        data = tar_of({"training_set.tar": data})
    (tmp_path / "nf.tar").write_bytes(data)
    message = message_of(tmp_path / "nf.tar", "netflix")
    assert "more than 3 archives inside each other" in message
    assert len(message) < 1000


@pytest.mark.parametrize("kind", ["sparse", "hard link", "link"])
def test_a_film_file_in_a_tar_that_is_no_plain_file(kind, tmp_path):
    """Such a file was passed over, or read as zeros."""
    buffer = io.BytesIO()
    text = b"1:\n12,4,2005-09-06\n"
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        info = tarfile.TarInfo("training_set/mv_0000001.txt")
        info.size = len(text)
        archive.addfile(info, io.BytesIO(text))
        other = tarfile.TarInfo("training_set/mv_0000002.txt")
        types = {"sparse": tarfile.GNUTYPE_SPARSE, "hard link": tarfile.LNKTYPE}
        other.type = types.get(kind, tarfile.SYMTYPE)
        other.linkname = "" if kind == "sparse" else info.name
        archive.addfile(other)
    (tmp_path / "nf.tar").write_bytes(buffer.getvalue())
    message = message_of(tmp_path / "nf.tar", "netflix")
    assert "mv_0000002.txt is a" in message
    assert "unpack the archive" in message


def test_parquet_with_an_id_that_is_not_utf8(tmp_path):
    path = tmp_path / "mine.parquet"
    for dictionary in (True, False):
        table = pa.table({"user": ["zzzzz", "b"], "item": ["b", "c"]})
        pa.parquet.write_table(
            table, path, use_dictionary=dictionary, compression="none", write_statistics=False
        )
        path.write_bytes(path.read_bytes().replace(b"zzzzz", b"zz\xffzz"))
        message = message_of(path, "parquet")
        assert "not a readable parquet file" in message
        assert "UTF8" in message


def test_parquet_of_which_only_a_part_can_be_read(tmp_path):
    """A flipped bit that a fuzzer found: Arrow gave 15 of 116 rows and no error."""
    users = [str(u) for u in range(1, 25) for i in range(1 + u % 3, 30, u)]
    items = [i for u in range(1, 25) for i in range(1 + u % 3, 30, u)]
    table = pa.table({"user": users, "item": items, "rating": [4.5] * len(users)})
    path = tmp_path / "mine.parquet"
    pa.parquet.write_table(table, path, row_group_size=50, compression="zstd")
    assert len(read_interactions(path, "parquet")) == len(users)
    whole = path.read_bytes()
    refused = 0
    for at in range(len(whole) - 1100, len(whole) - 300):  # what the footer says of row groups
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        try:
            assert len(read_interactions(path, "parquet")) == len(users)
        except UserError:
            refused += 1
    assert refused


def test_parquet_with_a_name_that_is_not_utf8(tmp_path):
    path = tmp_path / "mine.parquet"
    pd.DataFrame({"user": ["a"], "item": ["b"], "zzzzz": [1]}).to_parquet(path)
    data = path.read_bytes().replace(b"zzzzz", b"zz\xffzz")
    path.write_bytes(data)
    assert "not a readable parquet file" in message_of(path, "parquet")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("format", "header"),
    [("csv", "user,item"), ("csv", '"item","user"'), ("tsv", "user\titem")],
)
def test_a_header_line_that_comes_again(format, header, mark, tmp_path):
    """As after `cat a.csv b.csv`: the line would be a user, and numbers would sort as texts."""
    one = f"{mark}{header}\n" + ("1,2\n3,4\n" if "," in header else "1\t2\n3\t4\n")
    path = tmp_path / "x"
    path.write_text(one * 2, encoding="utf-8")
    with pytest.raises(UserError, match="line 4: the header line again, as if two files"):
        read_interactions(path, format)


def test_a_user_may_be_called_user(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("user,item\nuser,2\n1,item\n")
    assert len(read_interactions(path, "csv")) == 2


def zipped(text, comment=b""):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("x.csv", text)
        archive.comment = comment
    return buffer.getvalue()


def test_two_files_joined_of_which_one_is_a_zip(tmp_path):
    """Python reads the last archive of a file and passes over all other bytes."""
    text = "user,item\n1,2\n3,4\n"
    one, path = zipped(text), tmp_path / "x.zip"
    for content in (one + one, text.encode() + one, one + text.encode(), one + bytes(9) + one):
        path.write_bytes(content)
        with pytest.raises(UserError, match="bytes before or behind the zip archive"):
            read_interactions(path, "csv")
    for content in (one, one + bytes(99), zipped(text, b"a comment\0")):
        path.write_bytes(content)
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
