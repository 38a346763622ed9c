"""Read and write what is known of a file: the note of its download, and its receipt.

<file>.url   beside a download: its address in the configuration, then how it came (JSON)
source.json  the receipt of a dataset's file, made by data.fetch.receipt; its key `crc32` holds
             the checksum of the others
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lindrop.base.atomic import atomic
from lindrop.base.errors import Damaged
from lindrop.store.json_crc import CRC, crc_of

MAKER = "the rule verify_source"


def write_note(path: str | Path, url: str, delivery: Mapping[str, Any] | None) -> None:
    """Write the note of a download; `delivery` is None if a checksum proved an earlier file."""
    came = [json.dumps(delivery, sort_keys=True)] if delivery else []
    with atomic(path) as partial:
        partial.write_text("\n".join([url, *came]) + "\n", encoding="utf-8")


def read_note(path: str | Path) -> dict[str, Any] | None:
    """How a file came, the fields of a data.fetch.Delivery, or None if its note does not tell."""
    _, _, came = Path(path).read_text(encoding="utf-8").partition("\n")
    try:
        delivery: dict[str, Any] | None = json.loads(came) if came.strip() else None
    except ValueError as error:
        raise Damaged(path, str(error), "the rule fetch") from None
    return delivery


def write_receipt(path: str | Path, receipt: Mapping[str, Any]) -> None:
    """Write a receipt as JSON."""
    content = {**receipt, CRC: crc_of(dict(receipt))}
    with atomic(path) as partial:
        partial.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def read_receipt(path: str | Path) -> dict[str, Any]:
    """Read a receipt written by `write_receipt`; Damaged if its checksum differs."""
    try:
        receipt: Any = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise Damaged(path, str(error), MAKER) from None
    if not isinstance(receipt, dict) or receipt.pop(CRC, None) != crc_of(receipt):
        raise Damaged(path, "its checksum differs", MAKER)
    return receipt
