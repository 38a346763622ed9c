"""The split equals the published one: golden files, a transcription, and its own limits."""

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest

from lindrop.base.errors import UserError
from lindrop.data.formats import read_interactions
from lindrop.data.published_csv import write_published_csv
from lindrop.data.split import Protocol, split
from lindrop.store import split as store
from support.configurations import GENERATED
from support.golden import CASES
from support.reference_split import reference_split
from support.splits import interactions_of, random_split

FILES = [
    "unique_sid.txt",
    "train.csv",
    "validation_tr.csv",
    "validation_te.csv",
    "test_tr.csv",
    "test_te.csv",
]


def files_of(result, folder):
    write_published_csv(result, folder)
    return {name: (folder / name).read_bytes() for name in FILES}


@pytest.mark.parametrize(("name", "format", "file", "protocol"), CASES)
def test_golden_files_are_byte_identical(name, format, file, protocol, shared, tmp_path):
    data = read_interactions(shared / file, format, min_rating=protocol.min_rating)
    result = split(data, protocol)
    golden = shared / "golden" / name
    for file_name, content in files_of(result, tmp_path).items():
        assert content == gzip.decompress((golden / f"{file_name}.gz").read_bytes()), file_name
    users = gzip.decompress((golden / "unique_uid.txt.gz").read_bytes()).decode().splitlines()
    assert list(result.users) == users
    info = json.loads((golden / "info.json").read_text())
    assert result.counts.users == info["n_users"]
    assert result.counts.items == info["n_items_in_train"]
    assert result.counts.interactions == info["n_events_after_filter"]


def test_generated_set_has_its_expected_files(tmp_path):
    data = read_interactions(GENERATED / "ratings.csv", "movielens", min_rating=3.5)
    result = split(data, Protocol(12, 3.5, 3, 2))
    for name, content in files_of(result, tmp_path).items():
        assert content == (GENERATED / "expected" / name).read_bytes(), name


def ids_of(kind, number):
    return {
        "integers": str(number),
        "one leading zero": f"0{number}" if number == 7 else str(number),
        "words": f'ü {number} "x", y',
        "huge": str(10**30 + number * 10**29),
    }[kind]


@pytest.mark.parametrize("kind", ["integers", "one leading zero", "words", "huge"])
@pytest.mark.parametrize("seed", range(6))
def test_any_set_is_split_as_the_transcription_says(kind, seed, tmp_path):
    random = np.random.default_rng(seed)
    n_users, n_items = random.integers(25, 60), random.integers(5, 40)
    rows = [
        (
            ids_of(kind, user),
            f"i{item}",
        )  # with replacement: duplicate rows are part of the protocol
        for user in range(n_users)
        for item in random.integers(0, n_items, size=random.integers(0, 25))
    ]
    rows = [rows[k] for k in random.permutation(len(rows))]
    min_user, min_item = int(random.integers(0, 7)), int(random.integers(0, 9))
    fraction = [0.2, 0.5, 0.07][seed % 3]
    expected = reference_split(
        rows, heldout_users=7, min_user=min_user, min_item=min_item, test_fraction=fraction
    )
    result = split(interactions_of(rows), Protocol(7, None, min_user, min_item, fraction))
    for name, content in files_of(result, tmp_path).items():
        assert content.decode() == expected[name], name


def test_the_working_file_gives_back_every_row_in_order(tmp_path):
    result = random_split()
    store.write_split(tmp_path / "split.h5", result, {"format": "csv"})
    again = store.read_split(tmp_path / "split.h5")
    assert list(again.users) == list(result.users)
    assert list(again.items) == list(result.items)
    assert again.protocol == result.protocol
    assert again.counts == result.counts
    for part, events in result.parts().items():
        np.testing.assert_array_equal(again.parts()[part].uid, events.uid)
        np.testing.assert_array_equal(again.parts()[part].sid, events.sid)


def test_matrices_hold_the_rows_and_duplicates_add_up(tmp_path):
    result = random_split()
    store.write_split(tmp_path / "split.h5", result, {"format": "csv"})
    for part, events in result.parts().items():
        first = result.user_range(part).start
        dense = np.zeros((len(result.user_range(part)), len(result.items)))
        np.add.at(dense, (events.uid - first, events.sid), 1)
        for matrix in (
            result.matrix(part),
            store.read_split_matrix(tmp_path / "split.h5", part),
        ):
            assert matrix.dtype == np.float32
            np.testing.assert_array_equal(matrix.toarray(), dense)
    assert result.counts.duplicate_rows > 0
    assert result.matrix("train").max() > 1


def test_no_user_and_no_interaction_is_lost_or_shared():
    result = random_split(3)
    assert len(set(result.users)) == len(result.users) == result.counts.users
    parts = result.parts()
    assert set(parts["train"].uid) == set(result.user_range("train"))
    for part in ("validation", "test"):
        fold_in, held_out = parts[f"{part}/fold_in"], parts[f"{part}/held_out"]
        assert set(fold_in.uid) | set(held_out.uid) == set(result.user_range(part))
    items = {item for events in parts.values() for item in events.sid}
    assert items == set(range(len(result.items)))
    assert sum(map(len, parts.values())) == result.counts.interactions


def test_splitting_twice_gives_the_same_fingerprint(tmp_path):
    import h5py

    digests = []
    for name in ("a.h5", "b.h5"):
        store.write_split(tmp_path / name, random_split(), {"format": "csv"})
        with h5py.File(tmp_path / name) as file:
            digests.append(file.attrs["split_sha256"])
    assert digests[0] == digests[1]
    store.write_split(tmp_path / "c.h5", random_split(1), {"format": "csv"})
    with h5py.File(tmp_path / "c.h5") as file:
        assert file.attrs["split_sha256"] != digests[0]


def test_held_out_users_may_lose_every_row(tmp_path):
    rows = [("a", "1"), ("b", "2"), ("c", "3"), *[("d", "4")] * 6]
    expected = reference_split(rows, heldout_users=1, min_user=0, min_item=0)
    result = split(interactions_of(rows), Protocol(1))
    for name, content in files_of(result, tmp_path).items():
        assert content.decode() == expected[name], name
    store.write_split(tmp_path / "split.h5", result, {"format": "csv"})
    again = store.read_split(tmp_path / "split.h5")
    assert [len(events) for events in again.parts().values()] == [
        len(events) for events in result.parts().values()
    ]


def test_what_the_filters_dropped_is_counted():
    rows = [("1", "a"), ("1", "a"), ("2", "a"), ("2", "b"), ("3", "a"), ("3", "a"), ("4", "c")]
    rows += [(user, "a") for user in "5678" for _ in range(2)]
    counts = split(interactions_of(rows), Protocol(1, None, 2, 2)).counts
    # b and c go first (one row each), then 2 (one row left); 4 had only c
    assert (counts.items_dropped, counts.users_dropped) == (2, 1)
    assert (counts.users, counts.items, counts.interactions) == (6, 1, 12)
    assert counts.duplicate_rows == 6


def test_more_held_out_users_than_users():
    rows = [(str(user), "a") for user in range(10)]
    with pytest.raises(UserError, match=r"only 2 users .* at least 3 are needed"):
        split(interactions_of(rows[:2]), Protocol(1))
    with pytest.raises(UserError, match=r"only 10 users .* a tenth of the users at most, 1$"):
        split(interactions_of(rows), Protocol(5))


def test_a_protocol_that_leaves_nothing():
    rows = [(str(user), str(user)) for user in range(10)]
    with pytest.raises(UserError, match="leaves no interaction: lower min_rating, min_item_users"):
        split(interactions_of(rows), Protocol(1, min_item_users=2))


def test_a_threshold_other_than_the_one_applied():
    with pytest.raises(UserError, match=r"min_rating None, the protocol says 3\.5"):
        split(interactions_of([("1", "a")]), Protocol(1, 3.5))


def test_a_protocol_that_makes_no_sense():
    for wrong in ({"heldout_users": 0}, {"heldout_users": 5, "test_fraction": 20}):
        with pytest.raises(UserError, match="heldout_users must be 1 or more"):
            Protocol(**wrong)


def test_a_part_that_does_not_exist():
    with pytest.raises(UserError, match="no part 'test'; the parts are train, validation/fold_in"):
        random_split().matrix("test")


@pytest.mark.parametrize(("user", "item"), [(-1, 0), (0, -1), (9, 0), (0, 9)])
def test_codes_outside_of_the_ids_are_refused(user, item):
    """-1 would be the last id."""
    good = interactions_of([("1", "a"), ("2", "b")])
    codes = {"user": good.user.copy(), "item": good.item.copy()}
    codes["user"][0], codes["item"][0] = user, item
    with pytest.raises(ValueError, match="code is outside the list of ids"):
        replace(good, **codes)
