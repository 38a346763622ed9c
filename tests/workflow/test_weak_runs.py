"""Runs on splits in which training users are tested: from a configuration to the table."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from lindrop.models.base import Training
from lindrop.models.catalogue import fit
from lindrop.ranking.evaluation import evaluate
from lindrop.store.split import read_split_matrix
from support.configurations import rules_run

SETTINGS = """
metrics: [plain_recall@5, ndcg@10, hit_rate@5, novelty@5, coverage@5, gini@400]
criterion: ndcg@10
compare: {models: [ease, dropout_l2]}
rank: 8
ranks: [8]
tuning: grid
models:
  ease: {lambda: [3, 30, 300]}
  dropout_l2: {p: [0.2, 0.5], lambda: [10]}
"""
GIVEN = """
datasets:
  mine:
    source: {format: adjacency, path: train.txt, test: test.txt.gz}
    protocol: {split: given}
"""
BY_TIME = """
datasets:
  mine:
    source: {format: csv, path: mine.csv, time: when}
    protocol: {split: time, cut: '1970-01-05', min_user_interactions: 5}
"""


def lists(seed=0):
    """Items of users with two tastes each, in random order."""
    random = np.random.default_rng(seed)
    for user in range(150):
        taste = random.choice(6, 2, replace=False)
        liked = [item for item in range(60) if item % 6 in taste]
        yield user, random.permutation(liked)[: random.integers(8, 18)]


def expected(split, metrics):
    """The metrics of EASE at the λ that is best on the validation part, fitted to all training."""
    x = {
        part: read_split_matrix(split, part)
        for part in ("train", *(f"{of}/{k}" for of in ("validation", "test")
                                for k in ("fold_in", "held_out")))
    }  # fmt: skip
    tuned, final = Training.of(x["validation/fold_in"]), Training.of(x["train"])
    scores = {
        ridge: evaluate(
            fit("ease", tuned, ridge=ridge).model,
            *(x[f"validation/{part}"] for part in ("fold_in", "held_out")),
            ["ndcg@10"],
        ).per_user["ndcg@10"].mean()
        for ridge in (3, 30, 300)
    }  # fmt: skip
    best = max(scores, key=scores.__getitem__)
    model = fit("ease", final, ridge=best).model
    found = evaluate(model, x["test/fold_in"], x["test/held_out"], metrics, final.shares)
    return best, found.per_user.mean().to_dict() | found.overall


@pytest.mark.parametrize("config", [GIVEN, BY_TIME], ids=["given", "time"])
def test_a_weak_split_is_tuned_without_its_validation_and_tested_with_it(project, config):
    rows = list(lists())
    train = "".join(f"u{u} {' '.join(map(str, own[3:]))}\n" for u, own in rows)
    test = "".join(f"u{u} {' '.join(map(str, own[:3]))}\n" for u, own in rows)
    project.write("train.txt", train)
    project.path("test.txt.gz").write_bytes(gzip.compress(f"{test}nobody 3 4\n".encode()))
    table = [(f"u{u}", item, when) for u, own in rows for when, item in enumerate(own[::-1])]
    text = "".join(f"{u},{item},1970-01-{1 + when % 6:02}\n" for u, item, when in table)
    project.write("mine.csv", "user,item,when\n" + text)
    project.write("config/mine.yaml", config + SETTINGS)

    jobs = rules_run(project.ok("snakemake --cores 2 --configfile config/mine.yaml -- compare"))
    assert {"gram", "gram_of_tuning", "tune", "fit", "compare_table"} <= set(jobs)
    assert "steck2020_table1" not in jobs
    found = pd.read_csv(project.path("results/tables/compare.csv"))
    assert list(found)[:6] == ["dataset", "model", "metric", "mean", "stderr", "n_users"]
    names = ["plain_recall@5", "ndcg@10", "hit_rate@5", "novelty@5", "coverage@5", "gini@400"]
    assert found["metric"].tolist() == names * 2
    best, values = expected(project.path("results/data/mine/split.h5"), names)
    ease = found[found["model"] == "ease"].set_index("metric")
    assert ease["mean"].to_dict() == pytest.approx(values, rel=1e-5)
    assert ease["params"].str.startswith(f"λ={best:g}").all()
    assert ease["stderr"].isna().tolist() == [False] * 4 + [True] * 2
    assert (ease["n_users"] == ease["n_users"].iloc[0]).all()
    groups = pd.read_csv(project.path("results/tables/compare_groups.csv"))
    assert set(groups["metric"]) == set(names[:3])
    of_users = groups[(groups["model"] == "ease") & (groups["of"] == "users")]
    whole = of_users[of_users["metric"] == "ndcg@10"]
    assert np.average(whole["mean"], weights=whole["n_users"]) == pytest.approx(values["ndcg@10"])
    log = project.path("results/logs/compare_table.log").read_text()
    assert "gini@400: it has 60 items only" in log
    page = project.path("results/report/compare.html").read_text()
    assert "plain_recall@5" in page
    if config == GIVEN:
        log = project.path("results/logs/split/mine.log").read_text()
        assert "2 test interactions of users without any history are left out" in log
        source = json.loads(project.path("results/data/mine/source.json").read_text())
        assert source["test"]["file"] == "test.txt.gz"
        assert (ease["n_users"] == 150).all()
        project.write("test.txt", test)
        again = config.replace("test.txt.gz", "test.txt")
        project.write("config/mine.yaml", again + SETTINGS.replace("[3, 30, 300]", "[30]"))
        planned = project.ok(
            "snakemake -n --cores 2 --configfile config/mine.yaml -- results/metrics/mine/ease.h5"
        )
        assert {"verify_source", "split", "gram", "fit"} <= set(rules_run(planned))
        assert {"tune", "gram_of_tuning"}.isdisjoint(rules_run(planned))


def test_a_mistake_in_a_given_file_ends_the_run_with_one_line(project):
    project.write("train.txt", "1 2 3\n2 3 4\n")
    project.path("test.txt.gz").write_bytes(gzip.compress(b"1 3\n"))
    project.write("config/mine.yaml", GIVEN + SETTINGS)
    output = project.fails("snakemake --cores 2 --configfile config/mine.yaml -- data")
    assert "dataset mine: no test interaction is left" in output


DEEP = """
metrics: [ndcg@10, novelty@60]
criterion: ndcg@10
compare: {models: [popularity, cdae]}
rank: 8
ranks: [8]
models: {cdae: {latent: 4, epochs: 2}}
"""


def test_a_deep_model_is_judged_by_the_popularity_that_other_models_are_judged_by(project):
    """Popularity is that of the training part, of which a deep model is fitted to less."""
    pytest.importorskip("torch", reason="needs PyTorch: make .venv/ready-deep")
    rows = [(f"u{u}", item, when) for u, own in lists() for when, item in enumerate(own)]
    text = "".join(f"{u},{item},1970-01-{1 + when % 6:02}\n" for u, item, when in rows)
    project.write("mine.csv", "user,item,when\n" + text)
    project.write("config/mine.yaml", BY_TIME + DEEP)
    tables = "results/tables/compare.csv results/tables/compare_groups.csv"
    project.ok(f"snakemake --cores 2 --configfile config/mine.yaml -- {tables}")
    found = pd.read_csv(project.path("results/tables/compare.csv")).set_index(["metric", "model"])
    # of all items, both list the same ones
    assert found.loc["novelty@60", "mean"].nunique() == 1
    groups = pd.read_csv(project.path("results/tables/compare_groups.csv"))
    users = groups[groups["of"] == "items"].groupby(["group", "metric"])["n_users"]
    assert (users.nunique() == 1).all()
