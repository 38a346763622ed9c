"""A configuration is right, or one line says what is wrong with it."""

import datetime
import os
import sys
from inspect import signature

import jsonschema
import pytest
import yaml

from lindrop.base.errors import UserError
from lindrop.configuration.config import checked, downloads
from lindrop.configuration.config_docs import README, readme
from lindrop.configuration.config_text import check_file, check_text
from lindrop.configuration.schema import FILE, load_schema
from lindrop.models.catalogue import CATALOGUE
from support.processes import run
from support.repository import REPOSITORY

CONFIGS = sorted((REPOSITORY / "config").glob("*.yaml"))
CSV = {"format": "csv", "path": str(FILE)}


@pytest.fixture(scope="module")
def schema():
    return load_schema()


def one(source=None, protocol=None, **more):
    entry = {
        "source": source or {"format": "synthetic"},
        "protocol": {"heldout_users": 10} | (protocol or {}),
    }
    return {"datasets": {"mine": entry | more}}


def with_default(file):
    """As Snakemake puts it together: a file without datasets adds to the default."""
    given = yaml.safe_load(file.read_text())
    default = yaml.safe_load((REPOSITORY / "config" / "config.yaml").read_text())
    return given if "datasets" in given else default | given


@pytest.mark.parametrize("file", CONFIGS, ids=lambda file: file.name)
def test_shipped_configurations_are_right(file, schema):
    checked(with_default(file), schema)


def test_the_schema_is_a_valid_one_of_its_draft(schema):
    assert schema["$schema"] == jsonschema.Draft202012Validator.META_SCHEMA["$id"]
    jsonschema.Draft202012Validator.check_schema(schema)


def test_every_model_has_its_options_in_the_schema(schema):
    """Nothing is to be said of popularity: the only model without options has no entry."""
    assert "properties" not in yaml.safe_load(FILE.read_text())["properties"]["models"]
    models = schema["properties"]["models"]["properties"]
    assert {"popularity", *models} == set(CATALOGUE)
    for name, model in models.items():
        assert list(model["properties"]) == list(CATALOGUE[name].options)


@pytest.mark.parametrize("name", [name for name in CATALOGUE if CATALOGUE[name].options])
def test_the_options_of_a_model_are_parameters_of_its_fit(name):
    """Those of PyTorch's models are passed on, to a class that needs PyTorch."""
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


P = "datasets.mine.protocol"
S = "datasets.mine.source"


def shared_file(**facts):
    """Two datasets that download the same file; the second states more of it."""
    source = {"format": "msd", "url": "https://a.org/t.zip"}
    first, second = one(source)["datasets"]["mine"], one(source | facts)["datasets"]["mine"]
    return {"datasets": {"a": first | {"source": source | {"bytes": 7}}, "b": second}}


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


def test_a_key_given_twice_is_refused():
    text = "datasets:\n  a: {x: 1}\n  b: [{y: 1}]\n  a: {x: 2}\n"
    with pytest.raises(UserError, match=r"mine\.yaml, line 4: the key a is given twice"):
        check_text(text, "mine.yaml")
    check_text(text.replace("a: {x: 2}", "c: {x: 1}"), "mine.yaml")
    check_text("", "mine.yaml")


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
    "name",
    [
        "010",
        "1_000",
        "12:30:45",
        "true",
        "null",
        "1.0",
        "2020-01-01",
        "8",
        "~",
        "on",
        "1.0e+3",
        ".inf",
    ],
)
def test_a_name_that_yaml_changes_must_be_quoted(name):
    text = "datasets:\n  {}: {{source: {{format: synthetic}}}}\n"
    with pytest.raises(UserError) as caught:
        check_text(text.format(name), "mine.yaml")
    assert str(caught.value).startswith(f"mine.yaml, line 2: the key {name} is read as a YAML ")
    assert str(caught.value).endswith(f"quote the name: '{name}'")
    check_text(text.format(f"'{name}'"), "mine.yaml")
    check_text(text.format(f'"{name}"'), "mine.yaml")


@pytest.mark.parametrize("number", ["010", "0x10", "0b11", "12:30", "1:30.5"])
def test_a_number_that_is_not_what_it_looks_like(number):
    with pytest.raises(UserError, match=r"mine\.yaml, line 2: .* is not read as a decimal number"):
        check_text(f"a: 1\nseed: {number}\n", "mine.yaml")
    check_text("a: [1_000, -3, +3, 0, 1.5e+3, .5, .inf, 1e3, '010', v010]\n", "mine.yaml")


MULTIPLYING = "".join(f"x{k + 1}: &x{k + 1} [{', '.join([f'*x{k}'] * 9)}]\n" for k in range(9))
CHAINED = "".join(f"x{k + 1}: &x{k + 1} [*x{k}]\n" for k in range(900))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: &a {b: *a}\n", "line 1: contains itself by an alias"),
        (f"x0: &x0 [1, 1]\n{MULTIPLYING}", "line 6: more than 100,000 entries"),
        (f"x0: &x0 [1, 1]\n{CHAINED}", "line 40: more than 100,000 entries or 40 levels"),
        ("a: 1\nseed: " + "[" * 2000 + "]" * 2000, "line 2: nested more than 40 levels deep"),
        ("a: 1\nseed: " + "[" * 200_000, "line 2: nested more than 40 levels deep"),
        ("a: 1\nseed: " + "9" * 5000, "line 2: a number of 5,000 digits"),
        ("a: 1\n? [1, 2]\n: 3\n", "line 2: a key that is a list or a mapping"),
        ("a: [1\n", "not valid YAML"),
        ("\x01", "not valid YAML"),
        ("a: 1\n---\nb: 2\n", "line 2, column 1: not valid YAML"),
        ('{\n\t"a": 1,\n\t"a": 2}', "the key a is given twice"),
        ("a: *b\n", "line 1, column 4: not valid YAML"),
    ],
    ids=range(12),
)
def test_texts_that_no_reader_should_be_given(text, expected):
    with pytest.raises(UserError) as caught:
        check_text(text, "mine.yaml")
    assert str(caught.value).startswith("mine.yaml")
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_aliases_merged_keys_and_json_are_as_good_as_ever():
    check_text("a: &a {x: 1}\nb: *a\nc: {<<: *a, y: 2}\n", "mine.yaml")
    check_text('{\n\t"a": {"b": [1, 1e5]}}', "mine.json")
    for file in CONFIGS:
        check_file(file)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1"])
def test_a_configuration_in_another_encoding(encoding, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("seed: 1  # Zoë\n", encoding=encoding)
    with pytest.raises(UserError) as caught:
        check_file(path)
    assert str(path) in str(caught.value)
    path.write_text("seed: 1  # Zoë\n", encoding="utf-8-sig")
    check_file(path)


def test_a_file_is_checked_before_snakemake_reads_it(tmp_path):
    (tmp_path / "mine.yaml").write_text("a: &a {b: *a}\n")
    environment = {"PYTHONPATH": str(REPOSITORY / "workflow")}
    command = [
        sys.executable,
        "-m",
        "lindrop.configuration.config_text",
        str(tmp_path / "mine.yaml"),
    ]
    done = run(command, env=environment)
    assert done.returncode == 1
    assert done.stdout.startswith(f"lindrop: error: {tmp_path / 'mine.yaml'}, line 1: contains")


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


def weak(split, source=None, **protocol):
    return {
        "datasets": {
            "mine": {"source": CSV | (source or {}), "protocol": {"split": split} | protocol}
        }
    }


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


def test_the_other_files_of_a_dataset_are_paths_or_files(schema):
    entry = {"path": __file__}
    for given in (__file__, entry):
        source = checked(weak("given", {"test": given}), schema)["datasets"]["mine"]["source"]
        assert source["test"]["path"] == __file__
        assert source["test"]["md5"] is None
        assert source["validation"] is None
