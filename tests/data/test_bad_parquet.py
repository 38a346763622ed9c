"""Errors for a parquet file that is damaged, or whose columns cannot be ids."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from lindrop.base.errors import UserError
from lindrop.data.formats import read_interactions
from support.refusals import message_of


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
    """A fuzzer flipped a bit, after which Arrow returned 15 of 116 rows without an error."""
    users = [str(u) for u in range(1, 25) for i in range(1 + u % 3, 30, u)]
    items = [i for u in range(1, 25) for i in range(1 + u % 3, 30, u)]
    table = pa.table({"user": users, "item": items, "rating": [4.5] * len(users)})
    path = tmp_path / "mine.parquet"
    pa.parquet.write_table(table, path, row_group_size=50, compression="zstd")
    assert len(read_interactions(path, "parquet")) == len(users)
    whole = path.read_bytes()
    refused = 0
    for at in range(len(whole) - 1100, len(whole) - 300):  # where the footer describes row groups
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        try:
            assert len(read_interactions(path, "parquet")) == len(users)
        except UserError:
            refused += 1
    assert refused


def test_parquet_whose_schema_says_another_type_than_its_values_have(tmp_path):
    """A fuzzer flipped a bit of the schema, after which halves of doubles were read as 0."""
    path, folder = tmp_path / "mine.parquet", tmp_path / "folder"
    table = pa.table({"user": ["a", "b"] * 60, "item": [1, 2] * 60, "rating": [4.5] * 120})
    pa.parquet.write_table(table, path, row_group_size=50, compression="none")
    whole, double, single = path.read_bytes(), b"\x15\n%\x02\x18\x06rating", b"\x15\x08%"
    assert whole.count(double) == 1
    path.write_bytes(whole.replace(double, single + double[3:]))
    folder.mkdir()
    for name in ("1", "2"):
        (folder / f"{name}.parquet").write_bytes(path.read_bytes())
    for place in (path, folder):
        message = message_of(place, "parquet", rating="rating", min_rating=3.5)
        assert "not a readable parquet file" in message
        assert "DOUBLE vs. FLOAT" in message
        assert len(read_interactions(place, "parquet")) > 0  # the ids are intact


def test_parquet_with_a_name_that_is_not_utf8(tmp_path):
    path = tmp_path / "mine.parquet"
    pd.DataFrame({"user": ["a"], "item": ["b"], "zzzzz": [1]}).to_parquet(path)
    data = path.read_bytes().replace(b"zzzzz", b"zz\xffzz")
    path.write_bytes(data)
    assert "not a readable parquet file" in message_of(path, "parquet")
