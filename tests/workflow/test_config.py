"""The schema, the configurations in config/, and what a right configuration becomes."""

import sys
from inspect import signature

import jsonschema
import pytest
import yaml

from lindrop.configuration.config import checked, downloads
from lindrop.configuration.config_docs import README, readme
from lindrop.configuration.schema import FILE
from lindrop.models.catalogue import CATALOGUE
from support.entries import CONFIGS, CSV, one, shared_file, weak, with_default
from support.processes import run
from support.repository import REPOSITORY


@pytest.mark.parametrize("file", CONFIGS, ids=lambda file: file.name)
def test_shipped_configurations_are_right(file, schema):
    checked(with_default(file), schema)


def test_the_schema_is_a_valid_one_of_its_draft(schema):
    assert schema["$schema"] == jsonschema.Draft202012Validator.META_SCHEMA["$id"]
    jsonschema.Draft202012Validator.check_schema(schema)


def test_every_model_has_its_options_in_the_schema(schema):
    """Popularity, the only model without options, has no entry."""
    assert "properties" not in yaml.safe_load(FILE.read_text())["properties"]["models"]
    models = schema["properties"]["models"]["properties"]
    assert {"popularity", *models} == set(CATALOGUE)
    for name, model in models.items():
        assert list(model["properties"]) == list(CATALOGUE[name].options)


@pytest.mark.parametrize("name", [name for name in CATALOGUE if CATALOGUE[name].options])
def test_the_options_of_a_model_are_parameters_of_its_fit(name):
    """PyTorch's models pass their options on to a class that needs PyTorch."""
    if CATALOGUE[name].torch:
        pytest.importorskip("torch")
    known = signature(CATALOGUE[name].resolved()).parameters
    free = any(one.kind is one.VAR_KEYWORD for one in known.values())
    for option in CATALOGUE[name].options:
        assert free or {"lambda": "ridge"}.get(option, option) in known


def test_the_schema_is_built_without_heavy_libraries():
    """Every start of Snakemake builds it."""
    code = "import sys, lindrop.configuration.schema as s; s.load_schema(); print(*sys.modules)"
    environment = {"PYTHONPATH": str(REPOSITORY / "workflow")}
    done = run([sys.executable, "-c", code], env=environment)
    assert done.returncode == 0, done.stdout
    assert {"numba", "pandas", "scipy", "torch"}.isdisjoint(done.stdout.split())


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
        "time": None,
        "test": None,
        "validation": None,
        "url": None,
        "mirrors": [],
        **dict.fromkeys(("bytes", "sha256", "md5", "rows", "users", "items")),
    }
    assert entry["protocol"] == {
        "split": "users",
        "heldout_users": 10,
        "min_rating": None,
        "repeats": "drop",
        "min_user_interactions": 0,
        "min_item_users": 0,
        "test_fraction": 0.2,
        "seed": 98765,
    }


@pytest.mark.parametrize(
    ("source", "asked", "repeats"),
    [
        (CSV, {}, "drop"),
        (CSV, {"repeats": None}, "drop"),
        (CSV, {"repeats": "sum"}, "sum"),
        (CSV, {"split": "leave_last", "heldout_users": None}, "drop"),
        ({**CSV, "format": "adjacency"}, {}, "drop"),
        ({**CSV, "format": "movielens"}, {}, "keep"),
        ({**CSV, "format": "movielens"}, {"repeats": "drop"}, "drop"),
        ({"format": "synthetic"}, {}, "keep"),
    ],
)
def test_repeats_are_dropped_from_files_of_ones_own(source, asked, repeats, schema):
    protocol = {name: value for name, value in ({"heldout_users": 10} | asked).items()
                if value is not None or name == "repeats"}  # fmt: skip
    entry = {"source": source, "protocol": protocol}
    found = checked({"datasets": {"mine": entry}}, schema)["datasets"]["mine"]
    assert found["protocol"]["repeats"] == repeats


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


def test_the_given_configuration_is_left_alone(schema):
    config = one()
    checked(config, schema)
    assert config == one()


def test_datasets_that_share_a_file_share_what_is_known_of_it(schema):
    config = checked(shared_file(mirrors=["https://c.org/t.zip"], md5="0" * 32), schema)
    assert downloads(config)["t.zip"] == {
        "url": "https://a.org/t.zip",
        "urls": ["https://a.org/t.zip", "https://c.org/t.zip"],
        "bytes": 7,
        "md5": "0" * 32,
    }


def test_the_order_of_keys_means_nothing(schema):
    entry = one(CSV, {"seed": 1})["datasets"]["mine"]
    turned = {key: dict(reversed(value.items())) for key, value in reversed(entry.items())}
    first, second = (checked({"datasets": {"mine": e}}, schema) for e in (entry, turned))
    assert repr(first) == repr(second)


@pytest.mark.parametrize("file", CONFIGS, ids=lambda file: file.name)
def test_what_is_said_to_be_a_papers_dataset_has_its_protocol(file, schema):
    published = yaml.safe_load(
        (REPOSITORY / "config/paper_values/steck2020_datasets.yaml").read_text()
    )
    datasets = checked(with_default(file), schema)["datasets"]
    for entry in datasets.values():
        if entry["paper"]:
            expected = {"split": "users", "repeats": "keep"} | published[entry["paper"]]["protocol"]
            assert entry["protocol"] == expected


def test_stated_facts_are_the_published_ones():
    """The table of docs/data.md and the configurations name the same files with the same facts."""
    table = (REPOSITORY / "docs" / "data.md").read_text()
    for file in CONFIGS:
        for entry in with_default(file)["datasets"].values():
            source = entry["source"]
            if "url" in source:
                assert source["url"].partition("://")[2] in table
                facts = [
                    f"{source[key]:,}"
                    for key in ("bytes", "rows", "users", "items")
                    if key in source
                ]
                facts += [source[key][:8] for key in ("sha256", "md5") if key in source]
                assert [fact for fact in facts if fact not in table] == []


def test_a_network_may_be_given_in_part(schema):
    settings = {"mnist": {"network": {"hidden": 64}}}
    config = checked(one() | {"pretorius2018": settings}, schema)["pretorius2018"]
    assert config["mnist"]["network"]["hidden"] == 64
    assert config["mnist"]["network"]["epochs"] == 2000
    assert config["cifar10"]["network"]["hidden"] == 512


def test_the_other_files_of_a_dataset_are_paths_or_files(schema):
    entry = {"path": __file__}
    for given in (__file__, entry):
        source = checked(weak("given", {"test": given}), schema)["datasets"]["mine"]["source"]
        assert source["test"]["path"] == __file__
        assert source["test"]["md5"] is None
        assert source["validation"] is None
