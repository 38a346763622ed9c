"""Read and write csv files for later jobs: curves and tuning, not the csv files for readers.

The last column, `crc32`, has the same value in every row: the CRC-32 of a fingerprint of the data
behind the table, followed by the csv without this column. Readers of the csv may ignore it.
lindrop compares it, so that a changed or lost row is found, and a table made from other data.
"""

import io
import re
import zlib
from pathlib import Path

import pandas as pd

from lindrop.base.atomic import atomic
from lindrop.base.errors import Damaged

CRC = "crc32"


def write_csv(path: str | Path, frame: pd.DataFrame, made_from: str = "") -> None:
    """Write a table with its checksum; `made_from` is a fingerprint that its reader knows, too."""
    crc = _crc_of(made_from + _text(frame))
    with atomic(path) as partial:
        partial.write_text(_text(frame.assign(**{CRC: crc})), encoding="utf-8", newline="")


def read_csv(path: str | Path, maker: str, made_from: str = "") -> pd.DataFrame:
    """Table written by `write_csv`, equal to the last bit (with pandas 3 or later).

    Damaged if its checksum differs, also where it was made from something else. `maker` says what
    makes the file anew.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise Damaged(path, "not a text", maker) from None
    found = re.search(",([0-9a-f]{8})\n\\Z", text)
    header = f",{CRC}\n"
    if not found or header not in text:
        raise Damaged(path, f"it does not end with the column {CRC}", maker)
    plain = text.replace(header, "\n", 1).replace(f",{found[1]}\n", "\n")
    if _crc_of(made_from + plain) != found[1]:
        raise Damaged(path, "its checksum differs", maker)
    return read_plain(io.StringIO(plain))


def read_plain(file: str | Path | io.StringIO) -> pd.DataFrame:
    """Table that was written to a csv file, for readers or for a later job.

    Datasets and users keep their names, which may be `nan`, `007` or `1e5`; only an empty cell
    counts as missing.
    """
    names = {"dataset": str, "user": str}
    table: pd.DataFrame = pd.read_csv(file, dtype=names, keep_default_na=False, na_values=[""])
    return table


def _text(frame: pd.DataFrame) -> str:
    text: str = frame.to_csv(index=False, lineterminator="\n")
    return text


def _crc_of(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"
