"""The generator of huge sets: exact counts, distinct pairs, and files that a seed determines."""

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest

from lindrop.base.errors import UserError
from lindrop.data.synthetic import huge


@pytest.fixture
def small(monkeypatch):
    """Several topics, files and row groups for a small set."""
    monkeypatch.setattr(huge, "TOPIC_ITEMS", 100)
    monkeypatch.setattr(huge, "FILE_ROWS", 4000)
    monkeypatch.setattr(huge, "GROUP_ROWS", 1000)


def bytes_of(paths):
    return [path.read_bytes() for path in paths]


def test_counts_are_exact_and_pairs_distinct(tmp_path, small):
    paths = huge.write_folder(tmp_path, 700, 950, 20_000, seed=3)
    assert len(paths) > 3
    assert [path.name for path in paths] == sorted(path.name for path in tmp_path.iterdir())
    files = [pyarrow.parquet.ParquetFile(path) for path in paths]
    assert all(file.metadata.num_row_groups > 1 for file in files[:-1])
    assert {str(kind) for file in files for kind in file.schema_arrow.types} == {"int32"}
    rows = pd.concat([file.read().to_pandas() for file in files])
    assert len(rows) == 20_000
    assert not rows.duplicated().any()
    assert rows.user.is_monotonic_increasing
    assert set(rows.user) == set(range(700))
    assert rows.user.value_counts().min() >= 5
    assert rows.item.between(0, 949).all()


def test_files_do_not_depend_on_the_number_of_threads(tmp_path, small, monkeypatch):
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        found.append(bytes_of(huge.write_folder(tmp_path / threads, 700, 950, 20_000, seed=3)))
    assert found[0] == found[1]
    assert bytes_of(huge.write_folder(tmp_path / "other", 700, 950, 20_000, seed=4)) != found[0]


def test_users_are_drawn_alike_whatever_rows_a_file_has(tmp_path, small, monkeypatch):
    huge.write_folder(tmp_path / "a", 700, 950, 20_000)
    monkeypatch.setattr(huge, "FILE_ROWS", 1500)
    monkeypatch.setattr(huge, "GROUP_ROWS", 700)
    huge.write_folder(tmp_path / "b", 700, 950, 20_000)
    a, b = (pd.read_parquet(tmp_path / name) for name in "ab")
    assert a.equals(b)


def test_popularity_within_topics_is_that_of_zipf(tmp_path):
    huge.write_folder(tmp_path, 40_000, 10_000, 400_000)
    rows = pd.read_parquet(tmp_path)
    often = np.sort(rows.item.value_counts().to_numpy())[::-1]
    # two topics of 5,000 items: the best item of either has 1 / 9.09 of the topic's picks, less
    # repeats; the tenth has a tenth of the picks, and hardly any repeats
    assert 0.6 < often[0] * 9.09 / 200_000 < 0.9
    assert 0.85 < often[18:20].mean() * 90.9 / 200_000 < 1.1
    assert len(often) > 9_000


def test_three_quarters_of_the_picks_are_from_one_topic(tmp_path):
    starts = np.arange(21) * 500
    chance, other = huge.alias_table(np.ones(500))
    wanted = np.full(2_000, 40, np.int32)
    chosen = np.empty(wanted.sum(), np.int32)
    every = np.arange(10_000, dtype=np.int32)
    huge.draw_users(np.uint64(5), 0, wanted, starts, chance, other, every, chosen)
    topics = chosen.reshape(2_000, 40) // 500
    most = np.array([np.bincount(row).max() for row in topics])
    assert abs(most.mean() / 40 - (0.75 + 0.25 / 20)) < 0.01
    assert len(set(topics[:, 0])) == 20


def test_the_alias_table_draws_in_proportion_to_the_weights():
    weights = np.random.default_rng(1).random(37) ** 3
    chance, other = huge.alias_table(weights)
    share = np.zeros(37)
    kept = chance.astype(float) / 2**32
    np.add.at(share, np.arange(37), kept / 37)
    np.add.at(share, other, (1 - kept) / 37)
    assert np.allclose(share, weights / weights.sum(), atol=1e-8)


def test_users_who_want_many_of_few_items_end(tmp_path, monkeypatch):
    monkeypatch.setattr(huge, "PICKS", 1)
    huge.write_folder(tmp_path, 10, 30, 95)
    rows = pd.read_parquet(tmp_path)
    assert len(rows) == 95
    assert not rows.duplicated().any()


def test_impossible_sizes_and_a_folder_in_use_are_refused(tmp_path):
    with pytest.raises(UserError, match="10 users × 30 items can have 50 to 100 interactions"):
        huge.write_folder(tmp_path, 10, 30, 101)
    (tmp_path / "x").write_text("")
    with pytest.raises(UserError, match="not empty; name a new folder"):
        huge.write_folder(tmp_path, 10, 30, 95)
