"""A folder of files is read as one set of interactions, the same as one file with all rows."""

import itertools
import logging

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from lindrop.base.errors import UserError
from lindrop.data import folders, interactions, parquet
from lindrop.data.formats import read_interactions
from lindrop.data.tables import Columns
from support.refusals import message_of

PLACES = {
    "dense": np.arange(60),
    "narrow": np.arange(60, dtype=np.int8),
    "wide": np.arange(60) ** 9,
    "unsigned": np.arange(60, dtype=np.uint64) + np.uint64(2**62),  # float64 cannot tell them apart
}


def table(rows=3000, seed=1, ids=None):
    """Events with repeats, in no order, and ratings."""
    random = np.random.default_rng(seed)
    ids = np.arange(60) if ids is None else ids
    return pd.DataFrame(
        {
            "item": ids[random.integers(0, 60, rows)],
            "extra": "x",
            "user": random.integers(0, 200, rows) + 5,
            "rating": random.integers(1, 6, rows) / 1.0,
        }
    )


def parts_of(frame, count=4):
    """Consecutive rows of a table in several parts."""
    cuts = np.linspace(0, len(frame), count + 1).astype(int)
    return [frame.iloc[first:last] for first, last in itertools.pairwise(cuts)]


def write(folder, frame, ending, **options):
    """Write a table to files of a new folder, in rows of that order, and to one file beside it."""
    folder.mkdir()
    for number, part in enumerate(parts_of(frame)):
        save(part, folder / f"part-{number}.{ending}", **options)
    whole = folder.with_suffix(f".{ending}")
    save(frame, whole, **options)
    return whole


def save(frame, path, **options):
    if path.suffix == ".parquet":
        table = pa.Table.from_pandas(frame, preserve_index=False)
        pa.parquet.write_table(table, path, row_group_size=300, **options)
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in path.name else ",")


def assert_same(a, b):
    assert a.raw == b.raw
    assert a.min_rating == b.min_rating
    assert a.user_ids.tolist() == b.user_ids.tolist()
    assert a.item_ids.tolist() == b.item_ids.tolist()
    assert a.columns().keys() == b.columns().keys()
    for name, values in a.columns().items():
        assert values.dtype == b.columns()[name].dtype
        assert np.array_equal(values, b.columns()[name])


@pytest.mark.parametrize("statistics", [True, False])
@pytest.mark.parametrize("of", PLACES)
@pytest.mark.parametrize("min_rating", [None, 3.0])
def test_integer_ids_of_parquet_files(of, statistics, min_rating, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "BATCH_ROWS", 128)
    monkeypatch.setattr(folders, "HELD", 50)
    monkeypatch.setattr(folders, "RANKED", 100)
    frame = table(ids=PLACES[of])
    whole = write(tmp_path / "set", frame, "parquet", write_statistics=statistics)
    options = {"rating": "rating", "min_rating": min_rating}
    assert_same(
        read_interactions(tmp_path / "set", "parquet", **options),
        read_interactions(whole, "parquet", **options),
    )


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet"])
@pytest.mark.parametrize("of", ["text", "negative", "number"])
@pytest.mark.parametrize("min_rating", [None, 3.0])
def test_ids_of_any_kind(ending, of, min_rating, tmp_path):
    frame = table()
    if of == "text":
        frame["item"] = [f"item {number}" for number in frame["item"]]
    elif of == "negative":
        frame["item"] -= 7
    frame["when"] = np.random.default_rng(2).integers(0, 10**9, len(frame))
    whole = write(tmp_path / "set", frame, ending)
    options = {"rating": "rating", "min_rating": min_rating, "time": "when"}
    format = ending.split(".")[0]
    assert_same(
        read_interactions(tmp_path / "set", format, **options),
        read_interactions(whole, format, **options),
    )


def test_ids_beyond_int64_are_read_as_texts(tmp_path):
    frame = table(ids=np.arange(60).astype(np.uint64) + np.uint64(2**64 - 60))
    for statistics in (True, False):
        whole = write(tmp_path / f"{statistics}", frame, "parquet", write_statistics=statistics)
        found = read_interactions(tmp_path / f"{statistics}", "parquet")
        assert_same(found, read_interactions(whole, "parquet"))
        assert found.item_ids[-1] == "18446744073709551615"


def test_very_many_integer_ids_stay_integers(tmp_path, monkeypatch):
    frame = table(ids=PLACES["wide"])
    whole = write(tmp_path / "set", frame, "parquet")
    frame[["user", "item"]].to_csv(tmp_path / "set.csv", index=False)
    expected = read_interactions(whole, "parquet")
    assert expected.user_ids.dtype == object
    monkeypatch.setattr(interactions, "MANY_IDS", 50)
    for path in (tmp_path / "set", whole, tmp_path / "set.csv"):
        found = read_interactions(path, path.suffix[1:] or "parquet")
        assert found.user_ids.dtype == np.int64
        assert found.item_ids.dtype == np.int64
        assert found.item_ids.astype(str).tolist() == expected.item_ids.tolist()
        assert [x for part in interactions.texts(found.user_ids, 7) for x in part] == list(
            expected.user_ids
        )
        assert np.array_equal(found.user, expected.user)
        assert np.array_equal(found.item, expected.item)


def test_very_many_texts_stay_texts(tmp_path, monkeypatch):
    monkeypatch.setattr(interactions, "MANY_IDS", 2)
    for ids in (["a", "b", "7"], ["1", "02", "3"], ["1", "2", "9" * 19], ["1", "-2", "3"]):
        frame = pd.DataFrame({"user": ids, "item": ids})
        frame.to_csv(tmp_path / "x.csv", index=False)
        assert sorted(read_interactions(tmp_path / "x.csv", "csv").user_ids) == sorted(ids)


def test_files_are_read_in_the_order_of_their_names(tmp_path):
    names = ["b/part-1", "b/part-0", "a", "c", "b/part-10"]
    for number, name in enumerate(names):
        path = tmp_path / f"{name}.parquet"
        path.parent.mkdir(exist_ok=True)
        save(pd.DataFrame({"user": [number], "item": [0]}), path)
    assert read_interactions(tmp_path, "parquet").user.tolist() == [2, 1, 0, 4, 3]


def test_files_of_other_programs_are_left_out(tmp_path):
    write(tmp_path / "set", table(), "parquet")
    for name in ("_SUCCESS", ".part-9.parquet", "_metadata.parquet", "notes.txt"):
        (tmp_path / "set" / name).write_text("no data")
    (tmp_path / "set" / "_temporary").mkdir()
    (tmp_path / "set" / "_temporary" / "part-9.parquet").write_text("no data")
    assert len(read_interactions(tmp_path / "set", "parquet")) == 3000


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_lies_on_another_disk_is_read_by_its_link(ending, tmp_path):
    """A link to a file or to a folder, which is entered once even if it leads to itself."""
    whole = write(tmp_path / "set", table(), ending)
    (tmp_path / "disk").mkdir()
    (tmp_path / "set" / f"part-2.{ending}").rename(tmp_path / "disk" / f"part-2.{ending}")
    (tmp_path / "set" / "link").symlink_to(tmp_path / "disk")
    (tmp_path / "disk" / "round").symlink_to(tmp_path / "set")
    assert len(read_interactions(tmp_path / "set", ending)) == 3000
    (tmp_path / "set" / "link").unlink()
    file = tmp_path / "set" / f"part-2.{ending}"
    file.symlink_to(tmp_path / "disk" / file.name)
    assert_same(read_interactions(tmp_path / "set", ending), read_interactions(whole, ending))


@pytest.mark.parametrize(
    ("ending", "name"),
    [
        *(("csv", name) for name in ("b.csv.bz2", "b.zip", "b.csv.part", "b.csv~", "b.tsv.zst")),
        *(("parquet", name) for name in ("b.pq", "b.parquet.gz", "b.PARQUET.bak")),
    ],
)
def test_a_file_that_looks_like_data_is_not_left_out_in_silence(ending, name, tmp_path):
    write(tmp_path / "set", table(), ending)
    for other in (f"part-0.{ending}.sha256", "README.md", "_SUCCESS", f".{name}"):
        (tmp_path / "set" / other).write_text("no data")
    assert len(read_interactions(tmp_path / "set", ending)) == 3000
    (tmp_path / "set" / name).write_text("perhaps data")
    message = message_of(tmp_path / "set", ending)
    assert f"{name}: looks like data, but only *.{ending}" in message


def test_capitals_and_lost_and_double_links(tmp_path):
    write(tmp_path / "set", table(), "parquet")
    file = tmp_path / "set" / "part-2.parquet"
    file.rename(file.with_suffix(".PARQUET"))
    assert len(read_interactions(tmp_path / "set", "parquet")) == 3000
    file.symlink_to("part-1.parquet")
    assert "part-2.parquet: the same file as" in message_of(tmp_path / "set", "parquet")
    file.unlink()
    file.symlink_to("nowhere")
    assert "a link to a file that is not there" in message_of(tmp_path / "set", "parquet")


@pytest.mark.parametrize("kind", [int, str])
def test_a_file_without_rows_adds_nothing(kind, tmp_path):
    frame = table().astype({"item": kind})
    write(tmp_path / "set", frame, "parquet")
    save(frame.iloc[:0], tmp_path / "set" / "part-1a.parquet")
    assert_same(
        read_interactions(tmp_path / "set", "parquet"),
        read_interactions(tmp_path / "set.parquet", "parquet"),
    )
    (tmp_path / "empty").mkdir()
    save(frame.iloc[:0], tmp_path / "empty" / "a.parquet")
    assert "empty: the files hold no rows" in message_of(tmp_path / "empty", "parquet")


@pytest.mark.parametrize("format", ["parquet", "csv", "tsv"])
def test_an_empty_folder(format, tmp_path):
    (tmp_path / "other.jpg").write_text("")
    assert f"{tmp_path}: holds no file named *." in message_of(tmp_path, format)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_file_with_other_columns_is_named(ending, tmp_path):
    write(tmp_path / "set", table(), ending)
    save(table().rename(columns={"user": "who"}), tmp_path / "set" / f"part-2.{ending}")
    message = message_of(tmp_path / "set", ending)
    assert f"part-2.{ending}: no column named 'user'; the file has 'item', 'extra', 'wh" in message


def test_a_file_with_ids_of_another_type_is_named(tmp_path):
    write(tmp_path / "set", table(), "parquet")
    save(table().astype({"user": str}), tmp_path / "set" / "part-3.parquet")
    message = message_of(tmp_path / "set", "parquet")
    assert "part-3.parquet: column 'user' holds texts, but integers in" in message
    assert "write all files of a folder with the same types" in message


@pytest.mark.parametrize("first", ["dates", "numbers"])
def test_dates_in_one_file_and_numbers_in_another_are_refused(first, tmp_path):
    texts = {"dates": "2001-02-03 10:00:00", "numbers": "7.5"}
    for number, kind in enumerate(texts if first == "dates" else reversed(texts)):
        (tmp_path / f"{number}.csv").write_text(f"user,item,when\n1,2,{texts[kind]}\n")
    message = message_of(tmp_path, "csv", time="when")
    of = {"dates": "01", "numbers": "10"}[first]
    assert f"{tmp_path}/{of[0]}.csv: the times are dates, but numbers in " in message
    assert f"{tmp_path}/{of[1]}.csv; write all files" in message


@pytest.mark.parametrize("ids", ["numbers", "texts"])
def test_a_damaged_file_is_named(ids, tmp_path):
    frame = table() if ids == "numbers" else table().astype({"user": str})
    write(tmp_path / "set", frame, "parquet")
    path = tmp_path / "set" / "part-2.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert f"{path}: not a readable parquet file" in message_of(tmp_path / "set", "parquet")
    damaged = 0
    for place in range(10, len(whole) // 2, 97):
        path.write_bytes(whole[:place] + b"\xff\xff\xff" + whole[place + 3 :])
        message = None
        try:
            read_interactions(tmp_path / "set", "parquet")
        except UserError as error:
            message = str(error)
        assert message is None or str(path) in message
        damaged += message is not None
    assert damaged


def test_statistics_that_are_wrong_are_noticed(tmp_path, monkeypatch):
    write(tmp_path / "set", table(), "parquet")
    monkeypatch.setattr(folders, "_bounds", lambda files, name: (0, 20))
    message = message_of(tmp_path / "set", "parquet")
    assert "part-0.parquet: not a readable parquet file (an id is outside the statist" in message


def test_missing_ids_and_ratings_are_named(tmp_path):
    write(tmp_path / "set", table(), "parquet")
    path = tmp_path / "set" / "part-2.parquet"
    frame = table(10)
    frame.loc[4, "rating"] = np.nan
    save(frame, path)
    message = message_of(tmp_path / "set", "parquet", rating="rating", min_rating=2.0)
    assert f"{path}, row 5: the rating is missing" in message
    frame = frame.astype({"user": "Int64"})
    frame.loc[4, "user"] = pd.NA
    save(frame, path)
    assert f"{path}: column 'user' has 1 empty ids" in message_of(tmp_path / "set", "parquet")


def test_a_bad_line_of_a_text_is_named(tmp_path):
    write(tmp_path / "set", table(), "csv")
    path = tmp_path / "set" / "part-1.csv"
    path.write_text("user,item\n1,2\n3\n")
    assert f"{path}, line 3: 1 columns instead of 2" in message_of(tmp_path / "set", "csv")


def test_progress_tells_the_time_left(tmp_path, monkeypatch, caplog):
    from lindrop.base import reporting

    class Often(reporting.Progress):
        def __init__(self, *args, **options):
            super().__init__(*args, **(options | {"every": 0}))

    monkeypatch.setattr(folders, "Progress", Often)
    caplog.set_level(logging.INFO, "lindrop")
    write(tmp_path / "set", table(), "parquet")
    read_interactions(tmp_path / "set", "parquet")
    assert "reading 4 files of" in caplog.text
    assert "750 of 3,000 rows (25 %)" in caplog.text
    assert "s left" in caplog.text


def test_rows_are_counted_without_reading_them(tmp_path):
    columns = Columns("user", "item")
    write(tmp_path / "numbers", table(), "parquet")
    write(tmp_path / "texts", table().astype({"item": str}), "parquet")
    (tmp_path / "empty").mkdir()
    assert folders.rows_of_numbers(tmp_path / "numbers", columns) == 3000
    assert folders.rows_of_numbers(tmp_path / "texts", columns) is None
    assert folders.rows_of_numbers(tmp_path / "empty", columns) is None
    (tmp_path / "numbers" / "x.parquet").write_text("damaged")
    assert folders.rows_of_numbers(tmp_path / "numbers", columns) is None
