"""Files results/experiments/<paper>/<job>.json with the checks that one job computed.

Their form is {"crc32", "made_from", "checks": [{"claim", "what", "computed", "relation",
"expected", "tolerance", "form", "data", "verdict"}]}, where "crc32" is the checksum of the checks
without their verdicts, "made_from" a fingerprint of the code and data behind a figure (empty for
other jobs), and "claim" the id by which config/claims/<paper>.yaml names the check. Where they
matter, a check has "stderr", "users" and "at_rest", too. NaN and infinity are written as null. The
verdict of a check is written for readers of the file; the library computes it again after reading
the numbers.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from lindrop.base.atomic import atomic
from lindrop.base.errors import Damaged, UserError
from lindrop.claims.checks import Check
from lindrop.store.json_crc import CRC, crc_of

MADE_FROM = "made_from"
DOUBTS = ("stderr", "users", "at_rest")


def write_checks(path: str | Path, checks: Iterable[Check], made_from: str = "") -> None:
    """Write the checks of one job; `made_from` is a fingerprint of what led to them."""
    checks = list(checks)
    lines = [{key: _number(value) for key, value in _stated(check).items()} for check in checks]
    crc = crc_of(lines)
    for line, check in zip(lines, checks, strict=True):
        line["verdict"] = check.verdict
    content = {CRC: crc, MADE_FROM: made_from, "checks": lines}
    text = json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False)
    with atomic(path) as partial:
        partial.write_text(text + "\n", encoding="utf-8")


def read_checks(path: str | Path) -> list[Check]:
    """Checks of the file of one job; UserError if it holds something else or is damaged."""
    path = Path(path)
    maker = f"the rule {path.parent.name}_{path.stem}"
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
        lines: list[dict[str, Any]] = [
            {key: value for key, value in line.items() if key != "verdict"}
            for line in content["checks"]
        ]
        if crc_of(lines) != content[CRC]:
            raise Damaged(path, "its checksum differs", maker)
        return [Check(**_numbers(line)) for line in lines]
    except (ValueError, AttributeError, TypeError, LookupError, RecursionError) as error:
        raise UserError(
            f"{path}: not a file of checks ({error}): delete it and run again; {maker} makes it "
            "anew"
        ) from None


def read_made_from(path: str | Path) -> str | None:
    """The fingerprint with which checks were written; None if there is none."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))[MADE_FROM]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return str(found)


def _stated(check: Check) -> dict[str, Any]:
    """Fields of a check, of the optional ones only those that differ from their default."""
    optional = {field.name: field.default for field in fields(Check) if field.name in DOUBTS}
    values = asdict(check).items()
    return {key: value for key, value in values if key not in optional or value != optional[key]}


def _numbers(line: dict[str, Any]) -> dict[str, Any]:
    return {key: math.nan if value is None else value for key, value in line.items()}


def _number(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
