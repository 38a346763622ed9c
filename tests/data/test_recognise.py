"""Formats and columns are recognised, or it is said which option names them."""

import gzip
import zipfile

import pandas as pd
import pytest

from lindrop.base.errors import UserError
from lindrop.data.recognise import columns_of, format_of

LINES = {
    "csv": "user,item\na,b\n",
    "tsv": "user\titem\na\tb\n",
    "movielens": "196\t242\t3\t881250949\n",
    "movielens, dat": "1::1193::5::978300760\n",
    "adjacency": "1 2 3\n2 5\n",
    "netflix": "1:\n5,3,2005-09-06\n",
}


@pytest.mark.parametrize("packed", ["plain", "gz", "zip"])
@pytest.mark.parametrize("form", LINES)
def test_texts_are_known_by_their_first_line(tmp_path, form, packed):
    path = tmp_path / "data.txt"
    path.write_text(LINES[form])
    if packed == "gz":
        path = tmp_path / "data.txt.gz"
        path.write_bytes(gzip.compress(LINES[form].encode()))
    elif packed == "zip":
        path = tmp_path / "data.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("data.txt", LINES[form])
    assert format_of(path) == form.partition(",")[0]


@pytest.mark.parametrize("packed", ["plain", "gz", "zip"])
@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_a_title_above_a_table_does_not_make_its_rows_lists_of_ids(tmp_path, form, packed):
    """Half of each item's name would be an item, and the rest a part of the user's id."""
    text = "My export of 2024\n\nuser,item\nu1,Toy Story\nu2,Heat and Dust\n"
    path = tmp_path / f"data.{form}"
    path.write_text(text)
    if packed == "gz":
        path = tmp_path / f"data.{form}.gz"
        path.write_bytes(gzip.compress(text.encode()))
    elif packed == "zip":
        path = tmp_path / "data.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"data.{form}", text)
    assert format_of(path) == form
    with pytest.raises(UserError, match="which column holds the users and items"):
        columns_of(path, form, {})


@pytest.mark.parametrize("fields", ["1 4 5", "1 4 5 881250949"])
def test_rows_of_a_table_between_blanks_are_not_lists_of_items(tmp_path, fields):
    """Ratings and times would be items."""
    path = tmp_path / "ratings.txt"
    path.write_text(f"{fields}\n{fields.replace('4', '6')}\n2{fields[1:]}\n")
    with pytest.raises(UserError, match=rf"every line has {len(fields.split())} values between"):
        format_of(path)
    for text in (f"{fields}\n2{fields[1:]}\n", f"{fields}\n{fields} 9\n", "1 4\n1 5\n2 4\n"):
        path.write_text(text)
        assert format_of(path) == "adjacency"


def test_archives_and_folders_are_known_by_their_names(tmp_path):
    for name, form in {
        "ml-1m/ratings.dat": "movielens",
        "combined_data_1.txt": "netflix",
        "train_triplets.txt": "msd",
    }.items():
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            archive.writestr(name, "x")
        assert format_of(tmp_path / "a.zip") == form
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "part-1.tsv").write_text(LINES["tsv"])
    assert format_of(folder) == "tsv"
    pd.DataFrame({"user": [1], "item": [2]}).to_parquet(folder / "part-2.parquet")
    with pytest.raises(UserError, match=r"part-2\.parquet and part-1\.tsv, which are of two"):
        format_of(folder)  # one of them would be passed over
    (folder / "part-1.tsv").rename(folder / "_part-1.tsv")
    assert format_of(folder) == "parquet"
    assert format_of(folder / "part-2.parquet") == "parquet"


def test_real_archives_are_recognised(shared):
    for name, form in {
        "ml-1m/ml-1m.zip": "movielens",
        "ml-100k/u.data": "movielens",
        "ml-latest-small/ratings.csv": "csv",
        "lastfm/user_artist.csv": "csv",
        "gowalla/train.txt.gz": "adjacency",
        "formats/ml-20m-format-from-100k.zip": "movielens",
        "formats/msd-format-from-100k.zip": "msd",
        "formats/netflix-format-from-100k.tar.gz": "netflix",
        "formats/netflix-kaggle-layout-from-100k.zip": "netflix",
    }.items():
        assert format_of(shared / name) == form, name


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("user,item", ("user", "item", None, None)),
        ("userId,movieId,rating,timestamp", ("userId", "movieId", "rating", "timestamp")),
        ("when,Customer ID,product,Stars", ("Customer ID", "product", "Stars", "when")),
        ("item_id,user_id", ("user_id", "item_id", None, None)),
    ],
)
def test_columns_with_usual_names(tmp_path, header, expected):
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\n{','.join('1' * len(header.split(',')))}\n")
    found = columns_of(path, "csv", {})
    assert (found.user, found.item, found.rating, found.time) == expected


def test_named_columns_come_first_then_those_of_the_model(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("user,who,item,what\na,b,c,d\n")
    found = columns_of(path, "csv", {"user": "who"}, {"user": "user", "item": "what"})
    assert (found.user, found.item) == ("who", "what")
    found = columns_of(path, "csv", {}, {"user": "gone", "item": "gone too"})
    assert (found.user, found.item) == ("user", "item")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "which column holds the users and items? name it: --user COLUMN --item"),
        ("user,b\n1,2\n", "which column holds the items? name it: --item COLUMN; the columns are"),
        ("user;item\n1;2\n", "its columns are separated by ';'"),
        ("196,242,3\n186,302,3\n", "add a header line"),
    ],
)
def test_what_is_not_recognised_is_said(tmp_path, text, message):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        columns_of(path, format_of(path), {})
    assert message in str(caught.value)
