"""Figure 1 (left) trained as published: its curves, and the claims that they decide."""

from itertools import islice

import numpy as np
import pytest

from lindrop.base.errors import UserError
from lindrop.claims.verdicts import Verdict, verdict
from lindrop.papers.steck2020 import curves
from lindrop.papers.steck2020.figures import fig1_as_published as figure
from lindrop.papers.steck2020.procedures import Data, Point
from lindrop.store.csv_files import write_csv


@pytest.fixture(scope="module")
def trained(study):
    return curves.curves(study, [2, 8, 16, 64])


def test_every_curve_has_every_rank_and_ends_at_full_rank(trained):
    found = trained.groupby("curve")["rank"].apply(list).to_dict()
    assert found == {name: [2, 8, 16, 40] for name in curves.TRAINED}
    assert (trained["full_rank"] == (trained["rank"] == 40)).all()
    ends = trained[trained["full_rank"]].set_index("curve")["model"].to_dict()
    expected = {"edlae": "full_edlae", "product_l2": "full_l2", "zero_diagonal_l2": "ease"}
    assert ends == expected


def test_points_are_those_of_the_published_procedure(study, trained):
    for line in trained[~trained["full_rank"]].to_dict("records"):
        row = curves.TRAINED[line["curve"]]
        assert line["epochs"] in row.epochs
        data = Data(study.data.x, line["rank"])
        point = Point(line["p"], line["ridge"], int(line["epochs"]))
        *_, last = islice(data.published(row, point, 0), point.epochs)
        assert study.test.score(last) == pytest.approx(line["mean"])


@pytest.fixture
def shown(trained, tmp_path):
    file = tmp_path / "curves.csv"
    write_csv(file, trained.assign(dataset="one", data="other", set=None))
    return figure.data([str(file)])


def test_the_figure_is_drawn_and_its_claims_follow_from_the_curves(shown):
    assert figure.draw(shown).axes[0].get_title(loc="left") == "one"
    shape = {"edlae": (0.30, 0.40), "product_l2": (0.299, 0.33), "zero_diagonal_l2": (0.25, 0.39)}
    even = shown.assign(stderr=0.001, lead_stderr=0.0001, free_stderr=0.0001)
    steps = np.log(even["rank"] / 2) / np.log(20)
    low, high = (even["curve"].map({name: of[end] for name, of in shape.items()}) for end in (0, 1))
    as_printed = even.assign(mean=low + steps * (high - low))
    assert set(verdicts(as_printed).values()) == {Verdict.IN_SHAPE, Verdict.OTHERWISE}
    assert verdicts(as_printed)["fig1_as_published_highest"] == Verdict.IN_SHAPE
    worse = as_printed.assign(mean=as_printed["mean"] - 0.05 * (even["curve"] == "edlae"))
    assert verdicts(worse)["fig1_as_published_highest"] == Verdict.OTHERWISE


def test_of_the_papers_sets_netflix_alone_decides(shown):
    published = shown.assign(data="published")
    assert {check.claim for check in figure.checks(published.assign(set="Netflix"))} == {
        *figure.CLAIMS.values()
    }
    for other in ("ML-20M", "MSD"):
        assert not figure.checks(published.assign(set=other))


def verdicts(data):
    found = figure.checks(data)
    names = {check.claim for check in found}
    assert names == {*figure.CLAIMS.values()}
    return {name: verdict([check for check in found if check.claim == name]) for name in names}


def test_without_a_split_by_users_there_is_nothing_to_train():
    with pytest.raises(UserError, match="has `split: users`"):
        figure.data([])
