"""Files results/experiments/<paper>/<job>.json with the checks that one job computed.

Their form is [{"claim", "what", "computed", "relation", "expected", "tolerance", "form", "data",
"verdict"}], where "claim" is the id by which config/claims/<paper>.yaml names the check. NaN and
infinity are written as null. The verdict of a check is written for readers of the file; the library
computes it again after reading the numbers.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lindrop.base.atomic import atomic
from lindrop.base.errors import UserError
from lindrop.claims.checks import Check


def write_checks(path: str | Path, checks: Iterable[Check]) -> None:
    """Write the checks of one job."""
    lines = [
        {key: _number(value) for key, value in asdict(check).items()} | {"verdict": check.verdict}
        for check in checks
    ]
    text = json.dumps(lines, indent=1, allow_nan=False, ensure_ascii=False)
    with atomic(path) as partial:
        partial.write_text(text + "\n", encoding="utf-8")


def read_checks(path: str | Path) -> list[Check]:
    """Checks of the file of one job; UserError if the file holds something else."""
    try:
        content: Any = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(content, list):
            raise TypeError("no list")
        return [Check(**_read(line)) for line in content]
    except (ValueError, AttributeError, TypeError) as error:
        raise UserError(
            f"{path}: not a file of checks ({error}): delete it and run again"
        ) from None


def _read(line: dict[str, Any]) -> dict[str, Any]:
    return {
        key: math.nan if value is None else value for key, value in line.items() if key != "verdict"
    }


def _number(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
