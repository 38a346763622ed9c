"""A search finds the point that fits of the whole grid find, with fewer fits."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from lindrop.models.base import Training
from lindrop.models.catalogue import CATALOGUE
from lindrop.models.options import ITERATIONS, LAMBDA, P
from lindrop.models.search import (
    FINE,
    WIDER,
    _Search,
    between,
    beyond,
    coarse,
    rough_options,
    search,
)
from lindrop.models.tuning import choose, tune
from lindrop.ranking.evaluation import evaluate
from lindrop.ranking.grids import axes, grid
from support.models import tasteful

LAMBDAS = [1, 3, 10, 30, 100, 300, 1000]
OPTIONS = {
    "weight_decay": {"lambda": LAMBDAS},
    "dropout_l2": {"p": [0.1, 0.2, 0.35, 0.5, 0.65, 0.8], "lambda": LAMBDAS},
    "edlae": {
        "p": [0.1, 0.2, 0.3, 0.45, 0.6],
        "lambda": LAMBDAS,
        "iterations": 100,
        "tolerance": 3e-5,
    },
    "ease": {"lambda": LAMBDAS},
    "slim": {
        "l1": [0.03, 0.1, 0.3, 1, 3],
        "l2": [1, 10, 100, 300],
        "nonnegative": True,
        "tolerance": 1e-4,
    },
}
RANKS = [2, 4, 6]


@pytest.fixture(scope="module")
def data():
    return Training.of(tasteful(3_000, 60)[:600])


@pytest.fixture(scope="module")
def users():
    """Other users of the same tastes: what is known of them, and what is held out."""
    x = tasteful(3_000, 60)[600:].toarray()
    known = np.random.default_rng(0).random(x.shape) < 0.7
    return sp.csr_array(x * known), sp.csr_array(x * ~known)


def searched(name, data, users, options=None):
    ranks = RANKS if CATALOGUE[name].low_rank else [data.items]
    options = OPTIONS[name] if options is None else options
    return search(data, name, ranks[len(ranks) // 2], ranks, options, *users)


@pytest.mark.parametrize("name", OPTIONS)
def test_its_choice_is_as_good_as_that_of_the_whole_grid(name, data, users):
    """Within one standard error of the difference, user by user, at every rank."""
    options, found = OPTIONS[name], searched(name, data, users)
    ranks = sorted(set(found["rank"]))
    whole = tune(data, name, grid(options), ranks, options, *users)
    points = found[[*axes(options)]].drop_duplicates()
    if len(axes(options)) > 1:
        assert len(points) < len(grid(options))
    left, right = choose(found, options), choose(whole, options)
    assert list(left["rank"]) == list(right["rank"]) == ranks
    for (_, ours), (_, theirs) in zip(left.iterrows(), right.iterrows(), strict=True):
        scores = []
        for row in (ours, theirs):
            point = {"ridge" if axis == "lambda" else axis: row[axis] for axis in axes(options)}
            ((_, fit),) = CATALOGUE[name].fits(data, [row["rank"]], **point)
            scores.append(evaluate(fit.model, *users).per_user["ndcg@100"])
        apart = scores[0] - scores[1]
        assert apart.mean() >= -apart.sem()


@pytest.mark.parametrize("name", ["dropout_l2", "edlae"])
def test_it_makes_the_same_fits_every_time(name, data, users):
    one, other = (searched(name, data, users).drop(columns="seconds") for _ in range(2))
    pd.testing.assert_frame_equal(one, other)


def test_a_grid_whose_best_value_is_at_its_end_is_continued(data, users):
    """It goes on by its last ratio, a few times at most; an inner choice is not on the edge."""
    inner = choose(searched("ease", data, users), OPTIONS["ease"])["lambda"][0]
    assert 30 <= inner <= 300
    for short in ([1, 3], [3000, 10000]):
        options = {"lambda": short}
        found = searched("ease", data, users, options)
        chosen = choose(found, options).iloc[0]
        added = set(found["lambda"]) - set(short)
        assert 1 <= len(added) <= WIDER
        whole = tune(data, "ease", grid(options), [60], options, *users)
        assert choose(whole, options)["edge"][0] == "λ"
        assert chosen["ndcg@100"] > whole["ndcg@100"].max()
        assert (chosen["edge"] == "λ") == (chosen["lambda"] in (min(added), max(added)))


def test_the_choice_is_made_by_fits_to_the_full_tolerance(data, users):
    found = searched("edlae", data, users)
    rough, again = found[found["rough"]], found[~found["rough"]]
    assert len(rough) > len(again) > 0
    assert rough["iterations"].mean() < again["iterations"].mean()
    chosen = choose(found, OPTIONS["edlae"])
    for rank, rows in again.groupby("rank"):
        best = rows.loc[rows["ndcg@100"].idxmax()]
        ours = chosen[chosen["rank"] == rank].iloc[0]
        assert (ours["p"], ours["lambda"]) == (best["p"], best["lambda"])


def test_points_that_cannot_be_fitted_are_passed_over():
    random = np.random.default_rng(0)
    x = sp.csr_array((random.random((60, 30)) < 0.3).astype(np.float32))
    x = sp.csr_array(sp.hstack([x, x[:, :10]]))
    options = {"p": [0.0], "lambda": [0.0, 5.0, 50.0]}
    found = search(Training.of(x), "dropout_l2", 3, [3], options, x, x)
    assert choose(found, options)["lambda"][0] > 0
    nothing = {"lambda": [1e8, 1e9]}
    found = search(Training.of(x), "weight_decay", 3, [3], nothing, x, x)
    assert found["ndcg@100"].isna().all()


class Landscape:
    """Stands in for `Trials`: with λ above `usable` nothing can be fitted, all others are alike."""

    name = "edlae"
    entry = CATALOGUE["edlae"]

    def __init__(self, usable):
        self.usable, self.fitted = usable, []

    def of(self, point, ranks, options):
        for rank in ranks:
            self.fitted.append((rank, *point.values()))
            value = 0.5 if point["lambda"] <= self.usable else np.nan
            yield {"rank": rank, **point, "ndcg@100": value}


@pytest.mark.parametrize("usable", [0.5, 1, 1000])
def test_where_no_first_point_can_be_fitted_the_whole_grid_is_tried(usable):
    """Else a grid with one good point would be refused, and the other ranks were never fitted."""
    trials = Landscape(usable)
    options = {"p": [0.1, 0.2], "lambda": [1, 10, 100], "iterations": 100, "tolerance": 3e-5}
    found = _Search(trials, 5, [*RANKS[:2], 5], options, "ndcg@100").table()
    assert set(found["rank"]) == {*RANKS[:2], 5}
    whole = {
        (rank, p, ridge) for rank in found["rank"] for p in (0.1, 0.2) for ridge in (1, 10, 100)
    }
    assert (set(trials.fitted) >= whole) == (usable < 10)
    assert found["ndcg@100"].notna().any() == (usable >= 1)


class Peak:
    """Stands in for `Trials`: the metric falls by `slope` per decade from its best λ."""

    name = "edlae"
    entry = CATALOGUE["edlae"]

    def __init__(self, slope, best=500.0):
        self.slope, self.best, self.fitted = slope, best, []

    def of(self, point, ranks, options):
        for rank in ranks:
            self.fitted.append((rank, point["lambda"]))
            value = 0.5 - self.slope * abs(np.log10(point["lambda"] / self.best))
            yield {"rank": rank, **point, "ndcg@100": value if point["lambda"] < 5000 else np.nan}


@pytest.mark.parametrize("listed", [[1, 10, 100, 1000, 10_000], [30, 100, 300, 1000, 3000]])
def test_the_middle_of_two_values_is_tried_where_a_better_one_may_lie_between(listed):
    options = {"lambda": listed, "iterations": 100, "tolerance": 3e-5}
    trials = Peak(slope=0.2)
    found = choose(_Search(trials, 5, [*RANKS[:2], 5], options, "ndcg@100").table(), options)
    assert found["lambda"].between(500 / FINE**0.5, 500 * FINE**0.5).all()
    assert len(trials.fitted) < 2 * len(set(trials.fitted))  # a point at most twice: rough, full
    flat = Peak(slope=1e-4)
    _Search(flat, 5, [5], options, "ndcg@100").table()
    assert {ridge for _, ridge in flat.fitted} <= set(listed)


def test_the_middle_of_two_values_is_that_of_their_ratio():
    values, p = LAMBDA([1, 3, 10]), P([0.5, 0.8])
    assert between(300, 1000, values) == between(1000, 300, values) == 550
    assert between(1, FINE, values) is between(0, 10, values) is None
    assert between(0.5, 0.8, p) == pytest.approx(0.67)  # p/(1-p): 1, 2, 4
    assert between(5, 20, ITERATIONS(5)) == 10
    assert between(1, 3, ITERATIONS(5)) == 2


def test_every_second_value_is_tried_first():
    assert coarse([1, 2, 3, 4, 5]) == [2, 4]
    assert coarse([1, 2]) == [2]
    assert coarse([7]) == [7]


def test_rough_fits_stop_early():
    assert rough_options({"lambda": [1]}) == {"lambda": [1]}
    rough = rough_options({"p": [0.1], "iterations": 500, "tolerance": 1e-5})
    assert rough == {"p": [0.1], "iterations": 100, "tolerance": 1e-4}
    assert rough_options({"iterations": 10, "tolerance": 1e-5})["iterations"] == 10


def test_an_axis_is_continued_in_its_last_ratio():
    values = LAMBDA([1, 3, 10])
    assert beyond([1, 3, 10], -1, values) == 33
    assert beyond([1, 3, 10], 0, values) == pytest.approx(0.33)
    assert beyond([0, 3, 10], 0, values) is None
    assert beyond([0, 3], -1, values) == 30  # no ratio to 0
    p = P([0.5, 0.8])
    assert beyond([0.5, 0.8], -1, p) == pytest.approx(0.94)  # p/(1-p): 1, 4, 16
    assert beyond([0.5, 0.8], 0, p) == pytest.approx(0.2)
    assert beyond([5, 10], -1, ITERATIONS(5)) == 20
    for end, option in itertools.product((0, -1), (values, p)):
        axis = [0.3, 0.5]
        for _ in range(WIDER):
            value = beyond(axis, end, option)
            assert option.problem(value) == ""
            axis = sorted([*axis, value])
            assert axis[end] == value
