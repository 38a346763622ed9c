"""Check a configuration against its schema, fill in the defaults, explain mistakes in one line."""

import difflib
import json
import math
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from lindrop.data.synthetic.recipe import PRESETS
from lindrop.errors import UserError

Schema = dict[str, Any]

# Keywords that this module follows itself, to name the key in its own words.
NESTED = ("properties", "additionalProperties", "items", "required", "propertyNames", "oneOf")


def load_schema(path: Path) -> Schema:
    """The schema with its references put in place."""
    schema = yaml.safe_load(path.read_text(encoding="utf-8"))
    definitions = schema.pop("$defs", {})

    def resolve(node: Any) -> Any:
        if isinstance(node, list):
            return [resolve(entry) for entry in node]
        if isinstance(node, dict):
            if "$ref" in node:
                return resolve(definitions[node["$ref"].rpartition("/")[2]])
            return {key: resolve(value) for key, value in node.items()}
        return node

    resolved: Schema = resolve(schema)
    return resolved


def checked(config: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """The configuration with every default filled in; UserError on the first mistake."""
    config = json.loads(json.dumps(config, default=str))  # plain, and ours to fill
    _check(config, schema, "")
    for name, entry in config["datasets"].items():
        _check_dataset(f"datasets.{name}", entry)
    _check_downloads(config)
    folder = config["data_dir"]
    if folder is not None and not Path(folder).is_dir():
        raise mistake("data_dir", folder, "the path of an existing folder")
    return dict(config)


def mistake(key: str, value: Any, allowed: str) -> UserError:
    return UserError(f"config: {key}: {_shown(value)} is not allowed; allowed: {allowed}")


def _joined(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"


def _check(value: Any, schema: Schema, key: str) -> None:
    """Check one value, then what is inside it; defaults are filled on the way down."""
    if "oneOf" in schema:
        schema = _branch(value, schema, key)
    if isinstance(value, float) and not math.isfinite(value):
        raise mistake(key, str(value), allowed(schema))
    flat = {name: rule for name, rule in schema.items() if name not in NESTED}
    for error in jsonschema.Draft202012Validator(flat).iter_errors(value):
        raise mistake(key or "the file", value, allowed(schema)) from error
    if isinstance(value, list):
        for index, entry in enumerate(value):
            _check(entry, schema.get("items", {}), f"{key}[{index}]")
    if isinstance(value, dict):
        for name, inner in _children(value, schema, key):
            _check(value[name], inner, _joined(key, name))


def _children(value: dict[str, Any], schema: Schema, key: str) -> Iterator[tuple[str, Schema]]:
    known = schema.get("properties", {})
    free = schema.get("additionalProperties")
    names = schema.get("propertyNames")
    for name in value:
        if name not in known and not isinstance(free, dict):
            raise UserError(_unknown(_joined(key, name), name, value[name], known))
        if names and not jsonschema.Draft202012Validator(names).is_valid(name):
            raise mistake(f"a name in {key}", name, allowed(names))
    for name in schema.get("required", []):
        if name not in value:
            raise UserError(
                f"config: {_joined(key, name)} is missing; allowed: {allowed(known[name])}"
            )
    for name, inner in known.items():
        if name not in value and "default" in inner:
            value[name] = deepcopy(inner["default"])
    for name in value:
        yield name, known.get(name, free)


def _unknown(key: str, name: str, value: Any, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f"did you mean {close[0]}? " if close else ""
    return f"config: {key}: unknown key (value {_shown(value)}); {hint}allowed: {', '.join(known)}"


def _branch(value: Any, schema: Schema, key: str) -> Schema:
    """The alternative that a source's `format` selects."""
    formats = [
        (name, alternative)
        for alternative in schema["oneOf"]
        for name in alternative["properties"]["format"]["enum"]
    ]
    names = ", ".join(name for name, _ in formats)
    if not isinstance(value, dict):
        raise mistake(key, value, f"a mapping with `format`, one of {names}")
    for name, alternative in formats:
        if value.get("format") == name:
            chosen: Schema = alternative
            return chosen
    if "format" not in value:
        raise UserError(f"config: {key}.format is missing; allowed: {names}")
    raise mistake(f"{key}.format", value["format"], names)


KINDS = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "null": "null",
    "array": "a list",
    "object": "a mapping",
    "boolean": "true or false",
}


def allowed(schema: Schema) -> str:
    """In words, what a key accepts."""
    if "x-allowed" in schema:
        return str(schema["x-allowed"])
    if "enum" in schema:
        return ", ".join("null" if value is None else str(value) for value in schema["enum"])
    kinds = schema.get("type", "object")
    words = [KINDS[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    bounds = [
        f"{name} {schema[word]}"
        for word, name in (
            ("minimum", "at least"),
            ("exclusiveMinimum", "greater than"),
            ("maximum", "at most"),
            ("exclusiveMaximum", "less than"),
        )
        if word in schema
    ]
    return " or ".join(words) + (f" ({', '.join(bounds)})" if bounds else "")


def _check_dataset(key: str, entry: dict[str, Any]) -> None:
    """What one key alone cannot show to be impossible."""
    source, protocol = entry["source"], entry["protocol"]
    if source["format"] == "synthetic":
        _check_synthetic(key, source, protocol)
        return
    if source["path"] is None and source["url"] is None:
        raise UserError(f"config: {key}.source: neither path nor url is given; set one of them")
    if source["path"] is not None and not Path(source["path"]).exists():
        raise mistake(f"{key}.source.path", source["path"], "the path of an existing file")
    if protocol["min_rating"] is not None and source.get("rating", "in the format") is None:
        raise mistake(
            f"{key}.protocol.min_rating",
            protocol["min_rating"],
            "null, unless source.rating names the column of ratings",
        )


def _check_synthetic(key: str, source: dict[str, Any], protocol: dict[str, Any]) -> None:
    if protocol["min_rating"] is not None:
        raise mistake(
            f"{key}.protocol.min_rating",
            protocol["min_rating"],
            "null, as synthetic interactions have no ratings",
        )
    sizes = {name: source[name] for name in ("users", "items", "interactions")}
    given = {name: size for name, size in sizes.items() if size is not None}
    recipe = replace(PRESETS[source["preset"]], **given)
    if problem := recipe.problem():
        raise UserError(f"config: {key}.source: {problem}")
    if 2 * protocol["heldout_users"] >= recipe.users:
        raise mistake(
            f"{key}.protocol.heldout_users",
            protocol["heldout_users"],
            f"less than {(recipe.users + 1) // 2:,}, half of the {recipe.users:,} users",
        )


def download_name(url: str) -> str:
    """The name under which a download is kept: the last part of its address."""
    return url.partition("?")[0].rpartition("/")[2]


def _check_downloads(config: Mapping[str, Any]) -> None:
    """Downloads are kept by file name, so that two datasets can share one."""
    addresses: dict[str, str] = {}
    for name, entry in config["datasets"].items():
        url = entry["source"].get("url")
        if url is None:
            continue
        file = download_name(url)
        if addresses.setdefault(file, url) != url:
            raise mistake(
                f"datasets.{name}.source.url",
                url,
                f"the address that another dataset already uses for {file}, {addresses[file]}",
            )
