"""Check a configuration against its schema, fill in defaults, report mistakes in one line."""

import difflib
import json
import math
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from lindrop.base.errors import UserError
from lindrop.data.synthetic.recipe import recipe_of

Schema = dict[str, Any]
Validator: Any = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator,
    # JSON Schema accepts 50.0 as an integer, but Python code that counts with it does not
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)

DOWNLOAD_NAME = r"\w[\w.+%-]*"

# Schema keywords that this module checks itself, so that its messages name the key.
NESTED = ("properties", "additionalProperties", "items", "required", "propertyNames", "oneOf")


def checked(config: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """The configuration with all defaults filled in; UserError on the first mistake."""
    filled = _check(_plain(config), schema, "")
    for key, source in sources(filled):
        _check_source(key, source)
    for name, entry in filled["datasets"].items():
        _check_dataset(f"datasets.{name}", entry)
    for name in filled["pretorius2018"]["images"]:
        _check_measured(f"pretorius2018.{name}.network", filled["pretorius2018"][name]["network"])
    downloads(filled)
    if filled["data_dir"] is not None:
        filled["data_dir"] = _checked_path("data_dir", filled["data_dir"], "folder")
    return dict(filled)


def duplicate_keys(text: str, file: str) -> None:
    """Raise UserError if a YAML text gives a key twice; YAML readers silently keep the last one."""
    todo = [yaml.compose(text)]
    while todo:
        node = todo.pop()
        if isinstance(node, yaml.SequenceNode):
            todo += node.value
        if not isinstance(node, yaml.MappingNode):
            continue
        seen = set()
        for key, value in node.value:
            if key.value in seen:
                line = key.start_mark.line + 1
                raise UserError(f"{file}, line {line}: the key {key.value} is given twice")
            seen.add(key.value)
            todo.append(value)


def _plain(value: Any) -> Any:
    """A copy in which values and keys of other types, such as YAML's dates, are text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def mistake(key: str, value: Any, allowed: str) -> UserError:
    """UserError for a value that its key does not allow; `allowed` says what it does."""
    return UserError(f"config: {key}: {_shown(value)} is not allowed; allowed: {allowed}")


def _joined(key: str, name: str) -> str:
    """Full name of the key `name` inside `key`."""
    return f"{key}.{name}" if key else name


def _shown(value: Any) -> str:
    """A value as JSON of at most 60 characters, for error messages."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"


def _check(value: Any, schema: Schema, key: str) -> Any:
    """Check a value and everything inside it; return it with defaults and in schema order."""
    if "oneOf" in schema:
        schema = _branch(value, schema, key)
    if isinstance(value, float) and not math.isfinite(value):
        raise mistake(key, str(value), allowed(schema))
    flat = {name: rule for name, rule in schema.items() if name not in NESTED}
    for error in Validator(flat).iter_errors(value):
        raise mistake(key or "the file", value, allowed(schema)) from error
    if isinstance(value, list):
        inner = schema.get("items", {})
        return [_check(entry, inner, f"{key}[{index}]") for index, entry in enumerate(value)]
    if isinstance(value, dict):
        return _check_keys(value, schema, key)
    return value


def _check_keys(value: dict[str, Any], schema: Schema, key: str) -> dict[str, Any]:
    """Check the keys and values of a mapping; return it with defaults and in schema order."""
    known = schema.get("properties", {})
    free = schema.get("additionalProperties")
    names = schema.get("propertyNames")
    for name in value:
        if name not in known and not isinstance(free, dict):
            raise UserError(_unknown(_joined(key, name), name, value[name], known))
        if names and not Validator(names).is_valid(name):
            raise mistake(f"a name in {key}", name, allowed(names))
    for name in schema.get("required", []):
        if name not in value:
            raise UserError(
                f"config: {_joined(key, name)} is missing; allowed: {allowed(known[name])}"
            )
    defaults = {
        name: deepcopy(inner["default"]) for name, inner in known.items() if name not in value
    }
    value = {name: _completed(entry, known.get(name, {})) for name, entry in value.items()}
    ordered = [*known, *(name for name in value if name not in known)]
    return {
        name: _check((value | defaults)[name], known.get(name, free), _joined(key, name))
        for name in ordered
    }


def _completed(value: Any, schema: Schema) -> Any:
    """Complete a mapping from its default as a whole, if its keys have no defaults themselves."""
    if isinstance(value, dict) and "required" in schema and "default" in schema:
        return schema["default"] | value
    return value


def _unknown(key: str, name: str, value: Any, known: Mapping[str, Any]) -> str:
    """Error message for an unknown key, with the most similar known key."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f"did you mean {close[0]}? " if close else ""
    return f"config: {key}: unknown key (value {_shown(value)}); {hint}allowed: {', '.join(known)}"


def _branch(value: Any, schema: Schema, key: str) -> Schema:
    """The alternative of the schema that a source's `format` selects."""
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
    """Values that a key accepts, in words."""
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


def _check_source(key: str, source: dict[str, Any]) -> None:
    """Check that a file has a path or a url, and that its path exists."""
    if source.get("format") == "synthetic":
        return
    if source["path"] is None and source["url"] is None:
        raise UserError(f"config: {key}: neither path nor url is given; set one of them")
    if source["path"] is not None:
        source["path"] = _checked_path(f"{key}.path", source["path"], "file")


def _check_measured(key: str, network: dict[str, Any]) -> None:
    """Check that a network is measured at least once during its epochs."""
    if network["every"] > network["epochs"]:
        raise mistake(f"{key}.every", network["every"], f"at most its epochs, {network['epochs']}")


def _check_dataset(key: str, entry: dict[str, Any]) -> None:
    """Check conditions on a dataset that involve several keys."""
    source, protocol = entry["source"], entry["protocol"]
    if source["format"] == "synthetic":
        _check_synthetic(key, source, protocol)
        return
    if protocol["min_rating"] is not None and source.get("rating", "in the format") is None:
        raise mistake(
            f"{key}.protocol.min_rating",
            protocol["min_rating"],
            "null, unless source.rating names the column of ratings",
        )
    columns = [source[name] for name in ("user", "item", "rating") if source.get(name) is not None]
    if len(set(columns)) < len(columns):
        raise UserError(f"config: {key}.source: user, item and rating must be different columns")


def _checked_path(key: str, path: str, kind: str) -> str:
    """An existing path with `~` expanded; for kind `file` it may also be a folder of files."""
    if re.search("[{}<>]", path):
        raise mistake(key, path, "a path without { } < >, which mean something to Snakemake")
    try:
        found = Path(path).expanduser()
        exists = found.is_dir() if kind == "folder" else found.exists()
    except (OSError, RuntimeError, ValueError) as error:
        raise mistake(key, path, f"the path of an existing {kind} ({error})") from error
    if not exists:
        where = found.absolute()
        raise mistake(key, path, f"the path of an existing {kind} (looked for {where})")
    return str(found)


def _check_synthetic(key: str, source: dict[str, Any], protocol: dict[str, Any]) -> None:
    """Check that a synthetic dataset of these sizes can be made and split."""
    if protocol["min_rating"] is not None:
        raise mistake(
            f"{key}.protocol.min_rating",
            protocol["min_rating"],
            "null, as synthetic interactions have no ratings",
        )
    recipe = recipe_of(**{name: value for name, value in source.items() if name != "format"})
    if problem := recipe.problem():
        raise UserError(f"config: {key}.source: {problem}")
    if 2 * protocol["heldout_users"] >= recipe.users:
        raise mistake(
            f"{key}.protocol.heldout_users",
            protocol["heldout_users"],
            f"less than {(recipe.users + 1) // 2:,}, half of the {recipe.users:,} users",
        )


def download_name(url: str) -> str:
    """File name of a download: the last part of its address."""
    return re.split("[?#]", url)[0].rpartition("/")[2]


def sources(config: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield key and entry of every file that is read or downloaded, and of synthetic sources."""
    for name, entry in config["datasets"].items():
        yield f"datasets.{name}.source", entry["source"]
    for name, parts in config["images"].items():
        for part, file in parts.items():
            yield f"images.{name}.{part}", file


def downloads(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Addresses, size and checksums of every file that may be downloaded, by file name.

    Several datasets can share a file: its addresses are collected from all of its entries, whose
    sizes and checksums must agree.
    """
    files: dict[str, dict[str, Any]] = {}
    for key, source in sources(config):
        url = source.get("url")
        if url is None:
            continue
        if not re.fullmatch(DOWNLOAD_NAME, download_name(url)):
            raise mistake(f"{key}.url", url, "an address that ends in a plain file name")
        known = files.setdefault(download_name(url), {"url": url, "urls": [url]})
        for fact in ("url", "bytes", "sha256", "md5"):
            if source[fact] is not None and known.setdefault(fact, source[fact]) != source[fact]:
                raise mistake(
                    f"{key}.{fact}",
                    source[fact],
                    f"what another entry states of {download_name(url)}, {known[fact]}",
                )
        known["urls"] += [mirror for mirror in source["mirrors"] if mirror not in known["urls"]]
    return files
