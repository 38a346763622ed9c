"""Write recommendations as Parquet: columns user, item (texts), rank, score, by.

`by` is `model`, or `popularity` for a user without any item that the model knows.
"""

from collections.abc import Iterable
from pathlib import Path

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
ROWS = 1 << 20  # of a row group, which is kept in memory


def write_recommendations(path: str | Path, parts: Iterable[pd.DataFrame], users: int) -> None:
    """Write the tables of `lindrop.serving.recommend.recommended` as they come."""
    progress = Progress("recommendations", users, unit="users")
    waiting: list[pa.Table] = []
    with atomic(path) as partial, pq.ParquetWriter(partial, COLUMNS, compression="zstd") as file:
        for part in parts:
            waiting.append(pa.Table.from_pandas(part, COLUMNS, preserve_index=False))
            if sum(map(len, waiting)) >= ROWS:
                file.write_table(pa.concat_tables(waiting).combine_chunks())
                waiting = []
            progress.advance(part["user"].nunique())
        if waiting:
            file.write_table(pa.concat_tables(waiting).combine_chunks())
    logger.info("%s", progress)
