"""Read and write source.json: the receipt of a dataset's file, made by data.fetch.receipt."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lindrop.base.atomic import atomic


def write_receipt(path: str | Path, receipt: Mapping[str, Any]) -> None:
    """Write a receipt as JSON."""
    with atomic(path) as partial:
        partial.write_text(json.dumps(receipt, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def read_receipt(path: str | Path) -> dict[str, Any]:
    """Read a receipt written by `write_receipt`."""
    receipt: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    return receipt
