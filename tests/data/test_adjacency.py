"""Reading files in which each line has a user and the user's items."""

import gzip

import pytest

from lindrop.base.errors import UserError
from lindrop.data.formats import read_interactions


def test_lines_of_items_may_be_gzipped_and_bad_ones_are_told(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("ü 1\t2 \r\n\n7 2\nü 3".encode()))
    read = read_interactions(tmp_path / "a.txt.gz", "adjacency")
    assert read.user_ids[read.user].tolist() == ["ü", "ü", "7", "ü"]
    assert read.item_ids[read.item].tolist() == ["1", "2", "2", "3"]
    for content, said in ((b"1\n2\n", "holds no rows"), (b"1 2\n\xff 3\n", "line 2: not UTF-8")):
        (tmp_path / "b.txt").write_bytes(content)
        with pytest.raises(UserError, match=said):
            read_interactions(tmp_path / "b.txt", "adjacency")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0 1 2\r1 3\r", "control character"),
        ("0 1 2\r1 3\n2 4\n", "control character"),
        ("0 1\x0b2\n", "control character"),
        ("user item rating\na x 4\nb y 5\n", "line 1: a header line, which files of this format"),
        ("0 1 2\n\ufeff1 3\n", "line 2: a byte order mark"),
        ("user items\n0 1 2\n1 3\n", "line 1: not of numbers"),
        ("user_id item_id\na b\n", "line 1: a header line"),
        ("0, 1, 2\n1, 3\n", "line 1: ids must be separated by blanks alone"),
        ("0 1\n1: 3\n", "line 2: ids must be separated by blanks alone"),
        ("version https://git-lfs.github.com/spec/v1\nsize 5\n", "a note of Git LFS"),
    ],
)
def test_lines_of_items_that_would_be_read_as_other_items_are_refused(tmp_path, text, said):
    (tmp_path / "a.txt").write_bytes(text.encode())
    with pytest.raises(UserError, match=said):
        read_interactions(tmp_path / "a.txt", "adjacency")


def test_a_byte_order_mark_is_no_part_of_a_user_and_other_spaces_are_part_of_an_id(tmp_path):
    (tmp_path / "a.txt").write_bytes("\ufeff0 1\xa02 3\r\n".encode())
    read = read_interactions(tmp_path / "a.txt", "adjacency")
    assert read.user_ids.tolist() == ["0"]
    assert read.item_ids[read.item].tolist() == ["1\xa02", "3"]


def test_what_a_format_does_not_have_is_not_asked_for_in_silence(tmp_path):
    (tmp_path / "a.txt").write_text("0 1 2\n")
    with pytest.raises(UserError, match="has no ratings"):
        read_interactions(tmp_path / "a.txt", "adjacency", min_rating=3.5)
    for format in ("adjacency", "netflix", "msd"):
        with pytest.raises(UserError, match="none are read from format"):
            read_interactions(tmp_path / "a.txt", format, time="when")
