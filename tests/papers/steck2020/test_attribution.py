"""Rows 1 to 5 as published and exact: the models, the comparisons, the claims and the figure."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lindrop.base.errors import UserError
from lindrop.base.yaml_files import read_yaml
from lindrop.claims.verdicts import Verdict, verdict
from lindrop.data.split import Protocol
from lindrop.models.base import LowRank
from lindrop.papers.steck2020 import attribution
from lindrop.papers.steck2020.attribution import (
    AT_REST,
    EXACT,
    PUBLISHED,
    SAME,
    column,
)
from lindrop.papers.steck2020.figures import attribution as figure
from lindrop.papers.steck2020.procedures import ROWS, Data, Point
from lindrop.papers.steck2020.section_6 import ROWS as MODELS
from lindrop.ranking.metrics import CRITERION
from lindrop.store.csv_files import read_csv, write_csv
from support.models import tasteful
from support.repository import REPOSITORY

PRINTED = str(REPOSITORY / "config" / "paper_values" / "steck2020_table1.yaml")


@pytest.fixture(scope="module")
def results(study):
    return study.results(study.trials())


@pytest.fixture(scope="module")
def longer(study):
    points = [Point(row.p or 0.0, 30.0, row.epochs[0]) for row in ROWS]
    return pd.concat(
        study.results(study.longer(*one, (5, 10, 50)))[0] for one in zip(ROWS, points, strict=True)
    )


def test_every_row_is_trained_and_solved(results):
    models, users = results
    made = {(row, procedure) for row in range(1, 6) for procedure in (PUBLISHED, SAME, EXACT)}
    assert set(zip(models["row"], models["procedure"], strict=True)) == made | {(5, AT_REST)}
    assert set(users) == {"user"} | {column(row, procedure) for row, procedure in made} | {
        column(5, AT_REST)
    }
    assert (users["user"] == [f"u{number}" for number in range(60)]).all()
    at = models.set_index(["row", "procedure"])
    for row in range(1, 6):
        published, same = at.loc[(row, PUBLISHED)], at.loc[(row, SAME)]
        assert (published["p"], published["lambda"]) == (same["p"], same["lambda"])
        assert published["gap"] == pytest.approx(published["objective"] / same["objective"] - 1)
        assert published["gap"] > -1e-5
        assert published["converged"] == (published["gap"] <= 1e-3)
        assert published["epochs"] in ROWS[row - 1].epochs
        assert same["converged"]
        assert np.isnan(same["gap"])
        mean = users[column(row, PUBLISHED)].mean()
        assert mean == pytest.approx(published[CRITERION])
    assert at.loc[(4, EXACT), CRITERION] == at.loc[(3, EXACT), CRITERION]
    omega = 0.74 * np.diag(tasteful(300, 40).T.toarray() @ tasteful(300, 40).toarray()).mean()
    aim, published = at.loc[(5, AT_REST)], at.loc[(5, PUBLISHED)]
    assert aim["lambda"] == pytest.approx(2 * published["lambda"] + omega)


def test_more_epochs_and_other_starts(longer):
    for row in range(1, 6):
        trained = longer[(longer["row"] == row) & (longer["procedure"] == PUBLISHED)]
        assert trained["seed"].tolist() == [0, 1, 2, 0, 0, 0]
        assert trained["times"].tolist() == [1, 1, 1, 5, 10, 50]
        assert (trained["epochs"] == trained["times"] * ROWS[row - 1].epochs[0]).all()
        if row < 5:  # the notebook's ADMM may leave the optimum again
            assert trained["gap"].iloc[-1] < trained["gap"].iloc[0]
        assert (trained["gap"].dropna() > -1e-5).all()
    assert (longer.loc[longer["row"].isin([2, 3]), "gap"].dropna().iloc[-1:] < 1e-4).all()


def test_a_training_that_diverges_has_no_accuracy(study, monkeypatch):
    def diverging(self, row, point, seed):
        yield LowRank(np.ones((40, 4)), np.ones((40, 4)))
        yield LowRank(np.full((40, 4), np.nan), np.full((40, 4), np.nan))
        raise AssertionError("trained on")

    monkeypatch.setattr(Data, "published", diverging)
    found, _ = study.results(study.longer(ROWS[1], Point(0.0, 30.0, 1), (5, 10, 50)))
    trained = found[found["procedure"] == PUBLISHED]
    assert trained[CRITERION].notna().tolist() == [True] * 3 + [False] * 3
    assert trained["gap"].notna().tolist() == [True] * 3 + [False] * 3
    assert not trained["converged"].any()


def test_other_splits_have_other_seeds():
    protocol = Protocol(heldout_users=5)
    assert attribution.another_split(protocol, 0) == protocol
    assert attribution.another_split(protocol, 3) == Protocol(heldout_users=5, seed=98768)
    last = Protocol(heldout_users=5, seed=2**32 - 1)
    assert attribution.another_split(last, 1) == Protocol(heldout_users=5, seed=0)


def test_the_configured_seed_gives_the_random_starts(study):
    """Every row trained as published has another start, and the default is the notebook's."""
    assert [study.data.seed_of(start) for start in range(3)] == [0, 1, 2]
    others = [replace(study, data=replace(study.data, seed=seed)) for seed in (2, 0)]
    assert [other.data.seed_of(0) for other in others] == [1, 2**32 - 1]
    for row in ROWS:
        point = Point(row.p or 0.0, 30.0, 2)
        values = [
            next(of.results(of.longer(row, point, (1,)))[0].itertuples()).objective
            for of in (study, *others, study)
        ]
        assert values[0] == values[3]
        assert len({*values}) == 3
    assert others[0].data.training.seed == 2


def test_errors_are_those_of_users_however_often_they_are_tested():
    rng = np.random.default_rng(0)
    one = pd.Series(rng.normal(0.1, 1, 400))
    users = pd.DataFrame({"user": range(400), "split": 0})
    single = figure.pooled(users, one)
    assert single["stderr"] == pytest.approx(one.std(ddof=0) / 20)
    assert single["low"] == pytest.approx(single["value"] - 1.96 * single["stderr"], abs=0.01)
    assert single["high"] == pytest.approx(single["value"] + 1.96 * single["stderr"], abs=0.01)
    z = abs(single["value"]) / single["stderr"]
    assert single["p_value"] == pytest.approx(2 * (1 - _normal(z)), abs=1e-4)
    twice = figure.pooled(
        pd.concat([users, users.assign(split=1)], ignore_index=True),
        pd.concat([one, one], ignore_index=True),
    )
    assert twice["stderr"] == pytest.approx(single["stderr"]), "nothing new was learnt"
    assert (twice["splits"], twice["users"], twice["between"]) == (2, 400, 0.0)


@pytest.mark.parametrize("ids", [("7", "07", "8"), ("1e5", "100000", "inf"), ("1", "2", "u3")])
def test_users_are_told_apart_by_their_ids_as_texts(tmp_path, ids):
    """The ids of one split may all look like numbers while those of another split do not."""
    tables = []
    for split, known in enumerate((ids[:2], ids)):
        values = {"user": known, "value": [0.1, 0.3, 0.4][: len(known)]}
        write_csv(tmp_path / "users.csv", pd.DataFrame({"dataset": "x", "split": split, **values}))
        tables.append(read_csv(tmp_path / "users.csv", "a rule"))
    users = pd.concat(tables, ignore_index=True)
    found = figure.pooled(users, users["value"])
    assert (found["users"], found["splits"]) == (3, 2)
    sums, counts = np.array([0.2, 0.6, 0.4]), np.array([2, 2, 1])
    off = sums - sums.sum() / 5 * counts
    assert found["stderr"] == pytest.approx(np.sqrt((off**2).sum()) / 5)


def test_a_mean_with_a_training_that_diverged_is_unknown():
    """Its missing values must not count as zeros."""
    users = pd.DataFrame({"user": ["a", "b", "a", "c"], "split": [0, 0, 1, 1]})
    found = figure.pooled(users, pd.Series([0.4, 0.5, np.nan, np.nan]))
    assert np.isnan([found[key] for key in ("value", "stderr", "low", "high", "between")]).all()
    assert np.isnan(found["p_value"])


def _normal(z):
    t = np.linspace(-10, z, 200_001)
    return float(np.trapezoid(np.exp(-(t**2) / 2) / np.sqrt(2 * np.pi), t))


def test_p_values_are_corrected_by_holms_method():
    found = figure.holm([0.01, 0.04, 0.03, 0.005])
    np.testing.assert_allclose(found, [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(figure.holm([0.5, 0.9]), [1, 1])


@pytest.fixture
def made(results, longer, tmp_path):
    """What `data` of the figure makes of two splits of one dataset."""

    def make(paper=None, label="other", changes=()):
        models, users = results
        facts = {"dataset": "one", "data": label, "paper": paper}
        users = users.assign(**dict(changes))
        files = SimpleNamespace(splits=[], users=[], rows=[str(tmp_path / "rows.csv")])
        write_csv(files.rows[0], longer.assign(**facts))
        for number in range(2):
            files.splits.append(str(tmp_path / f"split-{number}.csv"))
            write_csv(files.splits[-1], models.assign(**facts, split=number))
            files.users.append(str(tmp_path / f"users-{number}.csv"))
            write_csv(files.users[-1], users.assign(dataset="one", split=number))
        return figure.data(**vars(files), printed=PRINTED)

    return make


def test_the_figure_has_every_mean_gain_and_training(made, results):
    found = made()
    assert next(iter(found)) == "dataset"  # by which the workflow knows what it was made from
    counts = found["quantity"].value_counts().to_dict()
    assert counts == {"criterion": 16, "gain": 12, "epochs": 20, "starts": 5}
    gain = found[(found["of"] == "3 exact") & (found["less"] == "2 exact")].iloc[0]
    users = results[1]
    assert gain["value"] == pytest.approx((users["3 exact"] - users["2 exact"]).mean())
    assert (found["holm"].dropna() >= found["p_value"].dropna()).all()
    drawn = figure.draw(found)
    assert drawn.axes[0].get_title(loc="left") == "one, rank 4"
    assert len(drawn.axes) == 3


def test_a_row_is_shown_with_the_parameters_that_it_has(made):
    points = made().dropna(subset=["points"]).set_index("of")["points"]
    named = {name: set(re.findall(r"(\S+)=|(epochs)", text)) for name, text in points.items()}
    for row in ROWS:
        expected = {("λ", "")} | ({("p", "")} if row.p is not None else set())
        assert named[column(row.number, EXACT)] == expected
        assert named[column(row.number, PUBLISHED)] == expected | {("", "epochs")}


def test_without_a_split_by_users_there_is_nothing_to_compare():
    with pytest.raises(UserError, match="has `split: users`"):
        figure.data([], [], [], PRINTED)


NDCG = [0.30, 0.32, 0.34, 0.33, 0.36]
NOISE = np.random.default_rng(5).normal(0, 0.001, (5, 60))


def scores(procedure, means, noise=NOISE):
    return {column(row, procedure): mean + noise[row - 1] for row, mean in enumerate(means, 1)}


def test_claims_follow_from_the_gains_of_each_procedure(made):
    ordered = scores(PUBLISHED, NDCG) | scores(EXACT, NDCG)
    found = figure.checks(made(changes=ordered))
    assert _verdicts(found) == {
        "attribution": Verdict.IN_SHAPE,
        "attribution_exact": Verdict.IN_SHAPE,
    }
    worse = [0.33, 0.32, 0.34, 0.33, 0.36]
    found = figure.checks(made(changes=ordered | scores(EXACT, worse)))
    assert _verdicts(found) == {
        "attribution": Verdict.IN_SHAPE,
        "attribution_exact": Verdict.OTHERWISE,
    }
    close = [0.30, 0.3001, 0.34, 0.33, 0.36]
    found = figure.checks(made(changes=ordered | scores(PUBLISHED, close, 20 * NOISE)))
    assert _verdicts(found)["attribution"] is Verdict.UNDECIDED
    assert max(check.needed_users for check in found) > 60


def _verdicts(found):
    named = {name: [check for check in found if check.claim == name]
             for name in ("attribution", "attribution_exact")}  # fmt: skip
    return {name: verdict(checks) for name, checks in named.items()}


def test_printed_numbers_are_compared_on_the_papers_sets_alone(made):
    other = [check for check in figure.checks(made()) if check.claim == "attribution_printed"]
    assert len(other) == 5
    assert verdict(other) == Verdict.NOT_RUN
    column_of = read_yaml(PRINTED)["columns"]["MSD"]["rows"]
    means = [column_of[model][2] for model in MODELS]
    for shift, expected in ((0.0, Verdict.REPRODUCED), (0.004, Verdict.NOT_REPRODUCED)):
        printed = scores(PUBLISHED, [mean + shift for mean in means], 0 * NOISE)
        found = figure.checks(made("MSD", "published", printed))
        own = [check for check in found if check.claim == "attribution_printed"]
        assert verdict(own) == expected
