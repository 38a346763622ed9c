"""The best model of a dataset in words and on the page, and how sure that is."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lindrop.base.stopwatch import Cost
from lindrop.models import tuning
from lindrop.models.base import Fit, FullRank, Popularity, bytes_of
from lindrop.output import compare, compare_costs, datasets
from lindrop.output.compare_page import compared
from lindrop.output.tables import write_table
from lindrop.output.winner import place
from lindrop.ranking.differences import holm, paired_to
from lindrop.store.interactions import write_interactions
from lindrop.store.metrics import read_metrics, write_metrics
from lindrop.store.split import write_split
from support.splits import interactions_of, random_split

METRICS = ["ndcg@10", "recall@5", "coverage@3"]
ITEMS = 30


def result_of(values, seconds, edge="", converged=True, coverage=0.5):
    """A result of users with these values of the first metric."""
    table = pd.DataFrame({METRICS[0]: values, METRICS[1]: np.asarray(values) / 2})
    cost = Cost(seconds, 100.0)
    return tuning.Tested(8, {"lambda": 30.0}, edge, converged, table, cost, {METRICS[2]: coverage})


@pytest.fixture
def models():
    random = np.random.default_rng(0)
    user = random.uniform(0.1, 0.7, 120)
    edlae, noise = user + random.normal(0.03, 0.02, 120), random.normal(0, 0.03, 120)
    return {
        "popularity": result_of(user * 0.5, 0.01),
        "ease": result_of(user + random.normal(0, 0.05, 120), 2.0, edge="λ"),
        "edlae": result_of(edlae, 9.0, coverage=0.7),
        "sparse_edlae": result_of(edlae - 0.001 + noise - noise.mean(), 0.5, converged=False),
    }


def test_the_best_model_comes_first_and_others_are_paired_with_it(models):
    placed = place(models, METRICS, "ndcg@10")
    assert list(placed) == ["edlae", "sparse_edlae", "ease", "popularity"]
    assert place(models, METRICS, "recall@5").keys() == placed.keys()
    best = models["edlae"].per_user["recall@5"]
    others = {name: models[name].per_user["recall@5"] for name in list(placed)[1:]}
    expected = paired_to(best, pd.DataFrame(others))
    corrected = holm([mean.p_value for mean in expected])
    for name, mean, p_value in zip(others, expected, corrected, strict=True):
        found = placed[name]["recall@5"]
        assert found == (mean.value, mean.low, mean.high, mean.p_value, p_value)
    assert placed["ease"]["coverage@3"].difference == pytest.approx(-0.2)
    assert np.isnan(placed["ease"]["coverage@3"].holm)


@pytest.fixture
def run(models, tmp_path):
    """The files that a run with two datasets has, and the tables made from them."""
    rows = [(f"u{user}", f"i{(user * 3 + k) % ITEMS}") for user in range(70) for k in range(9)]
    files = {"metrics": [], "splits": [], "interactions": []}
    for name in ("demo", "mine"):
        read = interactions_of([*rows, *rows[:40]])
        folder = tmp_path / name
        folder.mkdir()
        write_interactions(folder / "interactions.h5", read, {"format": "csv"})
        source = {"format": "synthetic" if name == "demo" else "csv", "verified_by": None}
        write_split(folder / "split.h5", random_split(), source)
        files["splits"].append(str(folder / "split.h5"))
        files["interactions"].append(str(folder / "interactions.h5"))
        for model, result in models.items():
            file = tmp_path / "metrics" / name / f"{model}.h5"
            file.parent.mkdir(parents=True, exist_ok=True)
            kind = Popularity if model == "popularity" else FullRank
            size = ITEMS if model == "popularity" else (ITEMS, ITEMS)
            fitted = kind(np.ones(size, np.float32))
            sized = replace(result, model_megabytes=bytes_of(fitted) / 1e6)
            write_metrics(file, name, model, {8: (sized, Fit(fitted))})
            files["metrics"].append(str(file))
    asked = files["metrics"], files["splits"], ["demo", "mine"], 8, METRICS, "ndcg@10"
    lines = compare.data(*asked)
    facts = datasets.data(files["interactions"], files["splits"], ["demo", "mine"])
    for name, table, shown, caption in (
        ("compare", compare.table(lines), compare.shown(lines), compare.caption(lines)),
        ("datasets", datasets.table(facts), datasets.shown(facts), datasets.CAPTION),
    ):
        ends = {end: str(tmp_path / f"{name}.{end}") for end in ("csv", "md", "html", "tex")}
        write_table(table, type("Files", (), ends), caption, shown)
    return tmp_path, asked


def test_the_table_for_programs_has_the_differences_and_the_size(run):
    table = pd.read_csv(run[0] / "compare.csv")
    columns = ["dataset", "model", "metric", "mean", "stderr", "n_users", "n_items", "params"]
    assert list(table)[:10] == [*columns, "seconds", "megabytes"]
    assert list(table["model"].unique()) == ["edlae", "sparse_edlae", "ease", "popularity"]
    of = table[(table["dataset"] == "mine") & (table["metric"] == "ndcg@10")].set_index("model")
    assert of["difference"].to_numpy() == pytest.approx(of["mean"] - of["mean"]["edlae"])
    assert (of["low"] < of["difference"])[1:].all()
    assert (of["holm"] >= of["p_value"])[1:].all()
    assert of["model_megabytes"]["ease"] == pytest.approx(4e-6 * ITEMS**2)
    assert of["model_megabytes"]["popularity"] == pytest.approx(4e-6 * ITEMS)
    assert (
        (run[0] / "compare.md")
        .read_text()
        .startswith("Models on the test users of each dataset. demo: EDLAE is best: nDCG@10 0.4")
    )


def test_the_page_says_which_model_wins_by_how_much_and_how_sure_that_is(run):
    folder, _ = run
    mine, demo = compared(folder / "compare.csv", folder / "datasets.csv", "ndcg@10", {"demo"})
    assert (mine.name, demo.name) == ("mine", "demo"), "the user's own data come first"
    assert (mine.generated, demo.generated) == (False, True)
    text = " ".join(mine.words)
    assert re.match(r"EDLAE is best: nDCG@10 0\.4\d+ on 120 test users\.", text)
    assert re.search(
        r"Over popularity it gains 0\.\d{4} \(95 % interval 0\.\d+ to 0\.\d+, p < ", text
    )
    assert re.search(r"Over the second, sparse EDLAE, it gains .* cannot be told apart", text)
    assert "sparse EDLAE was fitted fastest, in 0.5 s instead of 9.0 s" in text
    marks = {row.title: row.marks for row in mine.rows}
    assert marks["EDLAE"] == marks["popularity"] == ""
    assert marks["sparse EDLAE"] == "≈ ◌"
    assert [row.best for row in mine.rows] == [True, False, False, False]
    assert mine.columns == [
        *("nDCG@10", "Behind the best", "Fit", "Size", "Recall@5", "Coverage@3", "Chosen")
    ]
    notes = " ".join(mine.notes)
    assert "corrected for 3 comparisons by Holm's method" in notes
    assert "(λ): the best value is at an end of its list" in notes
    assert "sparse EDLAE: not converged" in notes
    assert mine.facts["rows read"] == "670"
    assert mine.facts["repeats of a pair"].endswith("(keep)")
    assert "no model can find them" in mine.warning


def test_one_model_alone_beats_nothing(models):
    placed = place({"ease": models["ease"]}, METRICS, "ndcg@10")
    assert placed == {
        "ease": dict.fromkeys(METRICS, (0.0, *[pytest.approx(np.nan, nan_ok=True)] * 4))
    }


def test_metrics_remember_the_size_of_the_model(models, tmp_path):
    model = FullRank(np.ones((ITEMS, ITEMS), np.float32))
    sized = replace(models["ease"], model_megabytes=bytes_of(model) / 1e6)
    write_metrics(tmp_path / "a.h5", "mine", "ease", {8: (sized, Fit(model))})
    assert read_metrics(tmp_path / "a.h5")[8].model_megabytes == pytest.approx(4e-6 * ITEMS**2)


def test_the_picture_has_a_point_and_a_name_for_every_model(run):
    data = compare_costs.data(*run[1])
    figure = compare_costs.draw(data)
    assert len(figure.axes) == 4  # two datasets, time and size
    for axis in figure.axes:
        names = [text.get_text() for text in axis.texts]
        assert names[0] == "EDLAE"
        assert len(names) == len(axis.containers) == 4


@pytest.mark.parametrize("wanted", [[0.5] * 6, [0.9, 0.95, 1.0, 0.1], list(np.linspace(0, 1, 20))])
def test_names_beside_the_picture_do_not_overlap(wanted):
    found = compare_costs.spread(np.array(wanted))
    assert np.diff(np.sort(found)).min() >= compare_costs.GAP - 1e-9
    assert (np.argsort(found, kind="stable") == np.argsort(wanted, kind="stable")).all()
