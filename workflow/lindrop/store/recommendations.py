"""Write recommendations as Parquet or text: columns user, item (texts), rank, score, by.

`by` is `model`, or `popularity` for a user without any item that the model knows.
"""

import json
from collections.abc import Iterable, Iterator
from math import inf
from pathlib import Path
from typing import TextIO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from lindrop.base.atomic import atomic
from lindrop.base.reporting import Progress, logger

COLUMNS = pa.schema(
    [
        ("user", pa.string()),
        ("item", pa.string()),
        ("rank", pa.int32()),
        ("score", pa.float64()),
        ("by", pa.dictionary(pa.int8(), pa.string())),
    ]
)
ENDINGS = (".parquet", ".csv", ".tsv", ".json")
ROWS_AS = ("csv", "tsv", "json")  # endings of files of text
OBJECT = json.JSONEncoder(ensure_ascii=False).encode
ROWS = 1 << 20  # of a row group, which is kept in memory


def write_recommendations(path: str | Path, parts: Iterable[pd.DataFrame], users: int) -> None:
    """Write the tables of `lindrop.serving.recommend.recommended` as they come.

    The ending of the name says how: parquet, or text for `write_rows`.
    """
    with atomic(path) as partial:
        counted = _counted(parts, users)
        ending = Path(path).suffix.removeprefix(".")
        if ending in ROWS_AS:
            with partial.open("w", encoding="utf-8") as file:
                write_rows(file, counted, ending)
        else:
            _write_parquet(partial, counted)


def write_rows(file: TextIO, parts: Iterable[pd.DataFrame], form: str) -> None:
    """Write parts of a table as they come; json has an object on each line."""
    for number, part in enumerate(parts):
        if form == "json":
            _write_objects(file, part)
        else:
            separator = "\t" if form == "tsv" else ","
            part.to_csv(file, sep=separator, header=number == 0, index=False, lineterminator="\n")


def _write_objects(file: TextIO, part: pd.DataFrame) -> None:
    """Write an object per row, with null in the place of NaN and infinities.

    Numbers are exact, as in csv. The JSON of pandas has ten decimals, in which 3e-11 would be 0.
    """
    values = part.astype(object).where(part.notna() & ~part.isin([inf, -inf]), None)
    for row in zip(*(values[name] for name in values), strict=True):
        file.write(OBJECT(dict(zip(values, row, strict=True))) + "\n")


def _counted(parts: Iterable[pd.DataFrame], users: int) -> Iterator[pd.DataFrame]:
    """The parts, with a progress line now and then."""
    progress = Progress("recommendations", users, unit="users")
    for part in parts:
        yield part
        progress.advance(part["user"].nunique())
    logger.info("%s", progress)


def _write_parquet(path: Path, parts: Iterable[pd.DataFrame]) -> None:
    """Write the parts in row groups of about a million rows."""
    waiting: list[pa.Table] = []
    with pq.ParquetWriter(path, COLUMNS, compression="zstd") as file:
        for part in parts:
            waiting.append(pa.Table.from_pandas(part, COLUMNS, preserve_index=False))
            if sum(map(len, waiting)) >= ROWS:
                file.write_table(pa.concat_tables(waiting).combine_chunks())
                waiting = []
        if waiting:
            file.write_table(pa.concat_tables(waiting).combine_chunks())
