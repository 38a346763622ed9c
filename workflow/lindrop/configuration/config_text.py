"""Check the text of a configuration for what is lost once YAML has been read.

YAML readers keep the last of two equal keys, read the name `010` as the number 8, and follow
aliases that multiply or contain themselves. `python -m lindrop.configuration.config_text FILE`
checks a file before Snakemake reads it; this module imports nothing heavy, since every start does
so.
"""

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from lindrop.base.errors import UserError
from lindrop.base.yaml_files import LOADER

DEEPEST = 40  # levels of nesting; a configuration needs 7
MOST_ENTRIES = 100_000  # keys and values, those that aliases repeat counted each time
MOST_DIGITS = 400  # of a number
TEXT, MERGE = "tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"
INTEGER, DECIMAL = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"
KINDS = ("str", "int", "float", "bool", "null", "map", "seq")  # what a configuration may hold
PLAIN_INTEGER = r"[-+]?(0|[1-9][0-9_]*)"


def check_file(path: str | Path) -> None:
    """Raise UserError if a configuration is no UTF-8, or is read otherwise than it looks."""
    try:
        text = Path(path).read_bytes().decode("utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text; convert the file to UTF-8") from error
    check_text(text, str(path))


def check_text(text: str, file: str) -> None:
    """Raise UserError at the first key or number of a YAML text that a reader changes or loses."""
    try:
        _check_depth(yaml.parse(text, LOADER), file)
        root = yaml.compose(text)  # by the Python reader that Snakemake uses: the other takes tabs
    except yaml.YAMLError as error:
        if _is_json(text, file):
            return
        mark = getattr(error, "problem_mark", None)
        where = f"{file}, line {mark.line + 1}, column {mark.column + 1}" if mark else file
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or error
        raise UserError(f"{where}: not valid YAML ({problem}); correct the file") from error
    if root is None:
        return
    _entries(root, file, {}, set())
    try:
        yaml.SafeLoader("").construct_document(root)
    except (yaml.YAMLError, ValueError, TypeError, KeyError, OverflowError) as error:
        raise UserError(f"{file}: a value that YAML cannot read ({error}); correct it") from error


def _is_json(text: str, file: str) -> bool:
    """Whether a text that is not YAML is JSON; UserError if it gives a key twice."""

    def unique(pairs: list[tuple[str, Any]]) -> None:
        names = [name for name, _ in pairs]
        for name in names:
            if names.count(name) > 1:
                raise UserError(f"{file}: the key {_short(name)} is given twice")

    try:
        json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError):
        return False
    return True


def _check_depth(events: Iterable[Any], file: str) -> None:
    """Raise UserError where a text is nested too deeply for the readers, which are recursive."""
    depth = 0
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            line = event.start_mark.line + 1
            raise UserError(f"{file}, line {line}: nested more than {DEEPEST} levels deep")


def _entries(
    node: Any, file: str, known: dict[int, tuple[int, int]], above: set[int]
) -> tuple[int, int]:
    """Number of entries in a node and below it, and of levels; UserError at the first mistake.

    `known` holds both for the nodes that were seen, which aliases may name again, and `above` the
    nodes in which this one stands.
    """
    where = f"{file}, line {node.start_mark.line + 1}"
    if id(node) in above:
        raise UserError(f"{where}: contains itself by an alias; write it out")
    if id(node) not in known:
        above.add(id(node))
        inside = []
        kind = node.tag.rpartition(":")[2]
        if kind not in KINDS or not node.tag.startswith("tag:yaml.org"):
            raise UserError(
                f"{where}: a value is read as a YAML {_short(kind)}; quote it if it is text"
            )
        if isinstance(node, yaml.ScalarNode):
            _check_number(node, file)
        elif isinstance(node, yaml.SequenceNode):
            inside = node.value
        else:
            _check_names([key for key, _ in node.value], file)
            inside = [entry for _, entry in node.value]
        found = [_entries(entry, file, known, above) for entry in inside]
        counts, levels = [count for count, _ in found], [level for _, level in found]
        known[id(node)] = 1 + sum(counts), 1 + max(levels, default=0)
        above.remove(id(node))
    count, level = known[id(node)]
    if count > MOST_ENTRIES or level > DEEPEST:
        raise UserError(
            f"{where}: more than {MOST_ENTRIES:,} entries or {DEEPEST} levels, where aliases are "
            "replaced by what they name; shorten it"
        )
    return count, level


def _check_names(keys: Iterable[Any], file: str) -> None:
    """Raise UserError if a key is no text, or the same as one before it."""
    seen = set()
    for key in keys:
        where = f"{file}, line {key.start_mark.line + 1}"
        if not isinstance(key, yaml.ScalarNode):
            raise UserError(f"{where}: a key that is a list or a mapping; keys must be text")
        name = key.value
        if key.tag not in (TEXT, MERGE):
            kind = key.tag.rpartition(":")[2]
            raise UserError(
                f"{where}: the key {_short(name)} is read as a YAML {kind}; quote the name: "
                f"'{_short(name)}'"
            )
        if name in seen:
            raise UserError(f"{where}: the key {_short(name)} is given twice")
        seen.add(name)


def _check_number(node: Any, file: str) -> None:
    """Raise UserError if a number is not what it looks like, such as 010, which YAML reads as 8."""
    if node.tag not in (INTEGER, DECIMAL):
        return
    where = f"{file}, line {node.start_mark.line + 1}"
    if len(node.value) > MOST_DIGITS:
        raise UserError(f"{where}: a number of {len(node.value):,} digits; shorten it")
    odd = ":" in node.value or (node.tag == INTEGER and not re.fullmatch(PLAIN_INTEGER, node.value))
    if odd:
        raise UserError(
            f"{where}: {node.value} is not read as a decimal number; write it as one, or quote it "
            f"if it is text: '{node.value}'"
        )


def _short(text: str) -> str:
    """A text of at most 60 characters, for error messages."""
    return text if len(text) <= 60 else text[:57] + "…"


if __name__ == "__main__":
    try:
        for given in sys.argv[1:]:
            check_file(given)
    except UserError as error:
        sys.exit(f"lindrop: error: {error}")
