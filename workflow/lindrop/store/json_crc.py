"""The checksum that lindrop's JSON files hold beside their content."""

import json
import zlib
from typing import Any

CRC = "crc32"


def crc_of(content: Any) -> str:
    """CRC-32 of a content that JSON can hold, in whatever layout its file has."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return f"{zlib.crc32(text.encode()):08x}"
