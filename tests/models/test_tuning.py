"""The grid is searched whole, validation users choose, and the test users are asked once."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from lindrop.base.errors import UserError
from lindrop.base.stopwatch import Cost
from lindrop.models import tuning
from lindrop.models.base import Training
from lindrop.models.catalogue import CATALOGUE, fit
from lindrop.models.entry import Ranks
from lindrop.models.tuning import (
    choose,
    number_of,
    only_choice,
    parameters,
    ranks_of,
    refit,
    tune,
    usable_ranks,
)
from lindrop.ranking.evaluation import evaluate, summary
from lindrop.ranking.grids import chunks, grid
from lindrop.ranking.metrics import DEFAULT as METRICS
from lindrop.store.metrics import read_metrics, write_metrics
from support.models import tasteful

OPTIONS = {"p": [0.1, 0.3, 0.5], "lambda": [0, 5, 50], "iterations": 7, "tolerance": 1e-9}


@pytest.fixture(scope="module")
def data():
    return Training.of(tasteful(300, 30))


@pytest.fixture(scope="module")
def users():
    """Other users of the same tastes: what is known of them, and what is held out."""
    x = tasteful(400, 30)[300:].toarray()
    known = np.random.default_rng(0).random(x.shape) < 0.5
    return sp.csr_array(x * known), sp.csr_array(x * ~known)


def test_a_grid_is_every_combination():
    points = grid(OPTIONS)
    assert points == [{"p": p, "lambda": v} for p in (0.1, 0.3, 0.5) for v in (0, 5, 50)]
    assert grid({"lambda": [1, 2], "iterations": 3}) == [{"lambda": 1}, {"lambda": 2}]
    assert grid({"l1": [1], "nonnegative": True, "l2": [3, 4]}) == [
        {"l1": 1, "l2": 3},
        {"l1": 1, "l2": 4},
    ]
    assert grid({}) == [{}]
    assert parameters(points[1], OPTIONS) == {
        "p": 0.1,
        "ridge": 5,
        "iterations": 7,
        "tolerance": 1e-9,
    }


@pytest.mark.parametrize("per_job", [1, 2, 3, 9, 10, 100])
def test_jobs_take_every_point_once(per_job):
    parts = chunks(9, per_job)
    assert list(itertools.chain(*parts)) == list(range(9))
    assert all(0 < len(part) <= per_job for part in parts)
    assert chunks(0, per_job) == []


def test_ranks_stay_below_the_number_of_items():
    assert usable_ranks([50, 10, 10, 200], 60) == [10, 50]
    assert usable_ranks([59, 60], 60) == [59]
    with pytest.raises(
        UserError, match="rank 10 at most, and no configured rank is below that: set a smaller"
    ) as caught:
        usable_ranks([10, 50], 10)
    assert "\n" not in str(caught.value)

    wide = Training(sp.csr_array((90, 60)), lambda: None)
    assert ranks_of("ease", 50, [10, 20], wide) == [60]
    assert ranks_of("edlae", 50, [20, 10], wide) == [10, 20, 50]
    assert ranks_of("edlae", 100, [20, 10], wide) == [10, 20]
    assert ranks_of("sampled_dropout", 50, [20, 10], wide) == [50]
    assert ranks_of("sampled_dropout", 100, [20, 10], wide) == [20]
    few_users = Training(sp.csr_array((15, 60)), lambda: None)
    assert ranks_of("edlae", 50, [20, 10], few_users) == [10]


def trials(*rows):
    return pd.DataFrame(rows, columns=["rank", "p", "lambda", "ndcg@100", "recall@20"])


def test_the_best_point_of_each_rank_is_chosen_by_ndcg():
    found = choose(
        trials(
            (10, 0.1, 5, 0.30, 0.9),
            (10, 0.3, 5, 0.35, 0.1),
            (10, 0.5, 5, np.nan, 0.9),
            (20, 0.3, 5, 0.20, 0.1),
            (20, 0.1, 50, 0.40, 0.1),
        ),
        OPTIONS,
    )
    assert found[["rank", "p", "lambda"]].to_numpy().tolist() == [[10, 0.3, 5], [20, 0.1, 50]]
    assert found["edge"].tolist() == ["", "p, λ"]


def test_one_point_is_chosen_from_the_tables_of_several_jobs():
    """Each numbers its rows from 0."""
    jobs = [trials((10, p, 5, 0.3 - p, 0.1), (20, p, 5, p, 0.1)) for p in (0.1, 0.3, 0.5)]
    found = choose(pd.concat(jobs), OPTIONS)
    assert found[["rank", "p"]].to_numpy().tolist() == [[10, 0.1], [20, 0.5]]


def test_a_point_that_cannot_be_fitted_loses_no_other(users):
    """G is singular here: λ = 0 without dropout has no solution."""
    random = np.random.default_rng(0)
    x = sp.csr_array((random.random((60, 30)) < 0.3).astype(np.float32))
    x = sp.csr_array(sp.hstack([x, x[:, :10]]))
    options = {"p": [0.0], "lambda": [0.0, 5.0]}
    found = tune(Training.of(x), "dropout_l2", grid(options), [3, 6], options, x, x)
    failed = found["lambda"] == 0
    assert found.loc[failed, "ndcg@100"].isna().all()
    assert found.loc[~failed, "ndcg@100"].notna().all()
    assert choose(found, options)["lambda"].tolist() == [5.0, 5.0]


def test_a_model_that_is_zero_is_never_chosen(data, users):
    options = {"lambda": [1.0, 1e9]}
    found = tune(data, "weight_decay", grid(options), [3], options, *users)
    assert found[tuning.CRITERION].isna().tolist() == [False, True]
    assert choose(found, options)["lambda"].tolist() == [1.0]


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("ease", {"ridge": 1e30}),
        ("full_edlae", {"p": 0.3, "ridge": 1e30}),
        ("sparse_edlae", {"neighbours": 5, "p": 0.3, "ridge": 1e60}),
        ("hybrid_edlae", {"factors": 3, "neighbours": 5, "p": 0.3, "ridge": 1e60}),
        ("hybrid_edlae", {"factors": 2, "neighbours": 5, "p": 0.3, "ridge": 1e18}),
        ("slim", {"l1": 1e9, "l2": 1.0}),
        ("weight_decay", {"rank": 3, "ridge": 1e9}),
    ],
)
def test_a_model_that_is_zero_is_not_fitted_in_silence(data, users, name, parameters):
    """All items would tie, and their order in the file would look like recommendations."""
    with pytest.raises(UserError, match="the model is zero, so that all items tie: its penalty"):
        fit(name, data, **parameters)
    point = {"lambda" if key == "ridge" else key: value for key, value in parameters.items()}
    rank = point.pop("rank", data.items)
    found = tune(
        data, name, [point], [rank], {key: [value] for key, value in point.items()}, *users
    )
    assert found[tuning.CRITERION].isna().all()


def test_a_fit_that_has_no_room_is_refused_before_it_starts(data, users, monkeypatch):
    monkeypatch.setattr("lindrop.base.memory.available_bytes", lambda: 1000.0)
    with pytest.raises(UserError, match=r"fitting EDLAE to .* items needs 0\.\d GB"):
        tune(data, "edlae", grid(OPTIONS)[:1], [3], OPTIONS, *users)
    with pytest.raises(UserError, match="fitting EDLAE"):
        fit("edlae", data, rank=3, p=0.1, ridge=1.0)


@pytest.mark.parametrize(
    ("p", "ridge", "edge"),
    [(0.3, 5, ""), (0.1, 5, "p"), (0.5, 5, "p"), (0.3, 50, "λ"), (0.3, 0, ""), (0.5, 50, "p, λ")],
)
def test_a_choice_on_the_edge_of_its_grid_is_marked(p, ridge, edge):
    """λ = 0 is no edge: nothing is below it."""
    assert choose(trials((10, p, ridge, 0.1, 0.1)), OPTIONS)["edge"].tolist() == [edge]


def test_a_single_value_has_no_edge():
    only = {"p": [0.1], "lambda": [5]}
    assert choose(trials((10, 0.1, 5, 0.1, 0.1)), only)["edge"].tolist() == [""]


def test_validation_users_without_held_out_items_cannot_choose():
    with pytest.raises(UserError, match="no validation user has held-out items"):
        choose(trials((10, 0.1, 5, np.nan, np.nan)), OPTIONS)


def test_a_grid_of_one_point_needs_no_validation(data, users):
    options = {"p": [0.3], "lambda": [5], "iterations": 7}
    chosen = only_choice(options, [3, 6])
    assert choose(tune(data, "edlae", grid(options), [3, 6], options, *users), options)[
        list(chosen)
    ].equals(chosen)
    assert list(refit(data, "edlae", chosen, options, *users)) == [3, 6]
    assert only_choice({}, [30]).to_dict("records") == [{"rank": 30, "edge": ""}]
    with pytest.raises(ValueError, match="too many values"):
        only_choice(OPTIONS, [3])


def test_the_number_of_the_chosen_point_survives_a_file(tmp_path):
    options = {"beta": [0.1, 0.3, 1, 1 / 3], "lambda": [1e-5, 2, 1e5], "epochs": 7}
    for number, point in enumerate(grid(options)):
        pd.DataFrame([point]).to_csv(tmp_path / "trial.csv", index=False)
        (row,) = pd.read_csv(tmp_path / "trial.csv").to_dict("records")
        assert number_of(row, options) == number


def test_what_a_killed_process_took_counts(data, users, monkeypatch):
    entry, now = CATALOGUE["popularity"], [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])

    def resumed(data, ranks):
        ((rank, whole),) = entry.fits(data, ranks)
        now[0] += 7
        yield rank, replace(whole, earlier=Cost(1000.0, 1e6))

    models, ranks = {"resumed": replace(entry, function=resumed, ranks=Ranks.EACH)}, [data.items]
    results = refit(data, "resumed", only_choice({}, ranks), {}, *users, models=models)
    ((tested, _),) = results.values()
    assert tested.cost.seconds == 1007
    assert tested.cost.megabytes == 1e6
    (row,) = tune(data, "resumed", [{}], ranks, {}, *users, models=models).to_dict("records")
    assert row["seconds"] == 1007


def test_a_grid_whose_one_model_is_zero_is_refused(data, users):
    options = {"lambda": [1e9]}
    with pytest.raises(
        UserError, match=r"weight_decay at {.lambda.: 1000000000.0}: the model is zero"
    ):
        refit(data, "weight_decay", only_choice(options, [3]), options, *users)


def test_a_trial_is_a_fit_and_its_metrics(data, users):
    found = tune(data, "edlae", grid(OPTIONS)[:4], [3, 6], OPTIONS, *users)
    assert found[["p", "lambda", "rank"]].to_numpy().tolist() == [
        [*point.values(), rank] for point in grid(OPTIONS)[:4] for rank in (3, 6)
    ]
    assert set(found["iterations"]) == {7}
    assert not found["converged"].any()
    assert np.all(found["seconds"] >= 0)
    for row in found.to_dict("records"):
        alone = fit(
            "edlae", data, row["rank"], p=row["p"], ridge=row["lambda"], iterations=7, tolerance=0
        )
        expected = summary(evaluate(alone.model, *users).per_user)["mean"]
        np.testing.assert_allclose([row[metric] for metric in METRICS], expected, rtol=1e-4)


CHOSEN = trials((3, 0.1, 5, 0, 0), (6, 0.3, 50, 0, 0), (9, 0.1, 5, 0, 0)).assign(edge=["", "λ", ""])
MODELS = {
    "edlae": (OPTIONS, CHOSEN),
    "weight_decay": ({"lambda": [5, 50]}, CHOSEN.drop(columns="p")),
    "ease": ({"lambda": [5, 50]}, CHOSEN.drop(columns="p").assign(rank=30)[:1]),
    "popularity": ({}, CHOSEN.drop(columns=["p", "lambda"]).assign(rank=30)[:1]),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_test_users_are_asked_once_per_rank(name, data, users, monkeypatch, tmp_path):
    options, chosen = MODELS[name]
    asked, fitted = [], []
    fits = CATALOGUE[name].fits

    def counting(model, *of, **more):
        asked.append(model)
        return evaluate(model, *of, **more)

    def noting(data, ranks, **options):
        fitted.append(options)
        return fits(data, ranks, **options)

    monkeypatch.setattr(tuning, "evaluate", counting)
    models = {name: replace(CATALOGUE[name], function=noting, ranks=Ranks.EACH, fixed={})}
    results = refit(data, name, chosen, options, *users, models=models)

    assert list(results) == chosen["rank"].tolist()
    assert len(asked) == len(chosen)
    assert len(fitted) == len({tuple(options.items()) for options in fitted})
    for row in chosen.to_dict("records"):
        tested, found = results[row["rank"]]
        point = {axis: row[axis] for axis in ("p", "lambda") if axis in row}
        rank = row["rank"] if CATALOGUE[name].low_rank else None
        alone = fit(name, data, rank, **parameters(point, options))
        assert (tested.rank, tested.parameters, tested.edge) == (row["rank"], point, row["edge"])
        assert tested.converged == found.converged == alone.converged
        np.testing.assert_allclose(
            found.model.scores(users[0]), alone.model.scores(users[0]), atol=1e-4
        )
        np.testing.assert_array_equal(tested.per_user, evaluate(found.model, *users).per_user)

    write_metrics(tmp_path / "metrics.h5", "demo", name, results)
    for rank, again in read_metrics(tmp_path / "metrics.h5").items():
        expected, _ = results[rank]
        apart = {"per_user": 0, "groups": 0}
        assert vars(again) | apart == vars(expected) | apart
        pd.testing.assert_frame_equal(again.groups, expected.groups, check_dtype=False)
        assert len(again.groups) == 2 * 3 * len(METRICS)
        assert again.cost.seconds > 0
        assert again.cost.megabytes > 10
        np.testing.assert_array_equal(again.per_user, expected.per_user)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("wmf", {"alpha": 1.0}, {"alpha": 1e30}),
        ("sampled_dropout", {"lambda": 10}, {"lambda": 1e300}),
        ("ease", {"lambda": 10}, {"lambda": 1e308}),
    ],
)
def test_a_point_with_numbers_that_overflow_leaves_the_others_alone(name, good, bad, data, users):
    options = {option: one.default for option, one in CATALOGUE[name].options.items()}
    options = {key: one[:1] if isinstance(one, list) else one for key, one in options.items()}
    options |= {axis: [one, bad[axis]] for axis, one in good.items()}
    ranks = ranks_of(name, 5, [5], data)
    with np.errstate(all="ignore"):
        found = tune(data, name, grid(options), ranks, options, *users)
    axis = next(iter(good))
    assert list(found[axis]) == [good[axis], bad[axis]]
    assert list(found[tuning.CRITERION].notna()) == [True, False]
