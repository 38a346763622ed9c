"""Every published layout, packed in every published way, gives the same interactions."""

import gzip
import hashlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
import yaml

from lindrop.base.errors import UserError
from lindrop.data.formats import read_interactions
from lindrop.data.interactions import RawCounts
from support.files import (
    RATINGS,
    films,
    ratings_csv,
    ratings_dat,
    triplets,
    u_data,
    write_netflix_tar,
    write_zip,
)
from support.repository import REPOSITORY


def pairs(data):
    """Raw (user, item) in file order."""
    return list(zip(data.user_ids[data.user], data.item_ids[data.item], strict=True))


def kept(rows, threshold=3.5):
    return [(user, item) for user, item, rating in rows if float(rating) > threshold]


LAYOUTS = {"u.data": u_data, "ratings.dat": ratings_dat, "ratings.csv": ratings_csv}
WHOLE_STARS = [(u, i, r[0]) for u, i, r in RATINGS]


@pytest.mark.parametrize("packed", ["plain", "renamed", "zip", "gz"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_movielens(name, packed, tmp_path):
    text = LAYOUTS[name]()
    path = tmp_path / name
    if packed == "zip":
        path = write_zip(tmp_path / "ml.zip", {"ml/README": "ratings", f"ml/{name}": text})
    elif packed == "gz":
        path = tmp_path / f"{name}.gz"
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path = tmp_path / (name if packed == "plain" else "mine.txt")
        path.write_text(text, newline="")
    data = read_interactions(path, "movielens", min_rating=3.5)
    assert pairs(data) == kept(RATINGS if name == "ratings.csv" else WHOLE_STARS)
    assert data.raw == RawCounts(6, 3, 3)
    assert list(data.user_ids) == ["3", "12", "40"]  # as integers
    assert data.min_rating == 3.5


def test_without_a_threshold_every_row_is_kept(tmp_path):
    (tmp_path / "u.data").write_text(u_data())
    assert pairs(read_interactions(tmp_path / "u.data", "movielens")) == kept(RATINGS, 0)


@pytest.mark.parametrize("packed", ["plain", "zip"])
def test_msd(packed, tmp_path):
    path = tmp_path / "train_triplets.txt"
    if packed == "zip":
        path = write_zip(tmp_path / "t.zip", {"train_triplets.txt": triplets()})
    else:
        path.write_text(triplets())
    assert pairs(read_interactions(path, "msd")) == kept(RATINGS, 0)


def by_film(rows):
    return [row for film in sorted(films(rows)) for row in rows if int(row[1]) == film]


@pytest.mark.parametrize(
    "packed", ["tar.gz", "unsorted tar.gz", "folder", "kaggle zip", "kaggle folder", "one file"]
)
def test_netflix(packed, tmp_path):
    texts = dict(sorted(films().items()))
    parts = ["".join([texts[5], texts[7]]), texts[11]]
    if packed.endswith("tar.gz"):
        order = sorted(texts, reverse=packed.startswith("unsorted"))
        path = write_netflix_tar(tmp_path / "nf.tar.gz", {film: texts[film] for film in order})
    elif packed == "folder":
        path = tmp_path / "training_set"
        path.mkdir()
        for film, text in texts.items():
            (path / f"mv_{film:07d}.txt").write_text(text.rstrip("\n"))
    elif packed == "kaggle zip":
        names = {f"combined_data_{k + 1}.txt": part for k, part in enumerate(parts)}
        path = write_zip(tmp_path / "archive.zip", names | {"movie_titles.csv": "1,2003,x\n"})
    elif packed == "kaggle folder":
        path = tmp_path / "kaggle"
        path.mkdir()
        for k, part in enumerate(parts):
            (path / f"combined_data_{k + 1}.txt").write_text(part)
    else:
        path = tmp_path / "all.txt"
        path.write_text("".join(parts))
    data = read_interactions(path, "netflix", min_rating=3.5)
    assert pairs(data) == kept(by_film(WHOLE_STARS))
    assert data.raw == RawCounts(6, 3, 3)  # a user or film of which nothing is kept still counts


def test_netflix_text_is_cut_anywhere(tmp_path, monkeypatch):
    """Buffers end in the middle of lines, films and files."""
    random = np.random.default_rng(0)
    rows = [
        (str(user), str(film), str(random.integers(1, 6)))
        for film in range(1, 40)
        for user in random.choice(1000, size=random.integers(1, 30), replace=False)
    ]
    path = tmp_path / "combined_data_1.txt"
    path.write_text("".join(films(rows).values()))
    for size in (7, 64, 1000):
        monkeypatch.setattr("lindrop.data.netflix.BUFFER_BYTES", size)
        assert pairs(read_interactions(path, "netflix", min_rating=2)) == kept(rows, 2)


def test_the_same_ratings_in_every_published_format(shared):
    """formats/ holds MovieLens 100K re-written: the same events whatever the layout."""
    u_data = read_interactions(shared / "ml-100k" / "u.data", "movielens", min_rating=3.5)
    events = set(pairs(u_data))
    assert len(u_data) == len(events) == 55375
    for file, format in (
        ("ml-100k/ml-100k.zip", "movielens"),
        ("formats/ml-20m-format-from-100k.zip", "movielens"),
        ("formats/netflix-format-from-100k.tar.gz", "netflix"),
        ("formats/netflix-kaggle-layout-from-100k.zip", "netflix"),
    ):
        data = read_interactions(shared / file, format, min_rating=3.5)
        assert set(pairs(data)) == events, file
        assert data.raw == RawCounts(100_000, 943, 1682), file


def test_the_configuration_of_movielens_100k_states_its_ratings_file(shared):
    """The sha256 is the one that public loaders of this file check; our archive is repacked."""
    entry = yaml.safe_load((REPOSITORY / "config" / "ml-100k.yaml").read_text())["datasets"]
    content = (shared / "ml-100k" / "u.data").read_bytes()
    stated = entry["ml-100k"]["source"]
    assert stated["url"].endswith("/u.data")
    assert stated["bytes"] == len(content)
    assert stated["sha256"] == hashlib.sha256(content).hexdigest()


ODD_IDS = [
    "007",
    "7",
    " spaced ",
    'say "hi"',
    "a,b",
    "Zoë",
    "日本",
    "NA",
    "null",
    "1e3",
    "-4",
    "x\ty",
]


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "zip", "tsv", "parquet"])
def test_own_tables_keep_odd_ids_as_they_are(kind, tmp_path):
    frame = pd.DataFrame({"time": 1, "who": ODD_IDS, "what": ODD_IDS[::-1], "stars": 5.0})
    path = tmp_path / f"mine.{kind}"
    if kind == "parquet":
        frame.to_parquet(path)
    elif kind == "zip":
        write_zip(path, {"mine.csv": frame.to_csv(index=False)})
    else:
        frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    format = {"csv.gz": "csv", "zip": "csv"}.get(kind, kind)
    data = read_interactions(path, format, user="who", item="what", rating="stars", min_rating=4)
    assert pairs(data) == list(zip(ODD_IDS, ODD_IDS[::-1], strict=True))
    assert list(data.user_ids) == sorted(ODD_IDS)


def test_integer_ids_of_a_parquet_file_sort_as_integers(tmp_path):
    frame = pd.DataFrame({"user": [10, 9, 10], "item": pd.Categorical(["b", "a", "a"])})
    frame.to_parquet(tmp_path / "mine.parquet")
    data = read_interactions(tmp_path / "mine.parquet", "parquet")
    assert list(data.user_ids) == ["9", "10"]
    assert pairs(data) == [("10", "b"), ("9", "a"), ("10", "a")]


def test_byte_order_mark_and_blank_lines_are_no_rows(tmp_path):
    (tmp_path / "mine.csv").write_text("user,item\n1,2\n\n3,4\n\n", encoding="utf-8-sig")
    assert pairs(read_interactions(tmp_path / "mine.csv", "csv")) == [("1", "2"), ("3", "4")]


def test_last_line_without_an_end(tmp_path):
    (tmp_path / "mine.csv").write_text("user,item\n1,2\n3,4")
    assert pairs(read_interactions(tmp_path / "mine.csv", "csv")) == [("1", "2"), ("3", "4")]


def test_threshold_is_strict_and_exact(tmp_path):
    (tmp_path / "mine.csv").write_text("user,item,r\n1,1,3.3\n2,1,3.3000000000000003\n")
    data = read_interactions(tmp_path / "mine.csv", "csv", rating="r", min_rating=3.3)
    assert pairs(data) == [("2", "1")]


def test_unknown_format():
    with pytest.raises(UserError, match="'excel' is not one of movielens, netflix, msd, csv"):
        read_interactions(__file__, "excel")


def test_line_breaks_in_quoted_text_of_other_columns(tmp_path, monkeypatch):
    monkeypatch.setattr("lindrop.data.delimited.BLOCK_BYTES", 1 << 12)
    frame = pd.DataFrame({"user": range(3000), "review": "one,\ntwo\n", "item": range(3000)})
    frame.to_csv(tmp_path / "mine.csv", index=False)
    data = read_interactions(tmp_path / "mine.csv", "csv")
    assert pairs(data) == [(str(k), str(k)) for k in range(3000)]


def test_names_in_capitals_and_the_litter_of_other_systems(tmp_path):
    litter = {"__MACOSX/ml/._ratings.csv": "x", "ml/RATINGS.CSV": ratings_csv()}
    path = write_zip(tmp_path / "ML.ZIP", litter)
    assert pairs(read_interactions(path, "movielens", min_rating=3.5)) == kept(RATINGS)


def test_ratings_of_a_parquet_file_may_be_any_number(tmp_path):
    for ratings in ([2**53 + 1, 1], [2.5, 1.0]):
        frame = pd.DataFrame({"user": ["a", "b"], "item": ["x", "y"], "r": ratings})
        frame.to_parquet(tmp_path / "mine.parquet")
        data = read_interactions(tmp_path / "mine.parquet", "parquet", rating="r", min_rating=2)
        assert pairs(data) == [("a", "x")]


def test_movielens_written_by_another_program_with_quotes(tmp_path):
    quoted = '"userId","movieId","rating","timestamp"\n"12","5","4.0","9"\n'
    (tmp_path / "ratings.csv").write_text(quoted)
    data = read_interactions(tmp_path / "ratings.csv", "movielens", min_rating=3.5)
    assert pairs(data) == [("12", "5")]


def test_what_is_no_file_in_a_folder_is_passed_over(tmp_path):
    (tmp_path / "ratings.csv").write_text(ratings_csv())
    (tmp_path / "u.data").symlink_to(tmp_path / "nowhere")
    assert pairs(read_interactions(tmp_path, "movielens")) == kept(RATINGS, 0)


def test_quotes_in_the_middle_of_a_value_are_characters(tmp_path, monkeypatch):
    """Python's csv reads them so, too: only a quote at the start of a value opens something."""
    monkeypatch.setattr("lindrop.data.delimited.BLOCK_BYTES", 1 << 12)
    middle = 'user,item,note\n5" disk,a,x\nb,say "hi",y\n"c ""d""","e,f","1\n2"\n'
    rows = "".join(f'{k},"{k}","""{k}"""\r\n' for k in range(2000))
    path = tmp_path / "mine.csv"
    path.write_text(middle + rows, newline="")
    data = read_interactions(path, "csv")
    assert pairs(data)[:4] == [('5" disk', "a"), ("b", 'say "hi"'), ('c "d"', "e,f"), ("0", "0")]
    assert len(data) == 2003


def test_names_of_columns_may_be_long_and_hold_line_breaks(tmp_path):
    others = ",".join(f'"column\nnumber {k}"' for k in range(20_000))
    (tmp_path / "mine.csv").write_text(f"{others},user,item\n{',' * 20_000}a,b\n")
    assert (tmp_path / "mine.csv").stat().st_size > 1 << 18
    assert pairs(read_interactions(tmp_path / "mine.csv", "csv")) == [("a", "b")]
    (tmp_path / "mine.csv").write_text('"a user\nid",item\u2028id\n1,2\n', encoding="utf-8")
    data = read_interactions(tmp_path / "mine.csv", "csv", user="a user\nid", item="item\u2028id")
    assert pairs(data) == [("1", "2")]


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_a_threshold_means_the_same_whatever_the_precision_of_the_ratings(kind, tmp_path):
    """2.2 in float32 is 2.2000000477, which is above 2.2."""
    ratings = np.arange(1, 51) / 10
    table = pa.table({"user": range(50), "item": range(50), "rating": ratings.astype(kind)})
    pa.parquet.write_table(table, tmp_path / "x.parquet")
    for row, threshold in enumerate(ratings):
        found = read_interactions(
            tmp_path / "x.parquet", "parquet", rating="rating", min_rating=float(threshold)
        )
        assert len(found) == 49 - row
