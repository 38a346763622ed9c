"""Repeated pairs of user and item: dropped, summed or kept, in every split."""

import logging
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lindrop.base.errors import UserError
from lindrop.base.reporting import job, tell
from lindrop.data.interactions import TEST, TRAIN, VALIDATION
from lindrop.data.repeats import first_of_pairs
from lindrop.data.split import (
    ByTime,
    Given,
    LeaveLast,
    Protocol,
    all_kept,
    protocol_of,
    settings_of,
    split,
)
from lindrop.ranking.evaluation import evaluate
from lindrop.store.split import (
    read_all_interactions,
    read_split,
    read_split_facts,
    read_split_matrix,
    write_split,
)
from support.splits import interactions_of

SEEDS = range(4)
CUT = 60.0


def log_of_plays(seed, users=60, items=30, rows=900):
    """Rows (user, item, time) in any order, most of which repeat a pair."""
    random = np.random.default_rng(seed)
    start = random.uniform(0, 90, users)
    user = random.integers(0, users, rows)
    item = (user * 7 + random.integers(0, 12, rows)) % items
    time = start[user] + random.exponential(30, rows)
    return [(f"u{u}", f"i{i}", float(t)) for u, i, t in zip(user, item, time, strict=True)]


def read(rows, with_times=True, parts=None):
    """Interactions of such rows; ids are compared as texts, so that subsets have the same order."""
    data = interactions_of(rows)
    if with_times:
        data = replace(data, time=np.array([row[2] for row in rows]))
    return data if parts is None else replace(data, part=np.array(parts, np.int8))


def firsts(rows, by_time):
    """The first row of each pair, in the order of the file, the slow way."""
    order = sorted(range(len(rows)), key=lambda n: (rows[n][2], n)) if by_time else range(len(rows))
    seen, chosen = set(), []
    for n in order:
        if rows[n][:2] not in seen:
            seen.add(rows[n][:2])
            chosen.append(n)
    return sorted(chosen)


def weights(result, part):
    """How much each pair of raw ids weighs in a part."""
    x = result.matrix(part).tocoo()
    users = np.array(result.user_range(part))[x.row]
    pairs = zip(result.users[users], result.items[x.col], x.data, strict=True)
    return {(user, item): int(value) for user, item, value in pairs}


PROTOCOLS = [
    Protocol(12, min_user_interactions=3, min_item_users=4),
    ByTime(cut=CUT, min_item_users=4),
    LeaveLast(last=2, min_user_interactions=3),
    LeaveLast(),
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda each: type(each).__name__)
def test_dropped_repeats_leave_the_split_of_a_file_without_them(protocol, seed):
    rows, by_time = log_of_plays(seed), not isinstance(protocol, Protocol)
    once = [rows[n] for n in firsts(rows, by_time)]
    found = split(read(rows, by_time), replace(protocol, repeats="drop"))
    alone = split(read(once, by_time), protocol)
    assert list(found.users) == list(alone.users)
    for part, events in alone.parts().items():
        np.testing.assert_array_equal(found.parts()[part].uid, events.uid)
        np.testing.assert_array_equal(found.parts()[part].sid, events.sid)
        assert set(weights(found, part).values()) == {1}
    assert found.counts.repeats_dropped == len(rows) - len(once) > 300
    assert replace(found.counts, repeats_dropped=0) == alone.counts
    assert found.counts.duplicate_rows == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_summed_repeats_are_split_as_one_pair_that_weighs_more(seed):
    rows, times = log_of_plays(seed), Counter(row[:2] for row in log_of_plays(seed))
    protocol = PROTOCOLS[0]
    summed, dropped = (
        split(read(rows, False), replace(protocol, repeats=how)) for how in ("sum", "drop")
    )
    for part in summed.parts():
        expected = weights(dropped, part)
        if not part.endswith("held_out"):
            expected = {pair: times[pair] for pair in expected}
        assert weights(summed, part) == expected, part
    assert max(weights(summed, "train").values()) > 1
    assert max(weights(summed, "test/fold_in").values()) > 1
    assert summed.counts.test_masked == summed.counts.repeats_dropped == 0
    assert summed.counts.duplicate_rows > 300


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("protocol", PROTOCOLS[1:], ids=lambda each: type(each).__name__)
def test_summed_repeats_of_weak_splits_weigh_what_happened_before_the_test(protocol, seed):
    rows = log_of_plays(seed)
    summed, dropped = (split(read(rows), replace(protocol, repeats=how)) for how in ("sum", "drop"))
    train, tested = weights(dropped, "train"), weights(dropped, "test/held_out")
    assert set(weights(summed, "train")) == set(train)
    assert set(weights(summed, "test/fold_in")) == set(weights(dropped, "test/fold_in"))
    assert weights(summed, "test/held_out") == tested
    first_test = {
        user: min(t for u, i, t in rows if (u, i) in tested and u == user) for user, _ in tested
    }
    until = {user: CUT if isinstance(protocol, ByTime) else first_test.get(user, np.inf)
             for user, _ in train}  # fmt: skip
    for (user, item), weight in weights(summed, "train").items():
        before = sum((u, i) == (user, item) and t < until[user] for u, i, t in rows)
        # of users whose tested items were all left out, only bounds are known here
        assert weight == before or user not in first_test, (user, item)
    assert sum(weights(summed, "train").values()) > 1.3 * len(train)


@pytest.mark.parametrize("with_validation", [True, False])
@pytest.mark.parametrize("repeats", ["drop", "sum"])
def test_given_files_keep_their_own_pairs(repeats, with_validation, caplog):
    random = np.random.default_rng(5)
    rows = log_of_plays(5)
    parts = random.choice([TRAIN, VALIDATION, TEST], len(rows), p=[0.6, 0.2, 0.2])
    if not with_validation:
        parts[parts == VALIDATION] = TRAIN
    result = split(read(rows, False, parts), Given(repeats=repeats))
    of = [Counter(row[:2] for row, part in zip(rows, parts, strict=True) if part == which)
          for which in (TRAIN, VALIDATION, TEST)]  # fmt: skip
    known = of[0] + of[1]
    train = weights(result, "train")
    assert train == (known if repeats == "sum" else dict.fromkeys(known, 1))
    assert set(weights(result, "test/held_out")) == {
        pair for pair in of[2] if pair not in known and pair[1] in {item for _, item in known}
    }
    tuned, judged = (weights(result, f"validation/{part}") for part in ("fold_in", "held_out"))
    assert not set(tuned) & set(judged)
    if with_validation:
        assert tuned == (of[0] if repeats == "sum" else dict.fromkeys(of[0], 1))
    else:
        assert all(tuned[pair] == train[pair] for pair in tuned)
    assert "that repeat an item of the user's history, which is masked" in caplog.text


@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_first_row_of_each_pair_is_found_in_any_order(threads, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    monkeypatch.setattr("lindrop.data.repeats.USERS", 7)
    for seed in SEEDS:
        rows = log_of_plays(seed)
        table = pd.DataFrame(rows, columns=["user", "item", "time"])
        np.testing.assert_array_equal(
            first_of_pairs(read(rows, False)), ~table.duplicated(["user", "item"])
        )
        early = table.sort_values("time", kind="stable").drop_duplicates(["user", "item"]).index
        assert np.flatnonzero(first_of_pairs(read(rows))).tolist() == sorted(early)


def test_kept_repeats_warn_where_no_model_can_find_them(caplog):
    caplog.set_level(logging.INFO)
    rows = log_of_plays(0)
    result = split(read(rows, False), Protocol(12))
    both = result.matrix("test/fold_in").multiply(result.matrix("test/held_out") > 0)
    held_out = result.test.held_out
    pairs = Counter(zip(held_out.uid.tolist(), held_out.sid.tolist(), strict=True))
    masked = {
        (int(user) + result.user_range("test").start, int(item))
        for user, item in zip(*both.nonzero(), strict=True)
    }
    assert result.counts.test_masked == sum(pairs[pair] for pair in masked) > 20
    told = [record for record in caplog.records if getattr(record, "loud", False)]
    assert [record.levelname for record in told] == ["INFO", "WARNING"]
    assert "of 900 rows (" in told[0].getMessage()
    assert f"{result.counts.test_masked} of {len(held_out)} test" in told[1].getMessage()
    caplog.clear()
    split(read(rows, False), Protocol(12, repeats="drop"))
    assert [record.levelname for record in caplog.records] == ["INFO"]
    assert "the first row of each pair stays (protocol.repeats: drop)" in caplog.text
    caplog.clear()
    split(read([rows[n] for n in firsts(rows, False)], False), Protocol(12, repeats="drop"))
    assert not caplog.records


class Popular:
    def scores(self, x):
        return np.tile(np.arange(x.shape[1], dtype=np.float32), (x.shape[0], 1))


def test_an_evaluation_of_masked_pairs_warns_once(caplog):
    kept = split(read(log_of_plays(1), False), Protocol(12))
    caplog.clear()
    for _ in range(2):
        evaluate(Popular(), kept.matrix("test/fold_in"), kept.matrix("test/held_out"))
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "held-out pairs are also in the fold-in, where they are masked" in caplog.text
    once = split(read(log_of_plays(1), False), Protocol(12, repeats="sum"))
    caplog.clear()
    evaluate(Popular(), once.matrix("test/fold_in"), once.matrix("test/held_out"))
    assert not caplog.records


@pytest.mark.parametrize("repeats", ["drop", "keep", "sum"])
def test_a_stored_split_knows_its_repeats(repeats, tmp_path):
    result = split(read(log_of_plays(2), False), Protocol(12, repeats=repeats))
    write_split(tmp_path / "split.h5", result, {"format": "csv"})
    counts, protocol, _ = read_split_facts(tmp_path / "split.h5")
    assert (counts, protocol) == (result.counts, result.protocol)
    assert read_split(tmp_path / "split.h5").counts == counts
    x = read_split_matrix(tmp_path / "split.h5", "train")
    np.testing.assert_array_equal(x.toarray(), result.matrix("train").toarray())


@pytest.mark.parametrize("repeats", ["drop", "keep", "sum"])
@pytest.mark.parametrize("protocol", [*PROTOCOLS, Given()], ids=lambda each: type(each).__name__)
def test_final_models_and_recommendations_count_every_row(repeats, protocol, tmp_path):
    """Also of pairs that are tested, whose repeats are in no part of the split."""
    rows, protocol = log_of_plays(3), replace(protocol, repeats=repeats)
    parts = np.random.default_rng(3).choice([TRAIN, TEST], len(rows), p=[0.8, 0.2])
    data = read(rows, parts=parts if isinstance(protocol, Given) else None)
    write_split(tmp_path / "split.h5", split(data, protocol), {"format": "csv"})
    stored = read_split(tmp_path / "split.h5")
    users, x = read_all_interactions(tmp_path / "split.h5")
    times = Counter(row[:2] for row in rows)
    for of_users, items, found in ((users, stored.items, x), all_kept(data, protocol)):
        entries = found.tocoo()
        for user, item, value in zip(*entries.coords, entries.data, strict=True):
            pair = of_users[user], items[item]
            assert value == (1 if repeats == "drop" else times[pair]), pair
        assert found.nnz > 400


def test_the_published_protocol_is_stored_as_it_was_published():
    assert "repeats" not in settings_of(Protocol(5))
    for protocol in (Protocol(5, repeats="sum"), LeaveLast(repeats="drop")):
        assert settings_of(protocol)["repeats"] == protocol.repeats
        assert protocol_of(settings_of(protocol)) == protocol
    for kind in (Given, LeaveLast, ByTime):
        with pytest.raises(UserError, match="repeats must be one of drop, keep, sum"):
            kind(repeats="remove")


def test_what_the_user_must_not_miss_is_told_in_the_terminal_and_the_log(tmp_path, capfd):
    with job(tmp_path / "log", "dataset mine") as log:
        log.info("only the log has this")
        tell("%s of %s rows", "3", "5")
        tell("this is wrong", warning=True)
    assert capfd.readouterr().err.splitlines() == [
        "lindrop: dataset mine: 3 of 5 rows",
        "lindrop: warning: dataset mine: this is wrong",
    ]
    logged = (tmp_path / "log").read_text().splitlines()
    told = {line.split(maxsplit=1)[1] for line in logged}
    assert {"only the log has this", "3 of 5 rows", "this is wrong"} <= told
