"""Ids that are kept as integers give the same files of results as texts, and are found by text."""

import numpy as np
import pandas as pd
import pytest

from lindrop.base.errors import UserError
from lindrop.data import interactions
from lindrop.data.formats import read_interactions
from lindrop.data.interactions import Places
from lindrop.data.published_csv import write_published_csv
from lindrop.data.split import ByTime, Protocol, split
from lindrop.models.base import Fit, SparseItems
from lindrop.serving.recommend import because, recommend
from lindrop.store import interactions as stored
from lindrop.store.hdf5 import create_file
from lindrop.store.model import read_model, write_model
from lindrop.store.split import read_items, read_split, read_split_sha256, write_split


@pytest.fixture
def files(tmp_path):
    """A folder with two files of events whose ids are integers."""
    random = np.random.default_rng(4)
    pairs = {"user": random.integers(0, 90, 2000) * 7, "item": random.integers(0, 50, 2000) * 11}
    frame = pd.DataFrame(pairs | {"time": random.permutation(2000)})
    (tmp_path / "set").mkdir()
    frame[:1000].to_parquet(tmp_path / "set" / "a.parquet")
    frame[1000:].to_parquet(tmp_path / "set" / "b.parquet")
    return tmp_path / "set"


@pytest.mark.parametrize("protocol", [Protocol(10, min_item_users=30), ByTime()])
def test_a_split_is_that_of_texts(files, protocol, tmp_path, monkeypatch):
    time = "time" if isinstance(protocol, ByTime) else None
    for many, folder in ((1 << 20, tmp_path / "texts"), (20, tmp_path / "numbers")):
        monkeypatch.setattr(interactions, "MANY_IDS", many)
        data = read_interactions(files, "parquet", time=time)
        stored.write_interactions(folder / "interactions.h5", data, {})
        texts = len(data.user_ids) + len(data.item_ids) if many > 20 else 0
        assert stored.read_numbers(folder / "interactions.h5") == (2000, texts)
        data, _ = stored.read_interactions(folder / "interactions.h5")
        write_split(folder / "split.h5", split(data, protocol), {})
        again = read_split(folder / "split.h5")
        assert again.users.dtype == again.items.dtype == (object if many > 20 else np.int64)
        (folder / "csv").mkdir()
        write_published_csv(again, folder / "csv")
    texts, numbers = tmp_path / "texts", tmp_path / "numbers"
    assert read_split_sha256(texts / "split.h5") == read_split_sha256(numbers / "split.h5")
    for path in (texts / "csv").iterdir():
        assert path.read_bytes() == (numbers / "csv" / path.name).read_bytes()


def test_an_integer_id_that_comes_twice_is_noticed(files, tmp_path, monkeypatch):
    monkeypatch.setattr(interactions, "MANY_IDS", 20)
    result = split(read_interactions(files, "parquet"), Protocol(10))
    result.items[3] = result.items[5]
    write_split(tmp_path / "split.h5", result, {})
    with pytest.raises(UserError, match="items holds an id twice"):
        read_items(tmp_path / "split.h5")


def test_a_model_recommends_by_text(tmp_path):
    b = SparseItems(np.array([0, 1, 2, 3]), np.array([1, 2, 0]), np.ones(3, np.float32))
    ids = np.array([30, 10, 20])
    write_model(tmp_path / "model.h5", "slim", Fit(b), ids)
    model = read_model(tmp_path / "model.h5")
    assert model.items.dtype == np.int64
    assert model.recommend(["30"], 1) == ["10"]
    assert model.recommend([10, "7", "x", "030"], 1) == ["20"]
    found = recommend(model, {"ann": [30, "10"], "bob": [20]}, 2, block=["30"])
    assert found["item"].tolist() == ["20", "10"]
    assert because(model, ["30", 20], 10)["item"].tolist() == ["30", "20"]
    for twice in (np.array([1, 2, 2]), [1, 2, 3]):
        with pytest.raises(UserError, match="each of which occurs once"):
            write_model(tmp_path / "other.h5", "slim", Fit(b), twice)


@pytest.mark.parametrize("kind", [np.int64, object])
def test_places_of_ids(kind):
    ids = np.array([5, 0, 123456789012345678, 12])
    places = Places(ids if kind is np.int64 else ids.astype(str).astype(object))
    asked = ["12", "012", "٣", "-5", "5", "5", "9" * 30, "123456789012345678", "", "4", "99"]
    assert places.of(asked) == [0, 2, 3]
    assert places.of(["x"]) == []
    assert Places(np.array([], kind)).of(["5"]) == []


def test_the_parts_of_a_compressed_array_are_written_as_the_whole(tmp_path, monkeypatch):
    from lindrop.store import hdf5

    for length in (0, 1, 1000, 1 << 18, (1 << 18) + 1, 700_000):
        values = np.random.default_rng(1).integers(0, 1000, length).astype(np.int32)
        with create_file(tmp_path / "a.h5", "split/1", {}, [values]) as file:
            hdf5.write_array(file, "x", values)
        with create_file(tmp_path / "b.h5", "split/1", {}, [values]) as file:
            hdf5.write_blocks(file, "x", length, np.int32, lambda part: values[part])  # noqa: B023
        assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()
