"""Every metric against its definition, user by user, and against other libraries."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from metrics_of_others import FILE, ITEMS, SEEDS, ranked, rankings

from lindrop.base.errors import UserError
from lindrop.models.base import Popularity, Training
from lindrop.ranking.evaluation import evaluate, popularity_groups, summary
from lindrop.ranking.metrics import DEFAULT, KINDS, gini, metric

RESULTS = pd.read_csv(FILE)
KS = (1, 3, 10, 60)
OF_USERS = [name for name, kind in KINDS.items() if not kind.overall]
ALL = [f"{kind}@{k}" for kind in KINDS for k in KS]


class Given:
    """Scores given for each user, asked for in one block."""

    def __init__(self, scores):
        self.all = scores

    def scores(self, x):
        return self.all[: x.shape[0]].copy()


def given(seed):
    """Scores with many ties, fold-in and held-out items."""
    scores, *parts = rankings(seed)
    return scores, *(sp.csr_array(part.astype(np.float32)) for part in parts)


def by_definition(kind, k, order, wanted, shares):
    """A metric of one user: `order` is the ranking, `wanted` the set of held-out items."""
    top = order[:k]
    hit = [item in wanted for item in top]
    if kind == "ndcg":
        gain = sum(h / math.log2(rank + 2) for rank, h in enumerate(hit))
        return gain / sum(1 / math.log2(rank + 2) for rank in range(min(k, len(wanted))))
    if kind == "map":
        return sum(sum(hit[: r + 1]) / (r + 1) for r, h in enumerate(hit) if h) / len(wanted)
    if kind == "mrr":
        return next((1 / (rank + 1) for rank, h in enumerate(hit) if h), 0.0)
    return {
        "recall": sum(hit) / min(k, len(wanted)),
        "plain_recall": sum(hit) / len(wanted),
        "precision": sum(hit) / k,
        "hit_rate": float(any(hit)),
        "novelty": -sum(math.log2(shares[item]) for item in top) / len(top),
    }[kind]


@pytest.mark.parametrize("seed", range(4))
def test_every_metric_is_what_its_definition_says(seed):
    scores, fold_in, held_out = given(seed)
    shares = np.random.default_rng(seed).random(ITEMS)
    found = evaluate(Given(scores), fold_in, held_out, ALL, shares)
    assert list(found.per_user) == [f"{kind}@{k}" for kind in OF_USERS for k in KS]
    orders = [ranked(*rows) for rows in zip(scores, fold_in.toarray(), strict=True)]
    wanted = [set(np.flatnonzero(row)) for row in held_out.toarray()]
    for kind in OF_USERS:
        for k in KS:
            expected = [
                by_definition(kind, k, order, items, shares) if items else np.nan
                for order, items in zip(orders, wanted, strict=True)
            ]
            np.testing.assert_allclose(found.per_user[f"{kind}@{k}"], expected, rtol=1e-12)
    for k in KS:
        lists = [order[:k] for order, items in zip(orders, wanted, strict=True) if items]
        times = np.bincount(np.concatenate(lists), minlength=ITEMS)
        apart = sum(abs(a - b) for a in times for b in times)
        assert found.overall[f"coverage@{k}"] == np.mean(times > 0)
        assert found.overall[f"gini@{k}"] == pytest.approx(apart / (2 * ITEMS * times.sum()))


def test_a_metric_is_the_same_beside_others_and_in_blocks(monkeypatch):
    scores, fold_in, held_out = given(7)
    shares = np.full(ITEMS, 0.5)
    together = evaluate(Given(scores), fold_in, held_out, ALL, shares)
    for name in ALL:
        alone = evaluate(Given(scores), fold_in, held_out, [name], shares)
        assert alone.overall == {k: v for k, v in together.overall.items() if k == name}
        pd.testing.assert_frame_equal(
            alone.per_user,
            together.per_user[list(alone.per_user)],
            check_exact=True,
            check_column_type=False,
        )
    popular = Popularity(scores[0].astype(np.float64))
    whole = evaluate(popular, fold_in, held_out, ALL, shares)
    monkeypatch.setattr("lindrop.ranking.evaluation.BLOCK_BYTES", 7 * 8 * ITEMS)
    parts = evaluate(popular, fold_in, held_out, ALL, shares)
    assert parts.overall == whole.overall
    pd.testing.assert_frame_equal(parts.per_user, whole.per_user, check_exact=True)


def test_groups_are_the_metrics_of_some_items_and_of_some_users():
    scores, fold_in, held_out = given(5)
    names, shares = ["ndcg@10", "plain_recall@3", "coverage@5"], Training.of(fold_in).shares
    found = evaluate(Given(scores), fold_in, held_out, names, shares, by_groups=True)
    groups = found.groups.set_index(["of", "group", "metric"])
    assert set(groups.index.get_level_values("metric")) == {"ndcg@10", "plain_recall@3"}
    of_items = popularity_groups(shares)
    for number, group in enumerate(("popular", "middle", "rare")):
        some = shares[of_items == number]
        assert abs(some.sum() / shares.sum() - 1 / 3) <= shares.max() / shares.sum()
        alone = sp.csr_array(held_out.toarray() * (of_items == number))
        expected = summary(evaluate(Given(scores), fold_in, alone, names[:2]).per_user)
        for name in names[:2]:
            row = groups.loc[("items", group, name)]
            assert row["mean"] == expected.loc[name, "mean"]
            assert row["n_users"] == np.count_nonzero(np.diff(alone.indptr))
    assert shares[of_items == 0].min() >= shares[of_items == 2].max()
    length, counted = np.diff(fold_in.indptr), np.diff(held_out.indptr) > 0
    first, second = np.quantile(length[counted], [1 / 3, 2 / 3], method="lower")
    users = {
        "least active": length <= first,
        "middle": (length > first) & (length <= second),
        "most active": length > second,
    }
    for group, chosen in users.items():
        row = groups.loc[("users", group, "ndcg@10")]
        assert row["mean"] == pytest.approx(found.per_user["ndcg@10"][chosen & counted].mean())
        assert row["n_users"] == np.sum(chosen & counted) > 0


def test_items_of_equal_popularity_are_divided_in_exact_thirds():
    # 86/94 eight times is rounded to less than a third of 24 times
    assert np.bincount(popularity_groups(np.full(24, 86 / 94))).tolist() == [8, 8, 8]


@pytest.mark.filterwarnings("error")
def test_a_user_whose_items_are_all_masked_has_no_novelty():
    everything = sp.csr_array(np.ones((1, 2)))
    found = evaluate(Popularity(np.ones(2)), everything, everything, ["novelty@2"], np.ones(2) / 2)
    assert np.isnan(found.per_user["novelty@2"]).all()


def test_shares_are_of_the_training_users_that_have_an_item():
    x = sp.csr_array(np.array([[2, 0, 1], [0, 0, 1], [0, 0, 0]], np.float32))
    np.testing.assert_array_equal(Training.of(x).shares, [1 / 2, 1 / 2, 1])


def test_equal_use_has_no_gini_and_one_item_nearly_all():
    assert gini(np.full(9, 4)) == 0
    assert gini(np.eye(1, 9, dtype=np.int64)[0]) == pytest.approx(8 / 9)
    assert math.isnan(gini(np.zeros(9, np.int64)))


@pytest.mark.parametrize("name", ["ndcg", "ndcg@0", "ndcg@-1", "ndcg@1.5", "nDCG@5", "auc@5", ""])
def test_an_unknown_metric_is_told_with_the_known_ones(name):
    with pytest.raises(UserError, match=f"no metric '{name}'; known: ndcg@k, .*gini@k") as error:
        metric(name)
    assert "\n" not in str(error.value)


def test_novelty_without_the_training_users_is_refused():
    scores, fold_in, held_out = given(1)
    with pytest.raises(ValueError, match="novelty and groups need the shares"):
        evaluate(Given(scores), fold_in, held_out, ["novelty@5"])
    assert list(evaluate(Given(scores), fold_in, held_out).per_user) == list(DEFAULT)


@pytest.mark.parametrize("seed", SEEDS)
def test_other_libraries_agree(seed):
    """Their values come from `benchmarks/metrics_of_others.py`, as they need other packages."""
    scores, fold_in, held_out = (np.array(part) for part in rankings(seed))
    sparse = sp.csr_array(fold_in.astype(np.float32)), sp.csr_array(held_out.astype(np.float32))
    theirs = RESULTS[RESULTS["seed"] == seed].set_index(["library", "metric"])["value"]
    assert set(theirs.index.get_level_values("library")) == {"ranx", "rectools"}
    names = theirs.index.get_level_values("metric").unique()
    found = evaluate(Given(scores), *sparse, names, Training.of(sparse[0]).shares)
    ours = found.per_user.mean().to_dict() | found.overall
    assert {name.partition("@")[0] for name in names} == set(KINDS) - {"recall", "gini"}
    for (library, name), value in theirs.items():
        assert ours[name] == pytest.approx(value, abs=1e-9), (library, name)
