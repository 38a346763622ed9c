"""A configuration is right, or one line says what is wrong with it."""

import pytest
import yaml
from conftest import ROOT

from lindrop.config import checked, load_schema
from lindrop.config_docs import README, SCHEMA, readme
from lindrop.errors import UserError

CONFIGS = sorted((ROOT / "config").glob("*.yaml"))
CSV = {"format": "csv", "path": str(SCHEMA)}


@pytest.fixture(scope="module")
def schema():
    return load_schema(SCHEMA)


def one(source=None, protocol=None, **more):
    entry = {
        "source": source or {"format": "synthetic"},
        "protocol": {"heldout_users": 10} | (protocol or {}),
    }
    return {"datasets": {"mine": entry | more}}


@pytest.mark.parametrize("file", CONFIGS, ids=lambda file: file.name)
def test_shipped_configurations_are_right(file, schema):
    checked(yaml.safe_load(file.read_text()), schema)


def test_shipped_configurations_are_all_described():
    for file in CONFIGS:
        assert f"`{file.name}`" in README.read_text()


def test_readme_is_what_the_schema_says(schema):
    assert README.read_text() == readme(schema), "run `make docs`"


def test_defaults_are_filled_in(schema):
    config = checked(one(CSV), schema)
    assert config["seed"] == 1
    assert config["data_dir"] is None
    entry = config["datasets"]["mine"]
    assert entry["paper"] is None
    assert entry["source"] == CSV | {
        "user": "user",
        "item": "item",
        "rating": None,
        "url": None,
        "mirrors": [],
        **dict.fromkeys(("bytes", "sha256", "md5", "rows", "users", "items")),
    }
    assert entry["protocol"] == {
        "heldout_users": 10,
        "min_rating": None,
        "min_user_interactions": 0,
        "min_item_users": 0,
        "test_fraction": 0.2,
        "seed": 98765,
    }


def test_every_key_has_a_description_and_a_default_or_is_required(schema):
    def visit(node, path):
        for name, key in node.get("properties", {}).items():
            assert key.get("description"), (path, name)
            assert "default" in key or name in node["required"], (path, name)
            visit(key, [*path, name])
        if isinstance(node.get("additionalProperties"), dict):
            visit(node["additionalProperties"], path)
        else:
            assert node.get("additionalProperties") is False or "properties" not in node, path
        for alternative in node.get("oneOf", []):
            visit(alternative, path)

    visit(schema, [])


P = "datasets.mine.protocol"
S = "datasets.mine.source"
WRONG = [
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
        f"{P}.heldout_users: 15 is not allowed; allowed: less than 15, half of the 30 users",
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
        'datasets.b.source.url: "https://b.org/t.zip" is not allowed; allowed: the address that '
        "another dataset already uses for t.zip, https://a.org/t.zip",
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


def test_the_given_configuration_is_left_alone(schema):
    config = one()
    checked(config, schema)
    assert config == one()
