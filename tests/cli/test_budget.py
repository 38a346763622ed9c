"""Which models the command line compares within a budget of time and memory."""

import time
from dataclasses import replace
from math import inf

from lindrop.base.deadline import until
from lindrop.models.catalogue import CATALOGUE
from lindrop.store.model import read_model
from support.commands import QUICK, rows


def test_models_that_do_not_fit_into_the_memory_are_left_out_by_name(folder, said, monkeypatch):
    monkeypatch.setattr("lindrop.cli.comparison.available_bytes", lambda: 3e8)
    output, _ = said("plan", "my.csv")
    table = rows(output).set_index("model")["note"]
    assert "left out: needs" in table["ease"]
    assert "GB of memory, 0.3 GB are available" in table["ease"]


def test_a_rank_that_the_data_have_not_becomes_the_largest_usual_one(folder, said):
    output, _ = said("plan", "my.csv", "--models", "edlae")
    assert rows(output)["rank"].tolist() == [25]
    assert rows(output)["note"].tolist() == ["rank 25, as the data have no 150"]


def test_a_plan_is_what_tune_does(folder, said):
    output, talk = said("plan", "my.csv", *QUICK)
    table = rows(output).set_index("model")
    assert table["points"].to_dict() == {"popularity": 1, "ease": 2}
    assert (table["minutes"] > 0).all()
    assert "of 5 minutes" in talk
    assert [file.name for file in folder.iterdir()] == ["my.csv"]
    _, talk = said("tune", "my.csv", *QUICK)
    assert "ease: 2 points" in talk


def test_no_model_is_tuned_after_the_budget_but_popularity(folder, said):
    for left_out, models in {"sparse_edlae": (), "ease": QUICK}.items():
        output, talk = said("tune", "my.csv", "--budget", 1e-6, *models)
        assert f"{left_out} is left out: not done when the 1e-06 minutes were over" in talk
        assert set(rows(output)["model"]) == {"popularity"}


def test_a_fit_that_has_begun_ends_with_the_budget(folder, said, refused, monkeypatch):
    began = []

    def slow(data, **parameters):
        began.append(parameters)
        while True:
            time.sleep(0.01)

    entry = replace(CATALOGUE["ease"], function=slow)
    monkeypatch.setitem(CATALOGUE, "ease", entry)
    with monkeypatch.context() as hurried:  # each fit is ended soon, but not before it has begun
        hurried.setattr(
            "lindrop.cli.tune.until",
            lambda end, message: until(end if end == inf else time.time() + 0.5, message),
        )
        output, talk = said("tune", "my.csv", "--models", "popularity,ease,wmf", "--budget", "3")
    assert began
    assert "ease is left out: not done when the 3 minutes were over; --budget gives" in talk
    assert "popularity" in rows(output)["model"].to_list()
    assert "ease" not in rows(output)["model"].to_list()
    assert read_model("my.model.h5").name in ("popularity", "wmf")
    assert sorted(path.name for path in folder.iterdir()) == ["my.csv", "my.model.h5"]
    line = refused(1, "tune", "my.csv", "--models", "ease", "--budget", "0.02", "-o", "other.h5")
    assert "no model was done within 0.02 minutes: --budget gives more" in line
    assert not (folder / "other.h5").exists()


def test_models_that_are_named_without_a_budget_take_what_they_need(folder, said, monkeypatch):
    monkeypatch.setattr("lindrop.cli.comparison.MINUTES", 1e-6)
    _, talk = said("tune", "my.csv", *QUICK)
    assert "is best" in talk
    assert "not done" not in talk
