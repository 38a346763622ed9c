"""A validator of JSON schemas that compares whole texts with the keyword `pattern`."""

import math
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


def _is_whole(_: Any, value: Any) -> bool:
    """Whether a value is an integer in Python: 50.0 is one to JSON Schema, but cannot count."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(_: Any, value: Any) -> bool:
    """Whether a value is a number of JSON, which has no NaN and no infinity."""
    return _is_whole(_, value) or (isinstance(value, float) and math.isfinite(value))


Validator: Any = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator,
    {"pattern": _pattern},
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"integer": _is_whole, "number": _is_number}
    ),
)
