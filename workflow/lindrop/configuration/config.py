"""Check a configuration against its schema, fill in defaults, report mistakes in one line."""

import difflib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path, PurePath
from typing import Any

from lindrop.base.errors import UserError
from lindrop.base.schemas import Validator
from lindrop.base.times import time_of_date
from lindrop.configuration.config_text import DEEPEST, MOST_DIGITS, MOST_ENTRIES
from lindrop.data.synthetic.recipe import recipe_of
from lindrop.models.catalogue import CATALOGUE
from lindrop.ranking.metrics import metric

Schema = dict[str, Any]

LARGEST = 10**18 - 1  # fits into the 64 bits of compiled code
MOST_POINTS = 10_000  # of a model's grid
MOST_JOBS = 1_000  # that tune a model on a dataset: Snakemake plans no more of them in a minute

YOUR_FORMATS = ("csv", "tsv", "parquet", "adjacency")  # others are published archives
OTHER_FILES = ("test", "validation")  # keys of a source beside its training file

DOWNLOAD_NAME = r"\w[\w.+%-]*"

# Schema keywords that this module checks itself, so that its messages name the key.
NESTED = ("properties", "additionalProperties", "items", "required", "propertyNames", "oneOf")


NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+")  # text to YAML 1.1, such as 1e3


def checked(config: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """The configuration with all defaults filled in; UserError on the first mistake."""
    filled = _check(_plain(config, "", 0, iter(range(MOST_ENTRIES))), schema, "")
    for name, entry in filled["datasets"].items():
        _check_other_files(f"datasets.{name}.source", entry["source"], schema)
    for key, source in sources(filled):
        _check_source(key, source)
    for name, entry in filled["datasets"].items():
        _check_dataset(f"datasets.{name}", entry)
    for name, options in filled["models"].items():
        alone = schema["properties"]["models"]["properties"][name].get("x-one-point-per-job")
        searched = MOST_POINTS if filled["tuning"] == "search" else filled["points_per_job"]
        _check_grid(f"models.{name}", options, 1 if alone else searched)
    _check_metrics(filled["metrics"], filled["criterion"])
    for index, model in enumerate(filled["compare"]["models"] or []):
        if model not in CATALOGUE:
            raise mistake(f"compare.models[{index}]", model, ", ".join(CATALOGUE))
    for index, model in enumerate(filled["recommend"]["models"] or []):
        if model not in CATALOGUE:
            raise mistake(f"recommend.models[{index}]", model, ", ".join(CATALOGUE))
    for name in filled["pretorius2018"]["images"]:
        _check_measured(f"pretorius2018.{name}.network", filled["pretorius2018"][name]["network"])
    downloads(filled)
    if filled["recommend"]["users"] is not None:
        users = _checked_path("recommend.users", filled["recommend"]["users"], "file")
        filled["recommend"]["users"] = users
    if filled["data_dir"] is not None:
        filled["data_dir"] = _checked_path("data_dir", filled["data_dir"], "folder")
    return dict(filled)


def _plain(value: Any, key: str, depth: int, left: Iterator[int]) -> Any:
    """A copy of what YAML or JSON can say; UserError at anything else, or if it never ends."""
    where = f"config: {key}" if key else "config"
    if depth > DEEPEST:
        raise UserError(f"{where[:80]}: nested more than {DEEPEST} levels deep, or contains itself")
    if next(left, None) is None:
        raise UserError(f"{where}: more than {MOST_ENTRIES:,} entries; shorten the configuration")
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str):
                raise UserError(
                    f"{where}: the name {_short(name)} is no text but of type "
                    f"{type(name).__name__}; quote the name as it is meant: '…'"
                )
            _check_characters(where, name)
        return {
            name: _plain(entry, _joined(key, name), depth + 1, left)
            for name, entry in value.items()
        }
    if isinstance(value, list):
        return [
            _plain(entry, f"{key}[{index}]", depth + 1, left) for index, entry in enumerate(value)
        ]
    if isinstance(value, str):
        _check_characters(where, value)
        return value
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, int) and abs(value) > LARGEST:
        raise UserError(f"{where}: {_short(value)}: a whole number may have at most 18 digits")
    if value is None or isinstance(value, bool | int | float):
        return value
    raise UserError(
        f"{where}: {_short(value)} is of type {type(value).__name__}; quote it if it is text"
    )


def _check_characters(where: str, text: str) -> None:
    """Raise UserError if a text cannot be written to a file or name one."""
    if "\0" in text or text != text.encode("utf-8", "ignore").decode():
        raise UserError(f"{where}: {text[:60]!a} holds a character that files cannot hold")


def _short(value: Any) -> str:
    """Any value in at most 60 characters, for error messages."""
    try:
        text = str(value)
    except (ValueError, RecursionError):  # a number of more digits than Python writes
        text = f"a very long {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "…"


def mistake(key: str, value: Any, allowed: str) -> UserError:
    """UserError for a value that its key does not allow; `allowed` says what it does."""
    return UserError(f"config: {key}: {_shown(value)} is not allowed; allowed: {allowed}")


def _joined(key: str, name: str) -> str:
    """Full name of the key `name` inside `key`, shortened for messages if it is very long."""
    return f"{key}.{_short(name)}" if key else _short(name)


def _shown(value: Any) -> str:
    """A value as JSON of at most 60 characters, for error messages."""
    return _short(json.dumps(value, ensure_ascii=False))


def _check(value: Any, schema: Schema, key: str) -> Any:
    """Check a value and everything inside it; return it with defaults and in schema order."""
    if "oneOf" in schema:
        schema = _branch(value, schema, key)
    value = _as_number(value, schema)
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


def _as_number(value: Any, schema: Schema) -> Any:
    """A text such as 1e3 as the number that it means, where a number and no text is wanted."""
    wanted = schema.get("type", [])
    kinds = {wanted} if isinstance(wanted, str) else set(wanted)
    if not isinstance(value, str) or "string" in kinds or not NUMBER.fullmatch(value):
        return value
    number = float(value) if len(value) <= MOST_DIGITS else math.inf
    if "number" in kinds:
        return number
    whole = "integer" in kinds and number.is_integer() and abs(number) <= LARGEST
    return int(number) if whole else value


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
    """Fill missing keys of a mapping from the mapping's own default, where its keys have none."""
    if isinstance(value, dict) and "required" in schema and "default" in schema:
        return schema["default"] | value
    return value


def _unknown(key: str, name: str, value: Any, known: Mapping[str, Any]) -> str:
    """Error message for an unknown key, with the most similar known key."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f"did you mean {close[0]}? " if close else ""
    return f"config: {key}: unknown key (value {_shown(value)}); {hint}allowed: {', '.join(known)}"


def _branch(value: Any, schema: Schema, key: str) -> Schema:
    """The alternative of the schema that a key of the value, such as `format`, selects."""
    by = schema.get("x-by", "format")
    alternatives = [
        (name, alternative)
        for alternative in schema["oneOf"]
        for name in alternative["properties"][by]["enum"]
    ]
    names = ", ".join(name for name, _ in alternatives)
    if not isinstance(value, dict):
        raise mistake(key, value, f"a mapping with `{by}`, one of {names}")
    selected = value.get(by, schema.get("x-otherwise"))
    for name, alternative in alternatives:
        if selected == name:
            chosen: Schema = alternative
            return chosen
    if by not in value:
        raise UserError(f"config: {key}.{by} is missing; allowed: {names}")
    raise mistake(f"{key}.{by}", value[by], names)


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


def _check_metrics(names: Sequence[str], criterion: str) -> None:
    """Check that all metrics are known and that the criterion is one of accuracy among them."""
    for index, name in enumerate(names):
        try:
            metric(name)
        except UserError as error:
            raise UserError(f"config: metrics[{index}]: {error}") from error
    of_accuracy = [name for name in names if metric(name).of_accuracy]
    if criterion not in of_accuracy:
        listed = ", ".join(of_accuracy)
        raise mistake("criterion", criterion, listed or "an accuracy, which must be in `metrics`")


def _check_grid(key: str, options: Mapping[str, Any], per_job: int) -> None:
    """Check that a model's grid is not larger than Snakemake can plan."""
    points = math.prod(len(values) for values in options.values() if isinstance(values, list))
    if points > MOST_POINTS:
        raise UserError(f"config: {key}: a grid of {points:,} points; at most {MOST_POINTS:,}")
    if points > MOST_JOBS * per_job:
        raise UserError(
            f"config: {key}: {points:,} points with {per_job:,} per job are more than "
            f"{MOST_JOBS:,} jobs; raise points_per_job or shorten the lists"
        )


def _check_dataset(key: str, entry: dict[str, Any]) -> None:
    """Check conditions on a dataset that involve several keys."""
    source, protocol = entry["source"], entry["protocol"]
    if protocol["repeats"] is None:
        protocol["repeats"] = "drop" if source["format"] in YOUR_FORMATS else "keep"
    if source["format"] == "synthetic":
        _check_synthetic(key, source, protocol)
        return
    of_format = None if source["format"] == "adjacency" else "in the format"
    if protocol["min_rating"] is not None and source.get("rating", of_format) is None:
        raise mistake(
            f"{key}.protocol.min_rating",
            protocol["min_rating"],
            "null, unless source.rating names the column of ratings",
        )
    names = ("user", "item", "rating", "time")
    columns = [source[name] for name in names if source.get(name) is not None]
    if len(set(columns)) < len(columns):
        raise UserError(
            f"config: {key}.source: user, item, rating and time must be different columns"
        )
    _check_split(key, source, protocol)


def _check_other_files(key: str, source: dict[str, Any], schema: Schema) -> None:
    """Check the test and validation file of a source; a path becomes a mapping with this path."""
    one_file = schema["properties"]["images"]["properties"]["mnist"]["properties"]["images"]
    one_file = {name: rule for name, rule in one_file.items() if name != "default"}
    for part in OTHER_FILES:
        if (given := source.get(part)) is not None:
            value = {"path": given} if isinstance(given, str) else given
            source[part] = _check(value, one_file, f"{key}.{part}")


def _check_split(key: str, source: dict[str, Any], protocol: dict[str, Any]) -> None:
    """Check that a source has the times or the files that its split needs, and no other files."""
    split, of_format = protocol["split"], source["format"] == "movielens" or None
    if split == "time" and source.get("time", of_format) is None:
        raise UserError(
            f"config: {key}.protocol.split: time needs times: set source.time to the name of a "
            "column of a csv, tsv or parquet file, or use format movielens"
        )
    if isinstance(cut := protocol.get("cut"), str):
        try:
            time_of_date(cut)
        except UserError as error:
            raise UserError(f"config: {key}.protocol.cut: {error}") from error
    if split == "given" and source.get("test") is None:
        raise UserError(
            f"config: {key}.protocol.split: given needs source.test, the file of test interactions "
            "(format csv, tsv, parquet or adjacency)"
        )
    for part in OTHER_FILES:
        if split != "given" and source.get(part) is not None:
            raise mistake(f"{key}.source.{part}", source[part], "null, unless split is given")


def _checked_path(key: str, path: str, kind: str) -> str:
    """An existing path with `~` expanded; for kind `file` it may also be a folder of files."""
    if re.search("[{}<>]", path):
        raise mistake(key, path, "a path without { } < >, which mean something to Snakemake")
    try:
        found = Path(path).expanduser()
        # a pipe or a device would be read without an end
        exists = found.is_dir() or (kind == "file" and found.is_file())
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error  # without the path, which may be long
        raise mistake(key, path, f"the path of an existing {kind} ({reason})") from error
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
    if protocol["split"] in ("time", "given"):
        raise mistake(
            f"{key}.protocol.split",
            protocol["split"],
            "users or leave_last, as synthetic interactions have neither times nor files",
        )
    recipe = recipe_of(**{name: value for name, value in source.items() if name != "format"})
    if problem := recipe.problem():
        raise UserError(f"config: {key}.source: {problem}")
    if 2 * protocol.get("heldout_users", 0) >= recipe.users:
        raise mistake(
            f"{key}.protocol.heldout_users",
            protocol["heldout_users"],
            f"less than {(recipe.users + 1) // 2:,}, half of the {recipe.users:,} users; a tenth, "
            f"{max(recipe.users // 10, 1):,}, leaves most of them for training",
        )


def download_name(url: str) -> str:
    """File name of a download: the last part of its address."""
    return re.split("[?#]", url)[0].rpartition("/")[2]


def sources(config: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield key and entry of every file that is read or downloaded, and of synthetic sources."""
    for name, entry in config["datasets"].items():
        yield f"datasets.{name}.source", entry["source"]
        for part in OTHER_FILES:
            if entry["source"].get(part) is not None:
                yield f"datasets.{name}.source.{part}", entry["source"][part]
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
        name = download_name(url)
        if same := [other for other in files if other != name and other.lower() == name.lower()]:
            # on some systems these are one file
            raise mistake(
                f"{key}.url", url, f"a name that differs from {same[0]} in more than case"
            )
        known = files.setdefault(name, {"url": url, "urls": [url]})
        for fact in ("url", "bytes", "sha256", "md5"):
            if source[fact] is not None and known.setdefault(fact, source[fact]) != source[fact]:
                raise mistake(
                    f"{key}.{fact}",
                    source[fact],
                    f"what another entry states of {download_name(url)}, {known[fact]}",
                )
        known["urls"] += [mirror for mirror in source["mirrors"] if mirror not in known["urls"]]
    return files
