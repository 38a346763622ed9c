"""What the commands compute, from a table to recommendations, and what they print."""

import json

import numpy as np
import pandas as pd
import pytest

import lindrop
from lindrop.cli.app import COMMANDS
from lindrop.models.base import Training
from lindrop.models.catalogue import fit
from lindrop.store.model import read_model
from lindrop.store.split import read_split
from support.commands import QUICK, X, rows


def test_a_bare_command_says_what_to_do_first(said):
    output, _ = said()
    assert "lindrop tune my.csv" in output
    assert "lindrop recommend my.model.h5 my.csv" in output
    assert all(name in output for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_teaches_by_examples(said, name):
    output, _ = said(name, "--help")
    assert "Examples:" in output
    assert f"  lindrop {name} " in output


def test_tune_compares_models_and_saves_the_best_one_fitted_to_everybody(folder, said):
    output, talk = said("tune", "my.csv", *QUICK)
    table = rows(output)
    ndcg = table[table["metric"] == "ndcg@100"].set_index("model")["mean"]
    assert list(ndcg.index) == ["ease", "popularity"]
    assert ndcg["ease"] > ndcg["popularity"]
    assert "users in column customer, items in column product" in talk
    assert "EASE (full-rank EDLAE, p = 0) is best: nDCG@100" in talk
    saved = read_model("my.model.h5")
    assert saved.name == "ease"
    data = pd.read_csv("my.csv", dtype=str).rename(columns={"customer": "user", "product": "item"})
    again = lindrop.refit(saved, data)
    assert sorted(again.items) == sorted(saved.items)
    order = [list(again.items).index(item) for item in saved.items]
    expected = again.fit.model.matrix[np.ix_(order, order)]
    np.testing.assert_allclose(saved.fit.model.matrix, expected, atol=1e-5)


def test_recommendations_are_those_of_the_library_in_every_form(folder, said):
    said("tune", "my.csv", *QUICK)
    saved = read_model("my.model.h5")
    data = pd.read_csv("my.csv", dtype=str)
    expected = lindrop.recommend(saved, data, 4, columns=("customer", "product"))
    for ending, read in {
        "parquet": pd.read_parquet,
        "csv": lambda file: pd.read_csv(file, dtype={"user": str}),
        "tsv": lambda file: pd.read_csv(file, dtype={"user": str}, sep="\t"),
        "json": lambda file: pd.read_json(file, lines=True, dtype={"user": str}),
    }.items():
        file = f"recommendations.{ending}"
        said("recommend", "my.model.h5", "my.csv", "-k", 4, "-o", file)
        found = read(file)
        found = found.set_index("user").loc[expected["user"].unique()].reset_index()
        pd.testing.assert_frame_equal(
            found[["user", "item", "rank", "score"]],
            expected[["user", "item", "rank", "score"]],
            check_dtype=False,
            rtol=1e-6,
        )
    output, _ = said("recommend", "my.model.h5", "my.csv", "-k", 4, "--quiet")
    assert len(rows(output)) == len(expected)


def test_numbers_in_json_are_exact_however_small(folder, said):
    """The scores of this model are below 1e-10: with ten decimals, JSON would hold zeros."""
    said("fit", "my.csv", "ease", "lambda=1e13", "-o", "m.h5")
    for ending in ("parquet", "json"):
        said("recommend", "m.h5", "my.csv", "-o", f"r.{ending}")
    exact = pd.read_parquet("r.parquet")["score"].tolist()
    lines = (folder / "r.json").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["score"] for line in lines] == exact
    assert 0 < max(exact) < 1e-10


def test_users_allowed_and_blocked_items_come_from_files(folder, said):
    said("fit", "my.csv", "ease", "lambda=10", "-o", "m.h5")
    (folder / "users.txt").write_text("7\n3\nnobody\n")
    (folder / "allow.txt").write_text("p1\np2\np3\n")
    (folder / "block.txt").write_text("p2\n")
    files = ("--users", "users.txt", "--allow", "allow.txt", "--block", "block.txt", "--keep-seen")
    output, _ = said("recommend", "m.h5", "my.csv", "-k", 2, *files, "--as", "json")
    lines = [json.loads(line) for line in output.splitlines()]
    assert [line["user"] for line in lines] == ["7", "7", "3", "3", "nobody", "nobody"]
    assert {line["item"] for line in lines} == {"p1", "p3"}
    assert [line["by"] for line in lines] == ["model"] * 4 + ["popularity"] * 2


def test_similar_items_and_reasons_are_exact(folder, said):
    said("fit", "my.csv", "ease", "lambda=10", "-o", "m.h5")
    saved = read_model("m.h5")
    output, _ = said("similar", "m.h5", "p1", "p2", "--k", 3)
    assert list(rows(output)["item"][:3]) == list(lindrop.similar(saved, "p1", 3)["item"])
    output, _ = said("explain", "m.h5", "my.csv", "7", "--items", 1, "--k", 1000)
    found = rows(output)
    np.testing.assert_allclose(found["adds"].sum(), found["score"][0], rtol=1e-5)
    history = set(pd.read_csv("my.csv").query("customer == 7")["product"])
    assert set(found["because"]) == history
    best = lindrop.recommend(saved, sorted(history), 1)
    assert found["item"][0] == best["item"][0]
    np.testing.assert_allclose(found["score"][0], best["score"][0], rtol=1e-5)


def test_ids_may_look_like_options(folder, said):
    table = pd.DataFrame(
        {"user": np.repeat(np.arange(30), 4), "item": ["--a_b", "--a-b", *"xyzw"] * 20}
    )
    table.to_csv("odd.csv", index=False)
    said("fit", "odd.csv", "ease", "lambda=1", "-o", "odd.h5")
    for item in ("--a_b", "--a-b"):
        output, _ = said("similar", "odd.h5", "--as", "csv", "--k", 1, "--", item)
        assert set(rows(output)["of"]) == {item}


def test_help_names_pages_as_they_are_called(said):
    output, _ = said("tune", "--help")
    assert "(docs/protocol.md)" in " ".join(output.split())


def test_a_split_keeps_the_test_users_out_of_the_model(folder, said, refused):
    said("split", "my.csv", "--heldout-users", 80)
    parts = read_split("my.split.h5")
    said("fit", "my.split.h5", "ease", "lambda=10", "-o", "half.h5")
    expected = fit("ease", Training.of(parts.matrix("train")), ridge=10).model.matrix
    np.testing.assert_array_equal(read_model("half.h5").fit.model.matrix, expected)
    output, _ = said("evaluate", "half.h5", "my.split.h5", "--metrics", "ndcg@10,coverage@10")
    assert list(rows(output)["metric"]) == ["ndcg@10", "coverage@10"]
    said("fit", "my.csv", "ease", "lambda=10", "-o", "all.h5")
    line = refused(1, "evaluate", "all.h5", "my.split.h5")
    assert "it may know the test users" in line


def test_a_split_is_the_librarys_and_tune_takes_it(folder, said):
    said("split", "my.csv", "--heldout-users", 80, "-o", "s.h5")
    from_file, _ = said("tune", "s.h5", *QUICK)
    from_table, _ = said("tune", "my.csv", *QUICK, "--heldout-users", 80)
    columns = ["model", "metric", "mean", "stderr", "n_users"]
    pd.testing.assert_frame_equal(rows(from_file)[columns], rows(from_table)[columns])


def test_the_protocol_is_that_of_the_options(folder, said):
    said("split", "my.csv", "--min_rating", 2, "--heldout-users=50", "--split-seed", 7)
    protocol = read_split("my.split.h5").protocol
    assert (protocol.min_rating, protocol.heldout_users, protocol.seed) == (2, 50, 7)
    said("fit", "my.csv", "ease", "lambda=1", "--min-rating", 2, "-o", "m.h5")
    assert read_model("m.h5").source["min_rating"] == 2
    _, talk = said("recommend", "m.h5", "my.csv")
    assert "ratings above 2" in talk


@pytest.mark.parametrize("split", ["time", "leave_last"])
def test_other_splits(folder, said, split):
    table = pd.read_csv("my.csv").assign(timestamp=np.random.default_rng(0).permutation(X.nnz))
    table.to_csv("timed.csv", index=False)
    output, talk = said("tune", "timed.csv", "--split", split, *QUICK)
    assert set(rows(output)["model"]) == {"ease", "popularity"}
    assert "order of the file" not in talk  # its times are recognised


def test_given_files(folder, said):
    table = pd.read_csv("my.csv")
    last = table.groupby("customer").cumcount(ascending=False) == 0
    table[~last].to_csv("train.csv", index=False)
    table[last].to_csv("test.csv", index=False)
    output, _ = said("tune", "train.csv", "--split", "given", "--test", "test.csv", *QUICK)
    assert rows(output)["n_users"].iloc[0] > 300


def test_what_is_said_of_the_protocol_names_options_and_columns(folder, said):
    rows = pd.read_csv("my.csv")
    twice = pd.concat([rows, rows]).assign(when=range(2 * len(rows)))
    twice.to_csv("log.csv", index=False)
    _, talk = said("plan", "log.csv", "--models", "popularity", "--repeats", "keep")
    assert "set --repeats drop or sum" in talk
    _, talk = said("plan", "log.csv", "--models", "popularity", "--split", "leave_last")
    assert "times in column when" in talk
    assert "(--repeats drop)" in talk
    _, talk = said("plan", "my.csv", "--models", "popularity", "--split", "leave_last")
    assert "no column of times is known: name it by --time COLUMN" in talk


def test_it_is_said_where_ratings_that_the_model_needs_are_not_known(folder, said):
    said("fit", "my.csv", "ease", "lambda=10", "--min-rating", 2, "-o", "m.h5")
    _, told = said("recommend", "m.h5", "my.csv", "-o", "r.csv")
    assert ", ratings above 2" in told
    assert "note: " not in told
    pd.read_csv("my.csv")[["customer", "product"]].to_csv("plain.csv", index=False)
    _, told = said("recommend", "m.h5", "plain.csv", "-o", "r.csv")
    note = "note: the model was fitted to ratings above 2; no ratings are known here, so every row "
    assert f"{note}counts (--rating COLUMN)\n" in told
    (folder / "lists.txt").write_text("7 p1 p2\n8 p3\n")
    _, told = said("recommend", "m.h5", "lists.txt", "--format", "adjacency", "-o", "r.csv")
    assert f"{note}counts\n" in told


def test_recommendations_weigh_repeats_as_the_split_did(folder, said):
    table = pd.read_csv("my.csv")
    often = table["product"].isin([f"p{number}" for number in range(5)])
    pd.concat([table, table[often], table[often]]).to_csv("log.csv", index=False)
    said("fit", "log.csv", "ease", "lambda=10", "--repeats", "sum", "-o", "m.h5")
    said("split", "log.csv", "--repeats", "sum", "-o", "s.h5")
    said("fit", "s.h5", "ease", "lambda=10", "-o", "s.ease.h5")
    log = pd.read_csv("log.csv")
    for name in ("m.h5", "s.ease.h5"):
        model = read_model(name)
        output, _ = said("recommend", name, "log.csv", "-k", "1", "--as", "csv")
        found = rows(output).set_index("user")
        user = found.index[0]
        had = log[log["customer"] == user]["product"]
        x = np.array([(had == item).sum() for item in model.items], float)
        assert x.max() == 3
        scores = np.where(x > 0, -np.inf, x @ model.fit.model.matrix)
        assert found["item"].iloc[0] == model.items[scores.argmax()]
        np.testing.assert_allclose(found["score"].iloc[0], scores.max(), rtol=1e-4)
        output, _ = said("explain", name, "log.csv", user, found["item"].iloc[0], "--as", "csv")
        np.testing.assert_allclose(rows(output)["score"], scores.max(), rtol=1e-4)


def test_names_of_models_tell_versions_of_a_table_apart(folder, said):
    for name in ("my.v1.csv", "my.v2.csv.gz", "MY.CSV"):
        pd.read_csv("my.csv").to_csv(name, index=False)
        said("fit", name, "popularity")
    models = {file.name for file in folder.glob("*.h5")}
    assert models == {"my.v1.popularity.h5", "my.v2.popularity.h5", "MY.popularity.h5"}


def test_a_user_who_has_everything(folder, said, refused):
    """Nothing is left to recommend, so every form of the output is without rows."""
    (folder / "all.csv").write_text("user,item\na,x\na,y\nb,x\nb,y\n")
    said("fit", "all.csv", "ease", "lambda=1", "-o", "m.h5")
    assert "has every item of the model" in refused(1, "explain", "m.h5", "all.csv", "a")
    assert said("recommend", "m.h5", "all.csv", "--as", "csv")[0] == "user,item,rank,score,by\n"
    assert said("recommend", "m.h5", "all.csv", "--as", "json")[0] == ""


def test_every_seed_is_its_own(folder, said):
    """0 is a seed like any other."""
    factors = []
    for seed in ("0", "1"):
        said(
            "fit", "my.csv", "wmf", "factors=4", "alpha=1", "lambda=1", "--seed", seed, "-o", "m.h5"
        )
        factors.append(read_model("m.h5").fit.model.scores(X[:5]))
    assert not np.allclose(*factors)


def test_without_an_order_of_tables_a_terminal_gets_one(folder, said, monkeypatch):
    monkeypatch.setattr("lindrop.cli.tables.is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "160")
    output, _ = said("tune", "my.csv", *QUICK)
    assert "nDCG@100" in output
    assert "behind the best" in output
    assert "ease,ndcg" not in output
