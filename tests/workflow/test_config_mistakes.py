"""A wrong value, key or name in a configuration is refused in one line."""

import datetime
import os

import pytest

from lindrop.base.errors import UserError
from lindrop.configuration.config import checked
from support.entries import CSV, one, shared_file, weak

P = "datasets.mine.protocol"
S = "datasets.mine.source"
WRONG = [
    (one(protocol={"heldout_users": 50.0}), f"{P}.heldout_users: 50.0 is not allowed"),
    (one() | {"seed": 2.0}, "seed: 2.0 is not allowed"),
    (one(CSV | {"item": "user"}), f"{S}: user, item, rating and time must be"),
    (one(CSV | {"rating": "item"}), f"{S}: user, item, rating and time must be"),
    ({"datasets": {datetime.date(2020, 1, 1): {}}}, "datasets: the name 2020-01-01 is no text"),
    ({"datasets": {8: {}}}, "datasets: the name 8 is no text but of type int; quote the name"),
    ({"datasets": {"small\n": one()["datasets"]["mine"]}}, 'a name in datasets: "small\\n" is'),
    ({"datasets": {"a" * 200: one()["datasets"]["mine"]}}, "a name in datasets: "),
    ({"datasets": {"ab" * 20: one()["datasets"]["mine"]}}, "a name in datasets: "),
    (one({"format": "msd", "url": "https://x.org/a.zip\n"}), f"{S}.url: "),
    (one({"format": "msd", "url": "https://x.org/\na.zip"}), f"{S}.url: "),
    (one(CSV | {"sha256": "0" * 64 + "\n"}), f"{S}.sha256: "),
    (one(CSV | {"md5": "0" * 32 + "\n"}), f"{S}.md5: "),
    (
        one(CSV | {"user": datetime.date(2020, 1, 1)}),
        f"{S}.user: 2020-01-01 is of type date",
    ),
    (one(CSV | {"user": "a\0"}), f"{S}.user: 'a\\x00' holds a character"),
    (one(CSV | {"user": "\ud800"}), f"{S}.user: '\\ud800' holds a character"),
    (one() | {"gram_shards": 100_000}, "gram_shards: 100000 is not allowed"),
    (one() | {"seed": 10**5000}, "seed: a very long int: a whole number may have at most 18"),
    (one() | {10**5000: 1}, "config: the name a very long int is no text"),
    (one() | {"models": {"ease": {"lambda": [10**400]}}}, "models.ease.lambda[0]: 1000"),
    (one() | {"rank": 10**18}, "rank: 1000000000000000000: a whole number may"),
    (
        one() | {"models": {"ease": {"lambda": [1] * 1001}}, "points_per_job": 1, "tuning": "grid"},
        "models.ease: 1,001",
    ),
    (one() | {"models": {"cdae": {"lambda": [1] * 1001}}}, "models.cdae: 1,001 points with 1 per"),
    (
        one() | {"models": {"edlae": {"lambda": [1] * 101, "p": [0] * 100}}},
        "models.edlae: a grid of 10,100 points; at most 10,000",
    ),
    (one() | {"a\nb": 1}, "a b: unknown key"),
    (one({"format": "msd", "path": "{a}.txt"}), f"{S}.path"),
    (one({"format": "msd", "url": "https://x.org/?file=a.csv"}), f"{S}.url"),
    (one({"format": "msd", "url": "https://x.org/.."}), f"{S}.url"),
    (one({"format": "msd", "url": "https://x.org/{a}.csv"}), f"{S}.url"),
    (one({"format": "msd", "url": "https://x.org/<results>"}), f"{S}.url"),
    (one({"format": "synthetic", "items": 1 << 24}), f"{S}: at most 16,777,216 items"),
    (one({"format": "msd", "path": "~nobody-x/a"}), f"{S}.path"),
    (one({"format": "msd", "path": "x" * 300}), f"{S}.path"),
    (one({"format": "msd", "path": ""}), f"{S}.path"),
    (one() | {"data_dir": "~nobody-x"}, "data_dir"),
    (shared_file(bytes=8), "datasets.b.source.bytes: 8 is not allowed; allowed: what another"),
    (shared_file(url="https://b.org/t.zip"), "datasets.b.source.url"),
    ({}, "datasets is missing; allowed: a mapping"),
    ({"datasets": {}}, "datasets: {} is not allowed; allowed: a mapping from names"),
    ({"datasets": []}, "datasets: [] is not allowed"),
    (one() | {"sed": 3}, "sed: unknown key (value 3); did you mean seed? allowed: seed, data_dir"),
    (one() | {"seed": -1}, "seed: -1 is not allowed; allowed: a whole number (at least 0"),
    (one() | {"seed": True}, "seed: true is not allowed"),
    (one() | {"seed": "1"}, 'seed: "1" is not allowed'),
    (one() | {"data_dir": "/no/where"}, 'data_dir: "/no/where" is not allowed; allowed: the path'),
    ({"datasets": {"My set": one()["datasets"]["mine"]}}, 'a name in datasets: "My set" is not'),
    (one(protocl={}), "datasets.mine.protocl: unknown key (value {}); did you mean protocol?"),
    (one(paper="ML-1M"), 'paper: "ML-1M" is not allowed; allowed: ML-20M, Netflix, MSD, null'),
    ({"datasets": {"mine": None}}, "datasets.mine: null is not allowed; allowed: a mapping"),
    ({"datasets": {"mine": {"source": CSV}}}, "datasets.mine.protocol is missing"),
    (
        one(protocol={"heldout_user": 5}),
        f"{P}.heldout_user: unknown key (value 5); did you mean heldout_users?",
    ),
    (
        one(protocol={"heldout_users": 0}),
        f"{P}.heldout_users: 0 is not allowed; allowed: a whole number (at least 1)",
    ),
    (one(protocol={"heldout_users": 2.5}), f"{P}.heldout_users: 2.5 is not allowed"),
    (
        one(protocol={"test_fraction": 1}),
        f"{P}.test_fraction: 1 is not allowed; allowed: a number (greater than 0, less than 1)",
    ),
    (one(CSV | {"rating": "r"}, {"min_rating": float("nan")}), f'{P}.min_rating: "nan" is not'),
    (
        one(protocol={"min_rating": "high"}),
        f'{P}.min_rating: "high" is not allowed; allowed: a number or null',
    ),
    (
        one(CSV, {"min_rating": 3}),
        f"{P}.min_rating: 3 is not allowed; allowed: null, unless source.rating names",
    ),
    (
        one(protocol={"min_rating": 3}),
        f"{P}.min_rating: 3 is not allowed; allowed: null, as synthetic",
    ),
    (one("csv"), f'{S}: "csv" is not allowed; allowed: a mapping with `format`, one of movielens'),
    (one({"path": "x"}), f"{S}.format is missing; allowed: movielens, netflix, msd, csv"),
    (one({"format": "excel"}), f'{S}.format: "excel" is not allowed; allowed: movielens, netflix'),
    (
        one({"format": "movielens", "user": "u"}),
        f'{S}.user: unknown key (value "u"); did you mean users?',
    ),
    (one({"format": "msd"}), f"{S}: neither path nor url is given; set one of them"),
    (
        one({"format": "msd", "path": "/no"}),
        f'{S}.path: "/no" is not allowed; allowed: the path of an existing file',
    ),
    (
        one({"format": "msd", "url": "x.org/a.zip"}),
        f'{S}.url: "x.org/a.zip" is not allowed; allowed: an address starting with http',
    ),
    (one({"format": "msd", "url": "https://x.org/"}), f"{S}.url"),
    (one({"format": "msd", "url": "https://x.org/a", "mirrors": ["b"]}), f'{S}.mirrors[0]: "b" is'),
    (
        one(CSV | {"sha256": "abc"}),
        f'{S}.sha256: "abc" is not allowed; allowed: 64 hexadecimal digits or null',
    ),
    (
        one({"format": "synthetic", "preset": "ml-1m"}),
        f'{S}.preset: "ml-1m" is not allowed; allowed: demo, ml-20m, netflix, msd',
    ),
    (
        one(
            {"format": "synthetic", "users": 30, "items": 20, "interactions": 160},
            {"heldout_users": 15},
        ),
        f"{P}.heldout_users: 15 is not allowed; allowed: less than 15, half of the 30 users; a "
        "tenth, 3, leaves most of them for training",
    ),
    (
        one({"format": "synthetic", "users": 100}),
        f"{S}: 100 users × 1,000 items can have 5,000 to 33,300 interactions, not 3,000,000",
    ),
    (
        {
            "datasets": {
                name: one({"format": "msd", "url": f"https://{name}.org/t.zip"})["datasets"]["mine"]
                for name in "ab"
            }
        },
        'datasets.b.source.url: "https://b.org/t.zip" is not allowed; allowed: what '
        "another entry states of t.zip, https://a.org/t.zip",
    ),
]


@pytest.mark.parametrize(("config", "expected"), WRONG, ids=range(len(WRONG)))
def test_a_mistake_is_explained_in_one_line(config, expected, schema):
    with pytest.raises(UserError) as caught:
        checked(config, schema)
    message = str(caught.value)
    assert message.startswith("config: ")
    assert expected in message
    assert "\n" not in message


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def endless():
    value = {}
    value["ease"] = value
    return value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (nested(50), "nested more than 40 levels"),
        (nested(900), "nested more than 40 levels"),
        (endless(), "or contains itself"),
        ([[0] * 1000] * 1000, "more than 100,000 entries"),
    ],
    ids=["deep", "deeper", "endless", "many"],
)
def test_values_without_an_end_are_refused(value, expected, schema):
    with pytest.raises(UserError, match=expected) as caught:
        checked(one() | {"models": value}, schema)
    assert str(caught.value).startswith("config: models")


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ({"pretorius2018": {"images": ["mnist", "mnist"]}}, "pretorius2018.images"),
        ({"pretorius2018": {"synthetic": {"side": 4}}}, "pretorius2018.synthetic.side"),
        (
            {"pretorius2018": {"synthetic": {"network": {"every": 9, "epochs": 5}}}},
            "pretorius2018.synthetic.network.every",
        ),
        ({"pal2020": {"deep": {"images": ["fashion"]}}}, "pal2020.deep.images"),
        ({"mianjy2018": {"runs": 0}}, "mianjy2018.runs"),
    ],
)
def test_mistakes_in_experiments_are_named(schema, more, key):
    with pytest.raises(UserError, match=key):
        checked(one() | more, schema)


def test_a_very_long_unknown_key_is_refused_in_a_short_line(schema):
    with pytest.raises(UserError) as refused:
        checked({"datasets": {}, "9" * 5000: 1}, schema)
    assert "unknown key" in str(refused.value)
    assert len(str(refused.value)) < 500


def test_a_very_long_path_is_refused_in_a_short_line(schema):
    with pytest.raises(UserError, match="File name too long") as refused:
        checked(one() | {"data_dir": "9" * 5000}, schema)
    assert len(str(refused.value)) < 500


def test_downloads_whose_names_differ_in_case_alone_are_refused(schema):
    """They would be one file on a Mac."""
    source = {"format": "csv", "url": "https://a.org/t.csv"}
    entries = [source, source | {"url": "https://b.org/T.csv"}]
    datasets = {
        f"d{number}": {"source": source, "protocol": {"heldout_users": 5}}
        for number, source in enumerate(entries)
    }
    with pytest.raises(UserError, match=r"differs from t\.csv in more than case"):
        checked({"datasets": datasets}, schema)


@pytest.mark.parametrize("path", ["pipe", "/dev/zero"])
def test_a_path_that_is_read_without_an_end_is_refused(path, schema, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with pytest.raises(UserError, match="allowed: the path of an existing file"):
        checked(one({"format": "csv", "path": path}), schema)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (weak("day"), f"{P}.split: \"day\" is not allowed; allowed: users, time"),
        (weak("time"), f"{P}.split: time needs times: set source.time to the name of a column"),
        (weak("time", {"time": "user"}), "source: user, item, rating and time must be different"),
        (weak("time", {"time": "t"}, cut="soon"), f"{P}.cut: cut 'soon' is no date such as"),
        (weak("time", {"time": "t"}, cut=0), f"{P}.cut: 0 is not allowed; allowed: a date"),
        (weak("time", {"time": "t"}, last=1), f"{P}.last: unknown key (value 1)"),
        (weak("leave_last", last=0), f"{P}.last: 0 is not allowed; allowed: a whole"),
        (weak("leave_last", heldout_users=5), f"{P}.heldout_users: unknown key (value 5)"),
        (weak("leave_last", {"test": __file__}), "source.test: {"),
        (weak("given"), f"{P}.split: given needs source.test, the file of test interactions"),
        (weak("given", {"test": "/no/such"}), "source.test.path: \"/no/such\" is not allowed"),
        (weak("given", {"test": {"pth": "x"}}), "source.test.pth: unknown key (value \"x\"); did"),
        (weak("given", {"test": {}}), "source.test: neither path nor url is given"),
        (weak("given", {"test": 5}), "source.test: 5 is not allowed; allowed: a path, a mapping"),
        (weak("given", {"test": __file__}, min_item_users=2), f"{P}.min_item_users: unknown key"),
        (one() | {"metrics": ["auc@5"]}, "metrics[0]: no metric 'auc@5'; known: ndcg@k, recall@k"),
        (one() | {"metrics": []}, "metrics: [] is not allowed; allowed: a list of metrics such as"),
        (one() | {"metrics": ["mrr@5"]}, 'criterion: "ndcg@100" is not allowed; allowed: mrr@5'),
        (
            one() | {"metrics": ["mrr@5", "gini@5"], "criterion": "gini@5"},
            'criterion: "gini@5" is not allowed; allowed: mrr@5',
        ),
        (one() | {"compare": {"models": ["easy"]}}, 'compare.models[0]: "easy" is not allowed'),
    ],
)  # fmt: skip
def test_a_mistake_in_a_split_or_a_metric_is_told_in_one_line(config, said, schema):
    with pytest.raises(UserError) as error:
        checked(config, schema)
    assert str(error.value).startswith("config: ")
    assert said in str(error.value)
    assert "\n" not in str(error.value)
