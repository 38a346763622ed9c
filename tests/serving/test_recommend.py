"""Recommendations, similar items and reasons are those of the model's scores, for any input."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

import lindrop
from lindrop.base.errors import UserError
from lindrop.data.formats import read_interactions
from lindrop.models.base import Training
from lindrop.models.catalogue import CATALOGUE, fit
from lindrop.serving.histories import Histories, chosen, histories_of, read_histories, read_ids
from lindrop.serving.recommend import recommended
from lindrop.store.model import SavedModel, read_model, write_model
from lindrop.store.recommendations import write_recommendations
from support.models import tasteful

X = tasteful(300, 40)
ITEMS = np.array([f"film {number} ü" for number in range(40)], object)
DATA = Training.of(X)
EASE = SavedModel("ease", fit("ease", DATA, ridge=20.0), ITEMS, {"lambda": 20.0}, "", DATA.shares)
B = EASE.fit.model.matrix
HISTORIES = {"anna": ["film 3 ü", "film 7 ü"], "béla": ["film 0 ü"], "new": [], "odd": ["a book"]}


def by_hand(history, k, allowed=ITEMS):
    """Best items and their scores by the definition, for a history of item numbers."""
    scores = sum((B[i].astype(float) for i in history), np.zeros(40))
    order = [j for j in np.argsort(-scores, kind="stable") if j not in history]
    best = [j for j in order if ITEMS[j] in allowed][:k]
    return list(ITEMS[best]), scores[best]


def test_columns_are_those_of_the_data_of_the_model_if_a_table_has_them():
    own = replace(EASE, source={"user": "who", "item": "film"})
    rows = pd.DataFrame({"who": ["anna", "anna"], "film": ["film 3 ü", "film 7 ü"], "stars": 5})
    expected = lindrop.recommend(EASE, {"anna": ["film 3 ü", "film 7 ü"]}, k=5)
    usual = rows.set_axis(["user", "item", "stars"], axis=1)
    for given in (rows, usual, pa.table(rows), pa.table(usual)):
        pd.testing.assert_frame_equal(lindrop.recommend(own, given, k=5), expected)
    np.testing.assert_array_equal(lindrop.refit(own, rows).items, ["film 3 ü", "film 7 ü"])
    with pytest.raises(UserError, match=r"columns are who, film, stars: name those of users and"):
        lindrop.recommend(EASE, rows)


def of_user(table, user):
    return table[table["user"] == user]


def test_every_user_gets_the_best_items_in_order():
    table = lindrop.recommend(EASE, HISTORIES, k=5)
    assert list(table.columns) == ["user", "item", "rank", "score", "by"]
    assert list(table["user"].unique()) == list(HISTORIES)
    for user, history in (("anna", [3, 7]), ("béla", [0])):
        found = of_user(table, user)
        items, scores = by_hand(history, 5)
        assert list(found["item"]) == items
        assert list(found["rank"]) == [1, 2, 3, 4, 5]
        np.testing.assert_allclose(found["score"], scores, rtol=1e-5)
        assert set(found["by"]) == {"model"}


@pytest.mark.parametrize("repeats", ["sum", "keep"])
def test_what_a_user_has_repeatedly_weighs_more_where_it_did_so_in_training(repeats):
    """Scores are those of the x that the model was tested with: how often, not whether."""
    model = replace(EASE, source={"repeats": repeats})
    had = [3, 7, 7, 7]
    x = np.bincount(had, minlength=40).astype(float)
    scores = x @ B.astype(float)
    best = [j for j in np.argsort(-scores, kind="stable") if j not in had][:5]
    names = [ITEMS[j] for j in had]
    table = pd.DataFrame({"user": "anna", "item": names})
    for given in (table, names, {"anna": names}, sp.csr_array(x[None])):
        found = lindrop.recommend(model, given, k=5)
        assert list(found["item"]) == list(ITEMS[best])
        np.testing.assert_allclose(found["score"], scores[best], rtol=1e-5)
    assert model.recommend(names, 5) == list(ITEMS[best])
    assert EASE.recommend(names, 5) == by_hand([3, 7], 5)[0] != list(ITEMS[best])
    reasons = lindrop.because(model, names, ITEMS[best[0]]).set_index("item")["score"]
    np.testing.assert_allclose(reasons["film 7 ü"], 3 * B[7, best[0]], rtol=1e-6)
    np.testing.assert_allclose(reasons.sum(), scores[best[0]], rtol=1e-5)


@pytest.mark.parametrize("kind", [pd.DataFrame, pa.Table.from_pandas])
def test_a_model_of_good_ratings_is_given_the_good_ones_of_a_table(kind):
    model = replace(EASE, source={"min_rating": 3.5, "rating": "stars"})
    table = pd.DataFrame({"user": "anna", "item": ITEMS[[3, 7, 9]], "stars": [5, 4, 3.5]})
    found = lindrop.recommend(model, kind(table), k=5)
    assert list(found["item"]) == by_hand([3, 7], 5)[0]
    found = lindrop.recommend(model, kind(table.drop(columns="stars")), k=5)
    assert list(found["item"]) == by_hand([3, 7, 9], 5)[0]
    for wrong in ([5, 4, np.nan], ["5", "4", "3"]):
        with pytest.raises(UserError, match="column 'stars': the model needs a rating"):
            lindrop.recommend(model, kind(table.assign(stars=wrong)), k=5)
    twice = pd.concat([table, table[["stars"]]], axis=1)
    if kind is not pd.DataFrame:  # its converter refuses such a table
        columns = [pa.array(twice.iloc[:, place]) for place in range(twice.shape[1])]
        twice = pa.Table.from_arrays(columns, list(twice))
    with pytest.raises(UserError, match="2 columns have the name 'stars'"):
        lindrop.recommend(model, twice, k=5)


@pytest.mark.parametrize("kind", [pd.DataFrame, pa.Table.from_pandas])
def test_users_without_a_good_rating_get_what_is_popular_as_from_a_file(kind, tmp_path):
    model = replace(EASE, source={"min_rating": 3.5, "rating": "stars"})
    users, stars = ["none", "anna", "anna", "none"], [1, 5, 4, 2]
    table = pd.DataFrame({"user": users, "item": ITEMS[[1, 3, 7, 3]], "stars": stars})
    found = lindrop.recommend(model, kind(table), k=5)
    assert list(found["user"].unique()) == ["none", "anna"]
    assert set(of_user(found, "none")["by"]) == {"popularity"}
    assert list(of_user(found, "anna")["item"]) == by_hand([3, 7], 5)[0]
    table.to_csv(tmp_path / "a.csv", index=False)
    read = read_interactions(tmp_path / "a.csv", "csv", min_rating=3.5, rating="stars")
    of_file = pd.concat(recommended(model, histories_of(read, model.items), 5))
    assert {*of_file["user"]} == {*found["user"]}
    some = lindrop.recommend(model, kind(table), k=5, users=["anna"])
    assert set(some["user"]) == {"anna"}


def test_ratings_in_the_index_of_a_table_count_too():
    model = replace(EASE, source={"min_rating": 3.5, "rating": "stars"})
    table = pd.DataFrame({"user": "anna", "item": ITEMS[[3, 7, 9]], "stars": [5, 4, 3.5]})
    for index in ("stars", ["user", "stars"]):
        found = lindrop.recommend(model, table.set_index(index), k=5)
        assert list(found["item"]) == by_hand([3, 7], 5)[0]


@pytest.mark.parametrize("user", ["new", "odd"])
def test_users_without_known_items_get_popular_ones_and_it_is_said(user):
    found = of_user(lindrop.recommend(EASE, HISTORIES, k=5), user)
    users = X.astype(bool).sum(axis=0)
    order = np.argsort(-users, kind="stable")[:5]
    assert list(found["item"]) == list(ITEMS[order])
    np.testing.assert_allclose(found["score"], users[order] / X.shape[0])
    assert set(found["by"]) == {"popularity"}


def test_unknown_items_are_counted_in_the_log(caplog):
    lindrop.recommend(EASE, HISTORIES)
    assert "1 items of the histories are not known to the model" in caplog.text


def long_table():
    pairs = [(user, item) for user, items in HISTORIES.items() for item in items]
    return pd.DataFrame(pairs * 2, columns=["user", "item"])  # each pair twice


class Arrow:
    """A table of another library, of which only the exchange format is known."""

    def __init__(self, frame):
        self.table = pa.Table.from_pandas(frame)

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "form",
    [
        lambda frame: frame,
        lambda frame: frame.astype("category"),
        pa.Table.from_pandas,
        Arrow,
        lambda frame: frame.groupby("user")["item"].agg(list).to_dict(),
    ],
)
def test_every_form_of_interactions_gives_the_same(form):
    users = list(HISTORIES)
    expected = lindrop.recommend(EASE, HISTORIES, k=3)
    found = lindrop.recommend(EASE, form(long_table()), k=3, users=users)
    pd.testing.assert_frame_equal(found, expected)


def test_a_matrix_has_the_models_items_as_columns_and_its_rows_as_users():
    found = lindrop.recommend(EASE, X[:3], k=4)
    for row in range(3):
        items, _ = by_hand(list(X[[row]].indices), 4)
        assert list(of_user(found, str(row))["item"]) == items
    with pytest.raises(UserError, match="39 columns, the model has 40 items"):
        lindrop.recommend(EASE, X[:, :39])


def test_integer_ids_are_compared_as_text():
    model = SavedModel("ease", EASE.fit, np.arange(40).astype(str).astype(object), {}, "")
    frame = pd.DataFrame({"u": [1, 1], "i": [3, 7]})
    found = lindrop.recommend(model, frame, k=2, columns=("u", "i"))
    mixed = lindrop.recommend(model, {1: [3, "7"]}, k=2)
    pd.testing.assert_frame_equal(found, mixed)
    assert list(found["user"]) == ["1", "1"]


def test_allowed_blocked_and_seen_items():
    allow = ITEMS[:10]
    found = lindrop.recommend(EASE, HISTORIES, k=40, allow=allow, block=["film 5 ü"])
    rest = [item for item in allow if item != "film 5 ü"]
    assert list(of_user(found, "anna")["item"]) == by_hand([3, 7], 40, rest)[0]
    assert set(of_user(found, "new")["item"]) == set(rest)
    kept = lindrop.recommend(EASE, HISTORIES, k=40, keep_seen=True)
    assert set(of_user(kept, "anna")["item"]) == set(ITEMS)
    assert len(of_user(lindrop.recommend(EASE, HISTORIES, k=40), "anna")) == 38


def test_no_users_give_an_empty_table_with_its_columns():
    assert list(lindrop.recommend(EASE, {}).columns) == ["user", "item", "rank", "score", "by"]
    assert len(lindrop.recommend(EASE, {})) == 0


def test_blocks_of_users_do_not_change_recommendations(monkeypatch):
    expected = lindrop.recommend(EASE, X, k=3)
    monkeypatch.setattr("lindrop.ranking.evaluation.BLOCK_BYTES", 8 * 40 * 7)
    pd.testing.assert_frame_equal(lindrop.recommend(EASE, X, k=3), expected)


def test_similar_items_are_what_a_user_of_the_item_alone_is_recommended():
    found = lindrop.similar(EASE, "film 3 ü", k=4)
    items, scores = by_hand([3], 4)
    assert list(found["item"]) == items
    np.testing.assert_allclose(found["score"], scores, rtol=1e-5)
    with pytest.raises(UserError, match="the model does not know the item 'a book'"):
        lindrop.similar(EASE, "a book")


def arguments(name):
    entry = CATALOGUE[name]
    values = {"p": 0.3, "lambda": 20.0, "l1": 0.5, "l2": 5.0}
    options = {key: value for key, value in values.items() if key in entry.options}
    return options | ({"rank": 8} if entry.low_rank else {})


ADDITIVE = ("ease", "full_dlae", "full_edlae", "edlae", "product_l2", "dropout_l2", "slim")


@pytest.mark.parametrize("name", ADDITIVE)
def test_reasons_add_up_to_the_score(name):
    model = SavedModel(name, fit(name, DATA, **arguments(name)), ITEMS, {}, "", DATA.shares)
    history = [ITEMS[3], ITEMS[7], ITEMS[11], "a book"]
    best = lindrop.recommend(model, history, k=1)
    reasons = lindrop.because(model, history, best["item"][0])
    assert set(reasons["item"]) == set(history) - {"a book"}
    assert reasons["score"].is_monotonic_decreasing
    np.testing.assert_allclose(reasons["score"].sum(), best["score"][0], rtol=1e-5, atol=1e-6)


def test_a_model_whose_scores_are_no_sum_says_so():
    model = SavedModel("popularity", fit("popularity", DATA), ITEMS, {}, "")
    with pytest.raises(UserError, match="popularity: its scores are no sum over the items"):
        lindrop.because(model, [ITEMS[3]], ITEMS[4])


def test_shares_come_back_with_the_model(tmp_path):
    path = tmp_path / "model.h5"
    write_model(path, "ease", EASE.fit, ITEMS, {}, "", DATA.shares)
    pd.testing.assert_frame_equal(
        lindrop.recommend(read_model(path), HISTORIES), lindrop.recommend(EASE, HISTORIES)
    )
    write_model(path, "ease", EASE.fit, ITEMS)
    known = {user: HISTORIES[user] for user in ("anna", "béla")}
    assert len(lindrop.recommend(read_model(path), known, k=2)) == 4
    with pytest.raises(UserError, match="holds no shares of users"):
        lindrop.recommend(read_model(path), HISTORIES)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("film 3 ü", "not the text 'film 3 ü'"),
        (7, "not int"),
        (
            pd.DataFrame({"user": ["a"], "film": ["b"]}),
            "no column 'item'; the columns are user, film",
        ),
        (pd.DataFrame({"user": ["a"], "item": [1.5]}), "ids are texts or integers, not double"),
        (pd.DataFrame({"user": ["a", None], "item": ["b", "c"]}), "1 of 2 ids are missing"),
        ({"a": [1.5]}, "ids are texts or integers, not 1.5"),
        ([True], "ids are texts or integers, not True"),
        (sp.csr_array(np.full((1, 40), np.nan)), "NaN or infinite"),
        (-np.eye(40), "negative entries"),
        ({"a": "film 3 ü"}, "items of 'a': a list of ids is needed, not 'film 3 ü'"),
        ({"a": None}, "items of 'a': a list of ids is needed, not None"),
        ({"a": pd.DataFrame({"item": ["b"]})}, "items of 'a': a list of ids is needed, not Data"),
        ({1: ["a"], "1": ["b"]}, "users: '1' is there as a text and as a number"),
        ({"user": ["a"], "item": ["b"]}, "make a DataFrame of a mapping of columns"),
        (["\ud800"], "not valid Unicode text"),
        (pd.DataFrame([["a", "b", "c"]], columns=["user", "item", "item"]), "2 columns have the"),
        (pd.DataFrame({"user": ["a", "b"], "item": ["b", 3]}), "all texts or all integers"),
    ],
)
def test_what_is_no_interactions_is_refused_in_one_line(given, message):
    with pytest.raises(UserError, match=message) as caught:
        lindrop.recommend(EASE, given)
    assert "\n" not in str(caught.value)


def test_numbers_of_recommendations_and_lists_of_items_are_checked():
    for k in (0, 2.5, True, "5", None, float("nan")):
        with pytest.raises(UserError, match=r"k is .*; it must be a whole number"):
            lindrop.recommend(EASE, HISTORIES, k=k)
        with pytest.raises(UserError, match=r"k is .*; it must be a whole number"):
            lindrop.similar(EASE, ITEMS[0], k=k)
    with pytest.raises(UserError, match="allow: the model does not know the item 'a book'"):
        lindrop.recommend(EASE, HISTORIES, allow=["a book"])


@pytest.mark.parametrize("name", ["users", "allow", "block"])
@pytest.mark.parametrize("given", ["ab", b"ab", "", 5, pd.DataFrame({"item": ["b"]})])
def test_a_text_or_a_table_is_no_list_of_ids(name, given):
    """Else its characters, or the names of its columns, would be the ids."""
    with pytest.raises(UserError, match=f"{name}: a list of ids is needed"):
        lindrop.recommend(EASE, HISTORIES, **{name: given})
    with pytest.raises(UserError, match="history: a list of ids is needed"):
        lindrop.because(EASE, given, ITEMS[0])


@pytest.mark.parametrize("columns", ["ui", ("user",), ("user", "user"), ("user", "item", "time")])
def test_two_columns_are_named(columns):
    table = pd.DataFrame({"user": ["a"], "item": [ITEMS[0]], "time": [1]})
    with pytest.raises(UserError, match="columns: the names of two columns"):
        lindrop.recommend(EASE, table, columns=columns)


def test_other_columns_and_an_index_of_users_change_nothing():
    user = [user for user, items in HISTORIES.items() for _ in items]
    table = pd.DataFrame(
        {"user": user, "item": [item for own in HISTORIES.values() for item in own]}
    )
    expected = lindrop.recommend(EASE, table)
    for same in (table.assign(note=object()), table.set_index("user")):
        pd.testing.assert_frame_equal(lindrop.recommend(EASE, same), expected)


def test_more_recommendations_than_items_take_no_more_memory():
    all_of_them = lindrop.recommend(EASE, HISTORIES, k=len(ITEMS))
    pd.testing.assert_frame_equal(lindrop.recommend(EASE, HISTORIES, k=10**20), all_of_them)


def test_users_whose_ids_are_kept_as_numbers_get_the_same(tmp_path):
    """Ids of more than a million users stay whole numbers where they are whole numbers."""
    x = read_histories(HISTORIES, EASE.items).x
    numbers = np.arange(100, 100 + x.shape[0])
    tables = []
    for users in (numbers, numbers.astype(str).astype(object)):
        for found in (Histories(users, x), chosen(Histories(users, x), pa.array(["101", "new"]))):
            write_recommendations(tmp_path / "r.parquet", recommended(EASE, found, 3), x.shape[0])
            tables.append(pd.read_parquet(tmp_path / "r.parquet"))
    pd.testing.assert_frame_equal(tables[0], tables[2])
    pd.testing.assert_frame_equal(tables[1], tables[3])
    assert list(tables[1]["user"].unique()) == ["101", "new"]


def test_a_list_of_users_has_one_id_per_line_as_the_data_have(tmp_path, caplog):
    file = tmp_path / "users.txt"
    file.write_text("\ufeffanna\r\n\nb\u2028c\n d \n", encoding="utf-8")
    assert read_ids(file).to_pylist() == ["anna", "b\u2028c", " d "]
    with caplog.at_level("WARNING", "lindrop"):
        lindrop.recommend(EASE, HISTORIES, users=["anna", "nobody"])
    assert "1 of 2 users have no interactions, such as 'nobody'" in caplog.text
    for text, problem in [("\n\n", "no id in it"), ("a\nb\na\n", "1 of its 3 lines repeat an id")]:
        file.write_text(text)
        with pytest.raises(UserError, match=problem):
            read_ids(file)
    file.write_bytes(b"\xff\n")
    with pytest.raises(UserError, match="not UTF-8 text"):
        read_ids(file)


@pytest.mark.parametrize(
    "history", [["film 3 ü", None], [1.0], 5, None, pd.DataFrame({"a": ["b"]})]
)
def test_a_saved_model_takes_a_list_of_ids_alone(history):
    with pytest.raises(UserError, match="history: "):
        EASE.recommend(history)
    for k in (0, 2.5, None):
        with pytest.raises(UserError, match="it must be a whole number"):
            EASE.recommend(ITEMS[:2], k)


def test_parameters_of_numpy_are_saved_and_what_does_not_fit_is_refused(tmp_path):
    path = tmp_path / "model.h5"
    given = {"lambda": np.float32(20), "rank": np.int64(3)}
    write_model(path, "ease", EASE.fit, ITEMS, given, shares=DATA.shares)
    assert read_model(path).parameters == {"lambda": 20.0, "rank": 3}
    path.unlink()
    for parameters, shares, problem in [
        ({"lambda": object()}, DATA.shares, "a parameter of a model must be a number or a text"),
        ({}, DATA.shares[:-1], "shares must be one finite number for each of 40 items"),
        ({}, DATA.shares * np.nan, "shares must be one finite number"),
    ]:
        with pytest.raises(UserError, match=problem):
            write_model(path, "ease", EASE.fit, ITEMS, parameters, shares=shares)
        assert not list(tmp_path.iterdir())
    with pytest.raises(UserError, match="a folder, not a file"):
        read_model(tmp_path)
