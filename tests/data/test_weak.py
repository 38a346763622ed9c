"""Splits by time, by each user's last rows and by files, each against a literal repetition."""

import logging
from dataclasses import replace

import numpy as np
import pytest

from lindrop.base.errors import UserError
from lindrop.data.formats import read_interactions
from lindrop.data.interactions import TEST, TRAIN, VALIDATION, joined
from lindrop.data.split import ByTime, Given, LeaveLast, Protocol, protocol_of, settings_of, split
from lindrop.store.interactions import read_interactions as read_stored
from lindrop.store.interactions import write_interactions
from lindrop.store.split import read_split, read_split_matrix, write_split
from support.splits import interactions_of

SEEDS = range(5)


def events(seed, users=40, items=25, rows=400):
    """Rows (user, item, time) of users who begin one after the other, some pairs repeated."""
    random = np.random.default_rng(seed)
    user = random.integers(0, users, rows)
    time = np.round(user / users * 60 + random.exponential(20, rows))
    return [
        (f"u{u}", f"i{i}", float(t))
        for u, i, t in zip(user, random.integers(0, items, rows), time, strict=True)
    ]


def timed(rows):
    return replace(interactions_of(rows), time=np.array([row[2] for row in rows]))


def pairs(result, part):
    """Pairs of raw ids of a part, sorted."""
    found = result.parts()[part]
    return sorted(zip(result.users[found.uid], result.items[found.sid], strict=True))


def matrix_of(result, part):
    """The matrix of a part from its events, entry by entry."""
    dense = np.zeros((len(result.user_range(part)), len(result.items)))
    found = result.parts()[part]
    np.add.at(dense, (found.uid - result.user_range(part).start, found.sid), 1)
    return dense


def sound(result, tmp_path):
    """What holds of every weak split, stored and read again."""
    write_split(tmp_path / "split.h5", result, {"format": "csv"})
    again = read_split(tmp_path / "split.h5")
    assert again.protocol == result.protocol
    for part in result.parts():
        assert pairs(again, part) == pairs(result, part)
        x = read_split_matrix(tmp_path / "split.h5", part)
        np.testing.assert_array_equal(x.toarray(), result.matrix(part).toarray())
        np.testing.assert_array_equal(x.toarray(), matrix_of(result, part))
    for part in ("validation", "test"):
        fold_in, held_out = (result.matrix(f"{part}/{of}") for of in ("fold_in", "held_out"))
        assert fold_in.shape == held_out.shape
        assert fold_in.multiply(held_out).nnz == 0, "what is masked cannot be found"
        assert held_out.nnz == held_out.sum() > 0
    train, given = result.matrix("train"), result.matrix("test/fold_in")
    np.testing.assert_array_equal(given[: train.shape[0]].toarray(), train.toarray())
    assert (train.sum(axis=0) > 0).all()
    tuned = result.matrix("validation/fold_in")
    assert tuned.shape == train.shape
    assert tuned.sum() < train.sum()
    assert sum(map(len, result.disjoint())) == result.counts.interactions


def found_items(rows, given):
    """Pairs that can be found: of known items, not given to the user, each once, in order."""
    known = {item for _, item in given}
    return sorted({pair for pair in rows if pair[1] in known and pair not in given})


@pytest.mark.parametrize("seed", SEEDS)
def test_by_time_what_is_before_the_cut_trains(seed, tmp_path):
    rows = events(seed)
    result = split(timed(rows), ByTime(cut=50.0, validation_fraction=0.2, test_fraction=0.4))
    train = [(u, i) for u, i, t in rows if t < 50]
    known, items = {u for u, _ in train}, {i for _, i in train}
    expected, history = [], []
    for user in {u for u, _, _ in rows}:
        later = [(t, n, i) for n, (u, i, t) in enumerate(rows) if u == user and t >= 50]
        later = [(user, i) for _, _, i in sorted(later) if i in items]
        if user in known:
            expected += [pair for pair in later if pair not in train]
        else:
            held = int(0.4 * len(later)) if len(later) >= 5 else 0
            history += later[: len(later) - held]
            expected += [p for p in later[len(later) - held :] if p not in later[:-held]]
    assert pairs(result, "train") == sorted(train)
    assert pairs(result, "test/fold_in") == sorted(train + history)
    assert pairs(result, "test/held_out") == sorted(set(expected))
    times = sorted(t for _, _, t in rows if t < 50)
    last = times[int(0.8 * len(times))]
    tuned = [(u, i) for u, i, t in rows if t < last]
    assert pairs(result, "validation/fold_in") == sorted(tuned)
    judged = [(u, i) for u, i, t in rows if last <= t < 50 and u in {u for u, _ in tuned}]
    assert pairs(result, "validation/held_out") == found_items(judged, tuned)
    sound(result, tmp_path)


def test_a_cut_is_a_share_of_the_rows_or_a_date():
    rows = events(1)
    times = sorted(t for _, _, t in rows)
    by_share, by_time = (
        split(timed(rows), ByTime(cut=cut)) for cut in (0.6, times[int(0.6 * len(rows))])
    )
    assert pairs(by_share, "train") == pairs(by_time, "train")
    days = [(u, i, 86400 * (t + 30)) for u, i, t in rows]
    by_date = split(timed(days), ByTime(cut="1970-03-02T00:00:00+00:00"))
    assert pairs(by_date, "train") == sorted((u, i) for u, i, t in rows if t + 30 < 60)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("last", [1, 2])
@pytest.mark.parametrize("with_times", [True, False])
def test_the_last_rows_of_each_user_are_left(seed, last, with_times, tmp_path, caplog):
    rows = events(seed)
    result = split(timed(rows) if with_times else interactions_of(rows), LeaveLast(last=last))
    train, tuned, expected, judged = [], [], [], []
    for user in {u for u, _, _ in rows}:
        own = [(t if with_times else 0, n, i) for n, (u, i, t) in enumerate(rows) if u == user]
        own = [(user, item) for _, _, item in sorted(own)]
        n = len(own)
        end = n - last if n > last else n
        begin = end - last if n > 2 * last else end
        train += own[:end]
        tuned += own[:begin]
        judged += [pair for pair in own[begin:end] if pair not in own[:begin]]
        expected += [pair for pair in own[end:] if pair not in own[:end]]
    assert pairs(result, "train") == sorted(train)
    assert pairs(result, "test/fold_in") == sorted(train)
    assert pairs(result, "validation/fold_in") == sorted(tuned)
    assert pairs(result, "test/held_out") == found_items(expected, train)
    assert pairs(result, "validation/held_out") == found_items(judged, tuned)
    assert ("the order of the file says which rows are the last" in caplog.text) != with_times
    sound(result, tmp_path)


def files(tmp_path, **texts):
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {
        part: read_interactions(tmp_path / name, "adjacency")
        for part, name in ((TRAIN, "train"), (VALIDATION, "validation"), (TEST, "test"))
        if name in texts
    }


def test_given_files_are_taken_as_they_are_and_what_cannot_be_found_is_told(tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    read = files(
        tmp_path,
        train="1 10 11 12\n2 10 13\n3 11 12\n",
        validation="1 13\n2 11\n",
        test="1 14 13 10 99\n2 12 12\n7 10\n3\n",
    )
    assert (read[TEST].raw.rows, read[TEST].raw.users, read[TEST].raw.items) == (7, 3, 5)
    data = joined(read)
    assert (data.raw.rows, data.raw.users, data.raw.items) == (16, 4, 6)
    result = split(data, Given())
    assert list(result.users) == ["1", "2", "3"]
    lists = {"1": ("10", "11", "12", "13"), "2": ("10", "11", "13"), "3": ("11", "12")}
    assert pairs(result, "train") == [(user, item) for user, own in lists.items() for item in own]
    assert pairs(result, "validation/held_out") == [("1", "13"), ("2", "11")]
    assert pairs(result, "test/held_out") == [("2", "12")]
    assert [record.getMessage() for record in caplog.records] == [
        "2 test interactions of items without training interactions are left out",
        "1 test interactions of users without any history are left out",
        "2 test interactions that repeat an item of the user's history, which is masked are left "
        "out",
        "1 test interactions that repeat another test interaction are left out",
        "2 of 3 users have no test item and are not counted",
    ]
    sound(result, tmp_path)


@pytest.mark.parametrize("seed", SEEDS)
def test_without_a_file_validation_is_a_share_of_each_user(seed, tmp_path):
    random = np.random.default_rng(seed)
    lists = {user: random.permutation(50)[: random.integers(1, 30)] for user in range(30)}
    lines = {
        name: "".join(f"{u} {' '.join(map(str, part(own)))}\n" for u, own in lists.items())
        for name, part in (("train", lambda own: own[2:] if len(own) > 3 else own[:1]),
                           ("test", lambda own: own[:2] if len(own) > 3 else own[1:2]))
    }  # fmt: skip
    data = joined(files(tmp_path, **lines))
    result = split(data, Given(validation_fraction=0.25, seed=seed))
    again = split(data, Given(validation_fraction=0.25, seed=seed))
    assert pairs(result, "validation/fold_in") == pairs(again, "validation/fold_in")
    train = np.diff(result.matrix("train").indptr)
    tuned = np.diff(result.matrix("validation/fold_in").indptr)
    expected = [max(1, int(0.25 * n)) if n > 1 else 0 for n in train]
    assert (train - tuned).tolist() == expected
    sound(result, tmp_path)


def test_stored_interactions_keep_their_times_and_files(tmp_path):
    rows = timed(events(3))
    rows = replace(rows, part=(np.arange(len(rows)) % 3).astype(np.int8))
    write_interactions(tmp_path / "file.h5", rows, {})
    again, _ = read_stored(tmp_path / "file.h5")
    for name, values in rows.columns().items():
        np.testing.assert_array_equal(again.columns()[name], values)


@pytest.mark.parametrize("protocol", [Protocol(5), ByTime(cut="2000-01-01"), LeaveLast(2), Given()])
def test_a_protocol_is_made_again_from_its_settings(protocol):
    assert protocol_of(settings_of(protocol)) == protocol
    assert ("split" in settings_of(protocol)) == (protocol != Protocol(5))


def test_filters_count_as_in_the_published_split():
    rows = events(2, users=80)
    data = timed(rows)
    weak = split(data, LeaveLast(min_user_interactions=5, min_item_users=16))
    strong = split(data, Protocol(5, min_user_interactions=5, min_item_users=16))
    assert weak.counts.users_dropped == strong.counts.users_dropped > 0
    assert weak.counts.items_dropped == strong.counts.items_dropped > 0


@pytest.mark.parametrize(
    ("rows", "protocol", "said"),
    [
        ([("a", "x", 5.0)], ByTime(cut=9), "no interaction is after it; the times go from 5"),
        ([("a", "x", 5.0)], ByTime(cut=5), "no interaction is before it"),
        ([("a", "x", 5.0), ("a", "y", 6.0)], ByTime(cut=6), "are few or of one time"),
        ([("a", "x", 5.0), ("a", "x", 6.0)], LeaveLast(), "no test interaction is left"),
        ([("a", "x", 5.0)], LeaveLast(min_user_interactions=2), "leaves no interaction"),
        ([("a", "x", 5.0)], Given(), "needs to know the file of each row"),
    ],
)
def test_what_cannot_be_split_is_told_in_one_line(rows, protocol, said):
    with pytest.raises(UserError, match=said) as error:
        split(timed(rows), protocol)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["training", "validation", "test"])
def test_a_given_file_without_ratings_high_enough_is_not_passed_over(tmp_path, name):
    """Without its rows, the validation part would be drawn at random as if there were no file."""
    read = {}
    for part, of in ((TRAIN, "training"), (VALIDATION, "validation"), (TEST, "test")):
        rating = 2 if of == name else 5
        text = "".join(f"u{u},i{(u + part + k) % 9},{rating}\n" for u in range(9) for k in range(3))
        (tmp_path / f"{of}.csv").write_text(f"user,item,rating\n{text}")
        read[part] = read_interactions(
            tmp_path / f"{of}.csv", "csv", min_rating=3.5, rating="rating"
        )
    with pytest.raises(UserError, match=f"the {name} file has no row with a rating above 3.5"):
        joined(read)


def test_the_log_says_what_of_a_validation_file_is_left_out(tmp_path, caplog):
    texts = {TRAIN: "1 1 2 3\n2 2 3\n", VALIDATION: "1 1 1\n2 1 8\n3 1\n", TEST: "2 1\n"}
    read = {}
    for part, text in texts.items():
        (tmp_path / f"{part}.txt").write_text(text)
        read[part] = read_interactions(tmp_path / f"{part}.txt", "adjacency")
    with pytest.raises(UserError, match="no test interaction is left"):
        split(joined(read), Given())
    (tmp_path / "2.txt").write_text("1 8\n")
    read[TEST] = read_interactions(tmp_path / "2.txt", "adjacency")
    with caplog.at_level(logging.INFO):
        result = split(joined(read), Given())
    assert pairs(result, "validation/held_out") == [("2", "1")]
    assert "no validation interaction is left" not in caplog.text
    for number, why in ((1, "of items"), (1, "of users"), (2, "that repeat an item of")):
        assert f"{number} validation interactions {why}" in caplog.text


@pytest.mark.parametrize(
    ("protocol", "settings", "said"),
    [
        (ByTime, {"cut": -0.5}, "cut must be"),
        (ByTime, {"cut": np.nan}, "cut must be"),
        (ByTime, {"cut": np.inf}, "cut must be"),
        (ByTime, {"cut": "soon"}, "cut 'soon' is no date such as 2000-12-31"),
        (ByTime, {"validation_fraction": 1.5}, "validation_fraction must be"),
        (ByTime, {"test_fraction": 0}, "test_fraction must be"),
        (LeaveLast, {"last": 0}, "last must be"),
        (LeaveLast, {"last": 1.5}, "last must be"),
        (Given, {"validation_fraction": 5}, "validation_fraction must be"),
    ],
)
def test_settings_that_mean_nothing_are_refused(protocol, settings, said):
    with pytest.raises(UserError, match=said):
        protocol(**settings)


def test_a_validation_part_of_hardly_any_rows_has_the_last_time():
    rows = [("a", f"i{k}", 10.0 + k) for k in range(8)] + [("a", "i9", 30.0), ("b", "i1", 30.0)]
    rows += [("b", "i2", 5.0), ("b", "i9", 6.0)]
    result = split(timed(rows), ByTime(cut=20.0, validation_fraction=1e-17))
    assert len(result.train) - len(result.validation.fold_in) == 1
    with pytest.raises(UserError, match="would be for validation"):
        split(timed(rows), ByTime(cut=20.0, validation_fraction=0.95))


@pytest.mark.parametrize("wrong", [{"time": np.array([np.nan])}, {"part": np.array([3], np.int8)}])
def test_interactions_have_finite_times_and_known_parts(wrong):
    with pytest.raises(ValueError, match=r"a time is not finite|a part is not"):
        replace(interactions_of([("a", "x")]), **wrong)


def test_a_validation_file_that_is_a_part_of_the_training_file_is_told(tmp_path, caplog):
    read = {}
    for part, text in {TRAIN: "1 1 2 3\n2 2 3\n", VALIDATION: "1 1\n2 2\n", TEST: "2 1\n"}.items():
        (tmp_path / f"{part}.txt").write_text(text)
        read[part] = read_interactions(tmp_path / f"{part}.txt", "adjacency")
    split(joined(read), Given())
    assert "no validation interaction is left" in caplog.text
