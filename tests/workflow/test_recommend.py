"""`snakemake recommend` writes what `lindrop.recommend` gives, for all users or for those named."""

import os

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import lindrop
from lindrop.serving.histories import Histories
from lindrop.serving.recommend import recommended
from lindrop.store.split import read_all_interactions, read_split
from support.configurations import SMALL, errors, rules_run
from support.project import Project
from support.repository import copy_project

ONE = SMALL + "models: {ease: {lambda: [100]}}\nrank: 5\nranks: [5]\n"
RUN = "snakemake recommend --cores 1 --configfile mine.yaml"
FILE = "results/recommendations/small/ease.parquet"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    project = Project(copy_project(tmp_path_factory.mktemp("recommend")))
    project.write("mine.yaml", ONE + "recommend: {k: 4}\n")
    project.ok(RUN)
    return project


def expected(project, k):
    model = lindrop.read_model(project.path("results/models/small/ease.h5"))
    found = Histories(*read_all_interactions(project.path("results/data/small/split.h5")))
    return pd.concat(recommended(model, found, k), ignore_index=True)


def test_the_file_has_the_recommendations_of_all_users(project):
    written = pd.read_parquet(project.path(FILE)).astype({"by": object})
    pd.testing.assert_frame_equal(written, expected(project, 4).astype({"by": object}))
    assert written["user"].nunique() == 400


def test_nobody_is_recommended_what_is_known_of_them(project):
    """Neither training nor fold-in nor held-out items, against the rows of the split itself."""
    split = read_split(project.path("results/data/small/split.h5"))
    known = {
        (split.users[uid], split.items[sid])
        for events in split.parts().values()
        for uid, sid in zip(events.uid, events.sid, strict=True)
    }
    written = pd.read_parquet(project.path(FILE))
    assert len(known) > 1000
    assert not known & set(zip(written["user"], written["item"], strict=True))


def test_users_of_a_file_in_its_order_and_unknown_ones_get_what_is_popular(project):
    everybody = expected(project, 4)
    some = list(everybody["user"].unique()[[7, 3]])
    project.write("users.txt", "\n".join([*some, "nobody knows me"]) + "\n")
    project.write("mine.yaml", ONE + "recommend: {k: 4, users: users.txt}\n")
    output = project.ok(RUN)
    assert set(rules_run(output)) == {"recommend_users", "recommend"}
    written = pd.read_parquet(project.path(FILE))
    assert list(written["user"].unique()) == [*some, "nobody knows me"]
    assert set(written.loc[written["user"] == "nobody knows me", "by"]) == {"popularity"}
    assert pq.read_schema(project.path(FILE)).names == ["user", "item", "rank", "score", "by"]


def test_another_file_of_users_counts_however_old_it_is(project):
    project.write("users.txt", "nobody knows me\n")
    os.utime(project.path("users.txt"), (1e9, 1e9))
    assert "recommend_users" in rules_run(project.ok(f"{RUN} -n"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "users.txt: no id in it"),
        ("a\nb\na\n", "users.txt: 1 of its 3 lines repeat an id"),
    ],
)
def test_a_wrong_list_of_users_is_refused(project, text, message):
    project.write("users.txt", text)
    project.write("mine.yaml", ONE + "recommend: {users: users.txt}\n")
    output = project.fails(RUN)
    (line,) = errors(output)
    assert message in line


def test_an_unknown_model_is_answered_with_the_known_ones(project):
    project.write("mine.yaml", ONE + "recommend: {models: [eese]}\n")
    output = project.fails(RUN)
    (line,) = errors(output)
    assert 'recommend.models[0]: "eese" is not allowed; allowed: popularity' in line


def test_the_run_says_which_model_recommends_and_whether_it_was_chosen_on_older_data(project):
    command = RUN
    table = "results/tables/compare.csv"
    project.write("mine.yaml", ONE + "recommend: {k: 3}\n")
    assert f"small: ease recommends, as {table} compares no models on it" in project.ok(command)
    by_ndcg = "small,popularity,ndcg@100,0.3\nsmall,ease,ndcg@100,0.2\n"
    project.write(table, "dataset,model,metric,mean\nother,ease,ndcg@100,0.4\n" + by_ndcg)
    assert f"small: popularity recommends, the best of {table}\n" in project.ok(command)
    os.utime(project.path(table), (0, 0))
    project.write("mine.yaml", ONE + "recommend: {k: 5}\n")
    said = f"small: popularity recommends, the best of {table}, which is of older data\n"
    assert said in project.ok(command)
    assert pd.read_parquet(project.path(FILE.replace("ease", "popularity")))["rank"].max() == 5


def test_the_best_model_is_that_by_the_criterion_of_the_configuration(project):
    """It need not be the first one of a table that was made with another criterion."""
    command = "snakemake recommend --cores 1 -n --configfile mine.yaml"
    table = "results/tables/compare.csv"
    lines = ["popularity,ndcg@100,0.3", "popularity,recall@20,0.1", "slim,recall@20,"]
    lines += ["ease,ndcg@100,0.2", "ease,recall@20,0.2"]
    project.write(table, "\n".join(["dataset,model,metric,mean", *("small," + x for x in lines)]))
    project.write("mine.yaml", ONE + "recommend: {k: 9}\ncriterion: recall@20\n")
    assert "results/recommendations/small/ease.parquet" in project.ok(command)
    project.write("mine.yaml", ONE + "recommend: {k: 9}\n")
    assert "results/recommendations/small/popularity.parquet" in project.ok(command)


def test_a_model_remembers_all_options_of_its_fit_so_that_refit_makes_it_again(project):
    slim = "models: {slim: {l1: [1.0], l2: [1.0], nonnegative: false, tolerance: 1.0e-6}}\n"
    project.write("slim.yaml", SMALL + slim + "rank: 5\nranks: [5]\n")
    file = "results/models/small/slim.h5"
    project.ok(f"snakemake {file} --cores 1 --configfile slim.yaml")
    saved = lindrop.read_model(project.path(file))
    assert saved.parameters["nonnegative"] is False
    assert saved.parameters["tolerance"] == 1e-6
    x = read_split(project.path("results/data/small/split.h5")).matrix("train")
    again = lindrop.refit(saved, x).fit.model.matrix
    assert (again.data < 0).any()
    np.testing.assert_allclose(again.toarray(), saved.fit.model.matrix.toarray(), atol=1e-6)


def test_a_model_remembers_the_columns_and_ratings_of_its_table(project):
    """So low ratings are no interactions in Python either, whatever the column is called."""
    random = np.random.default_rng(0)
    pairs = np.argwhere(random.random((80, 12)) < 0.6)
    table = pd.DataFrame({"who": pairs[:, 0], "what": pairs[:, 1]}).astype(str)
    table["stars"] = random.integers(1, 6, len(table))
    table.to_csv(project.path("my.csv"), index=False)
    source = "{format: csv, path: my.csv, user: who, item: what, rating: stars}"
    protocol = "{heldout_users: 10, min_rating: 3}"
    mine = f"datasets: {{mine: {{source: {source}, protocol: {protocol}}}}}\n"
    project.write("stars.yaml", mine + "models: {ease: {lambda: [100]}}\ncompare: {budget: null}\n")
    file = "results/models/mine/ease.h5"
    project.ok(f"snakemake {file} --cores 1 --configfile stars.yaml")
    saved = lindrop.read_model(project.path(file))
    good = table[table["stars"] > 3].drop(columns="stars")
    expected = lindrop.recommend(saved, good, k=3, columns=("who", "what"))
    found = lindrop.recommend(saved, table, k=3)
    found = found[found["user"].isin(expected["user"])]
    keys = ["user", "rank"]
    pd.testing.assert_frame_equal(
        found.sort_values(keys).reset_index(drop=True),
        expected.sort_values(keys).reset_index(drop=True),
    )
    again, of_good = (lindrop.refit(saved, rows, ("who", "what")) for rows in (table, good))
    np.testing.assert_array_equal(again.shares, of_good.shares)
