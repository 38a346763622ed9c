"""Configurations made from the schema and damaged: filled in as the schema says, or one line."""

import copy
import json
import math
import re
import sys

import jsonschema
import yaml
from hypothesis import strategies as st

from lindrop.base.schemas import Validator
from lindrop.configuration.config import NUMBER, checked
from lindrop.configuration.config_text import check_text
from lindrop.configuration.schema import FILE, load_schema
from support.fuzzing import fuzzed, outcome

SCHEMA = load_schema()
EXISTING = str(FILE)
NAMES = ["a", "b-2", "0", "set_x", "a" * 100]
ODD_NAMES = ["", "A", "a\n", "-a", "a b", "é", "a" * 101, "ab" * 25, "a.b", "\0", "{a}", "..", "_"]
URLS = ["https://x.org/a.zip", "http://x.org/b/c.csv", "https://x.org/a.zip?x=1"]
NUMBERS = [0, 1, 2, 7, 50, 1000, 10**9, -1, 0.5, 0.999, 1e-300, 1e300, 10**18, 10**400, -(10**5000)]
ODD = [None, True, False, "", "1", "é\n", "\ud800", [], {}, [[]], {"": 1}, {1: 2}, (), b"x", 1j]
ODD += [float("nan"), float("inf"), 5.0, -0.0, {"format": "csv"}, *NUMBERS]
odd = st.sampled_from(ODD)
# A key that no alternative has makes the message name it; what follows the key is free.
TOP = sorted(SCHEMA["properties"])
# What the schema cannot say and `checked` does, in the words of its messages.
CROSS = re.compile(
    "neither path nor url|different columns|half of the|can have|at most its epochs|entry states|"
    "plain file name|a grid of|raise points_per_job|18 digits|the path of an existing|null, unless|"
    "null, as synthetic|without { }|cannot hold|entries|nested|is of type|is no text|too few for|"
    r"users can be made|criterion: |metrics\[\d+\]: no metric|(compare|recommend)\.models\[|"
    r"have neither times nor files|time needs times|protocol\.cut: |given needs source\.test|"
    r"source\.(test|validation)|in more than case"
)


def within(schema):
    """Values that a schema allows."""
    if "oneOf" in schema:
        return st.one_of([within(one) for one in schema["oneOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kinds = schema.get("type", "object")
    return st.one_of(
        [of_kind(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    )


def of_kind(kind, schema):
    """Values of one JSON type that a schema allows, and a few that it does not."""
    low, high = schema.get("minimum", 0), schema.get("maximum", 2000)
    if kind == "null":
        return st.none()
    if kind == "boolean":
        return st.booleans()
    if kind == "integer":
        return st.integers(int(low), int(min(high, low + 2000)))
    if kind == "number":
        return st.floats(0.01, 0.99) | st.integers(1, 5) if low == 0 else st.floats(low, low + 1)
    if kind == "array":
        unique = {"unique_by": str} if schema.get("uniqueItems") else {}
        return st.lists(within(schema["items"]), min_size=1, max_size=3, **unique)
    if kind == "object":
        return mapping(schema)
    if "http" in schema.get("pattern", ""):
        return st.sampled_from(URLS)
    if "pattern" in schema:
        return st.sampled_from(["0" * 64, "F" * 64, "0" * 32, "a" * 32])
    return st.sampled_from([EXISTING, "user", "item", "stars"])


def mapping(schema):
    """Mappings with the required keys and some of the others."""
    known = schema.get("properties", {})
    required = schema.get("required", [])
    if isinstance(schema.get("additionalProperties"), dict):
        inner = within(schema["additionalProperties"])
        return st.dictionaries(st.sampled_from(NAMES), inner, min_size=1, max_size=2)
    optional = {name: within(one) for name, one in known.items() if name not in required}
    return st.fixed_dictionaries(
        {name: within(known[name]) for name in required}, optional=optional
    ).flatmap(lambda value: thinned(value, set(required)))


def thinned(value, required):
    """A mapping without some of its keys, so that most configurations stay small."""
    optional = sorted(set(value) - required)
    return (
        st.sets(st.sampled_from(optional), max_size=3).map(
            lambda kept: {k: v for k, v in value.items() if k in required or k in kept}
        )
        if optional
        else st.just(value)
    )


synthetic = st.fixed_dictionaries({"format": st.just("synthetic")})
local = st.fixed_dictionaries(
    {"format": st.sampled_from(["csv", "tsv", "msd"]), "path": st.just(EXISTING)}
)
dataset = st.fixed_dictionaries(
    {
        "source": synthetic | local,
        "protocol": st.fixed_dictionaries({"heldout_users": st.integers(1, 100)}),
    }
)
right = st.builds(
    lambda rest, datasets, drawn: rest | {"datasets": datasets | drawn},
    mapping({**SCHEMA, "required": []}),
    st.dictionaries(st.sampled_from(NAMES), dataset, min_size=1, max_size=2),
    st.just({}) | mapping(SCHEMA["properties"]["datasets"]),
)
edits = st.lists(
    st.tuples(st.integers(0, 10**6), st.sampled_from(["set", "drop", "add", "rename"]), odd),
    max_size=2,
)
odd_name = st.sampled_from([*ODD_NAMES, *TOP, "lambda", "path", 8, None, True, 1.5, 10**5000])


def places(value):
    """Every mapping or list inside a value, with each of its keys."""
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    for key in list(keys):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def damage(value, edits, name):
    """Change a configuration in place at some of its keys."""
    for place, how, new in edits:
        found = list(places(value))
        if not found:
            return
        inside, key = found[place % len(found)]
        if how == "set" or isinstance(inside, list):
            inside[key] = copy.deepcopy(new)
        elif how == "drop":
            del inside[key]
        elif how == "add":
            inside[name] = copy.deepcopy(new)
        else:
            inside[name] = inside.pop(key)


def kept(given, filled):
    """Whether all that was given is in the filled configuration, with the same types.

    The path of a file of test interactions stands for a mapping with this path.
    """
    if isinstance(given, dict):
        return all(
            key in filled and (kept(one, filled[key]) or (key, one) == ("repeats", None))
            for key, one in given.items()
        )
    if isinstance(given, list):
        return len(given) == len(filled) and all(map(kept, given, filled))
    if is_text(given) and isinstance(filled, dict):
        return filled["path"] == given
    if is_text(given) and not is_text(filled):
        return NUMBER.fullmatch(given) and float(given) == filled
    return type(given) is type(filled) and given == filled


def is_text(value):
    return isinstance(value, str)


def shown(value):
    """All of a value as text, also numbers that are too long for Python's default."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return repr(value)
    finally:
        sys.set_int_max_str_digits(limit)


def is_right(given):
    """What holds of every outcome of `checked`; returns whether it accepted the configuration."""
    before = shown(given)
    filled, message = outcome(checked, given, SCHEMA)
    assert shown(given) == before
    if filled is None:
        assert message.startswith("config")
        keys = [" ".join(key.split())[:57] for key in filter(is_text, given)]  # shown shortened
        assert any(name in message for name in [*TOP, "the name", "cannot hold", *keys])
        assert CROSS.search(message) or not Validator(SCHEMA).is_valid(given), message
        return False
    assert shown(checked(filled, SCHEMA)) == shown(filled)
    jsonschema.Draft202012Validator(SCHEMA).validate(filled)
    Validator(SCHEMA).validate(filled)
    assert kept(given, filled)
    json.dumps(filled, allow_nan=False).encode()
    return True


@fuzzed(2500, config=right, edits=edits, name=odd_name)
def test_configurations_as_objects(config, edits, name):
    """What is accepted is whole, of the schema's types and checked once and for all."""
    config = copy.deepcopy(config)
    damage(config, edits, name)
    return is_right(config)


def test_the_path_of_a_test_file_stands_for_a_mapping():
    """This was an input of `test_configurations_as_objects`."""
    source = {"format": "csv", "path": EXISTING, "test": EXISTING, "validation": EXISTING}
    assert is_right({"datasets": {"a": {"source": source, "protocol": {"split": "given"}}}})


def test_a_least_rating_that_is_not_a_number_is_refused():
    """This was an input of `test_configurations_as_objects`."""
    protocol = {"split": "leave_last", "min_rating": math.nan, "last": 1, "min_item_users": 0}
    source = {"format": "movielens", "path": EXISTING}
    assert not is_right({"datasets": {"b-2": {"source": source, "protocol": protocol}}})


def test_downloads_whose_names_differ_in_case_are_refused():
    entries = {
        name: {"source": {"format": "csv", "url": url}, "protocol": {"heldout_users": 3}}
        for name, url in {"a": URLS[0], "b-2": "https://x.org/A.zip"}.items()
    }
    assert not is_right({"datasets": entries})


SNIPPETS = ["&a ", "*a", "<<: *a\n", "010", "1_000", "12:30:45", "true", "~", "1.0", "2020-01-01"]
SNIPPETS += [
    "2020-13-45",
    "!!int x",
    "!!float x",
    "!!binary x",
    "!!set {a}",
    "!x y",
    "? [1]\n: 2\n",
]
SNIPPETS += [
    "0x1F",
    "0b1",
    "1e3",
    ".inf",
    "- ",
    ": ",
    "\t",
    "\n",
    "#",
    "'",
    '"',
    "{",
    "}",
    "[",
    "]",
]
SNIPPETS += ["---\n", "...\n", "%YAML 1.1\n", "\ufeff", "\0", "\x85", "é", "|\n", ">\n", ",", "="]
SNIPPETS += ["[" * 50, "9" * 5000, "datasets:\n", "seed: 1\n", "8: 1\n", "'010': 1\n"]
texts = st.lists(
    st.tuples(st.integers(0, 10**6), st.integers(0, 3), st.sampled_from(SNIPPETS)), max_size=3
)


class Written(yaml.SafeLoader):
    """A loader that keeps every key as it is written and every pair of a mapping."""


def _pairs(loader, node):
    node = copy.copy(node)
    return Pairs(
        (key.value, loader.construct_object(value, deep=True)) for key, value in node.value
    )


class Pairs(list):
    """The pairs of a mapping."""


for tag in ("int", "float", "bool", "null", "timestamp"):
    Written.add_constructor(f"tag:yaml.org,2002:{tag}", yaml.SafeLoader.construct_scalar)
Written.add_constructor("tag:yaml.org,2002:map", _pairs)


def same_keys(written, read):
    """Whether a value that a reader gives has the keys that its text has, each once."""
    if isinstance(written, Pairs):
        names = [name for name, _ in written if name != "<<"]
        merged = len(names) < len(written)
        if not isinstance(read, dict) or len(set(names)) < len(names):
            return False
        if set(names) != set(read) and not (merged and set(names) <= set(read)):
            return False
        return all(same_keys(one, read[name]) for name, one in written if name != "<<")
    if isinstance(written, list):
        return len(written) == len(read) and all(map(same_keys, written, read))
    return True


@fuzzed(
    2500,
    config=right,
    edits=edits,
    name=odd_name,
    flow=st.booleans(),
    form=st.booleans(),
    more=texts,
)
def test_configurations_as_texts(config, edits, name, flow, form, more):
    """What passes the check of the text is read by Snakemake's reader, and as it is written."""
    config = copy.deepcopy(config)
    damage(config, edits, name)
    try:
        text = json.dumps(config) if form else yaml.safe_dump(config, default_flow_style=flow)
    except (yaml.YAMLError, ValueError, TypeError):
        text = "datasets: {a: {source: {format: synthetic}, protocol: {heldout_users: 9}}}\n"
    for place, cut, piece in more:
        at = place % (len(text) + 1)
        text = text[:at] + piece + text[at + cut :]
    _, message = outcome(check_text, text, "mine.yaml")
    if message is not None:
        assert message.startswith("mine.yaml")
        return False
    try:
        read = json.loads(text)
    except ValueError:
        read = yaml.load(text, yaml.FullLoader)
        assert same_keys(yaml.load(text, Written), read)
    return isinstance(read, dict) and is_right(read)
