"""Files results/experiments/<paper>/<claim>.json with the checks of one claim.

Their form is {"paper", "claim", "checks": [{"what", "computed", "relation", "expected",
"tolerance", "form", "data", "verdict"}]}. NaN and infinity are written as null. The verdict of a
check is written for readers of the file; the library computes it again from the numbers.
"""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lindrop.base.atomic import atomic
from lindrop.base.errors import UserError
from lindrop.claims.checks import Check


def write_all_checks(paths: Iterable[str | Path], paper: str, checks: Sequence[Check]) -> None:
    """Write one file per claim, each named after its claim.

    ValueError if a check belongs to none of the files.
    """
    files = {Path(path).stem: path for path in paths}
    if missing := {check.claim for check in checks} - set(files):
        raise ValueError(f"{paper}: no file for the checks of {', '.join(sorted(missing))}")
    for claim, path in files.items():
        write_checks(path, paper, claim, checks)


def write_checks(path: str | Path, paper: str, claim: str, checks: Sequence[Check]) -> None:
    """Write the file of one claim with its own checks among `checks`; ValueError if it has none."""
    own = [check for check in checks if check.claim == claim]
    if not own:
        raise ValueError(f"{paper}: no check of {claim}")
    lines = [
        {key: _number(value) for key, value in asdict(check).items() if key != "claim"}
        | {"verdict": check.verdict}
        for check in own
    ]
    text = json.dumps({"paper": paper, "claim": claim, "checks": lines}, indent=1, allow_nan=False)
    with atomic(path) as partial:
        partial.write_text(text + "\n", encoding="utf-8")


def read_checks(path: str | Path) -> list[Check]:
    """Checks of one file; UserError if it is damaged."""
    try:
        content: Any = json.loads(Path(path).read_text(encoding="utf-8"))
        return [Check(claim=content["claim"], **_read(line)) for line in content["checks"]]
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{path}: not a file of checks ({error}): delete it and run again"
        ) from None


def _read(line: dict[str, Any]) -> dict[str, Any]:
    return {
        key: math.nan if value is None else value for key, value in line.items() if key != "verdict"
    }


def _number(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
