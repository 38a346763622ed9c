"""A validator of JSON schemas that compares whole texts with the keyword `pattern`."""

import re
from collections.abc import Iterator
from typing import Any

import jsonschema


def _pattern(
    _: Any, pattern: str, value: Any, schema: dict[str, Any]
) -> Iterator[jsonschema.ValidationError]:
    """An error unless the whole text matches: in Python, `$` also matches before a line break."""
    if isinstance(value, str) and not re.fullmatch(pattern, value):
        yield jsonschema.ValidationError(f"{value!r} does not match {pattern!r}")


Validator: Any = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator,
    {"pattern": _pattern},
    # JSON Schema accepts 50.0 as an integer, but Python code that counts with it does not
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)
