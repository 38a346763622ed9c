"""Means over users: their errors, intervals and corrected p-values."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from lindrop.ranking import differences
from lindrop.ranking.differences import holm, means, paired_to
from lindrop.ranking.evaluation import paired, summary


def users(models=3, number=200, seed=0):
    random = np.random.default_rng(seed)
    common = random.random(number)[:, None] * 0.8
    values = common + random.normal(0, 0.05, (number, models)) + np.arange(models) * 0.02
    values[::10] = np.nan  # nothing held out
    return pd.DataFrame(values, columns=[f"m{k}" for k in range(models)])


def test_paired_differences_have_the_mean_and_error_of_the_differences():
    table = users()
    found = paired_to(table["m2"], table[["m0", "m1"]])
    for name, mean in zip(("m0", "m1"), found, strict=True):
        one = table[[name]].rename(columns={name: "x"})
        other = table[["m2"]].rename(columns={"m2": "x"})
        expected = paired(one, other).loc["x"]
        assert mean.value == pytest.approx(expected["mean"], rel=1e-12)
        assert mean.stderr == pytest.approx(expected["stderr"], rel=1e-9)
        assert mean.users == 180
        assert mean.low < mean.value < mean.high < 0
        # the means of the models tell much less
        assert mean.stderr < summary(other)["stderr"]["x"] / 3


def test_a_difference_that_is_the_same_for_all_users_is_told_apart_from_none():
    best = pd.Series([1.0, 1.0, 1.0])
    never, also = paired_to(best, pd.DataFrame({"never": [0.0] * 3, "also": [1.0] * 3}))
    assert (never.value, never.stderr, never.p_value) == (-1, 0, 0)
    assert (also.value, also.stderr, also.p_value) == (0, 0, 1)


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    hit = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        (mean,) = means(random.exponential(1, (60, 1)), np.ones(60))
        hit += mean.low < 1 < mean.high
    assert 170 <= hit <= 198  # of exponentials, a little less than 95 %


def test_draws_in_blocks_are_those_at_once(monkeypatch):
    values = users(2).dropna().to_numpy()
    whole = means(values, np.ones(len(values)))
    monkeypatch.setattr(differences, "BLOCK", 1000)
    for one, other in zip(whole, means(values, np.ones(len(values))), strict=True):
        assert asdict(one) == pytest.approx(asdict(other), rel=1e-12)


def test_a_user_with_several_values_counts_with_all_of_them():
    single, double = np.array([[1.0], [2.0], [6.0]]), np.array([[2.0], [4.0], [12.0]])
    (once,), (twice,) = means(single, [1, 1, 1]), means(double, [2, 2, 2])
    assert once == twice
    assert means([[3.0], [6.0]], [1, 2])[0].value == 3


def test_one_user_or_none_tells_nothing():
    one, none = (pd.Series(values) for values in ([0.5, np.nan], [np.nan, np.nan]))
    (found,) = paired_to(one, pd.DataFrame({"m": [0.25, np.nan]}))
    assert (found.value, found.p_value, found.users) == (-0.25, 1.0, 1)
    assert np.isnan([found.stderr, found.low, found.high]).all()
    (nothing,) = paired_to(none, pd.DataFrame({"m": [np.nan, np.nan]}))
    assert np.isnan(nothing.value)
    assert (nothing.p_value, nothing.users) == (1.0, 0)


def test_equal_models_are_equal():
    table = users(1)
    (found,) = paired_to(table["m0"], table[["m0"]])
    assert (found.value, found.stderr, found.p_value) == (0, 0, 1)


def test_p_values_are_corrected_for_their_number():
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm([]), [])
