"""Read parquet files into interactions."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from lindrop.base.errors import UserError
from lindrop.data.archives import REMEDY
from lindrop.data.interactions import Interactions
from lindrop.data.tables import ID, Coded, Columns, coded, require_columns

BATCH_ROWS = 1 << 20  # read at once
# Largest times up to which every second has a number of its own in these types.
EXACT_TIMES = {"halffloat": 1 << 11, "float": 1 << 24}


def read_parquet(path: Path, columns: Columns, min_rating: float | None) -> Interactions:
    """Read interactions from a parquet file, whose ids may be integers or strings."""
    return code_parquet(path, columns, min_rating).interactions(min_rating)


def code_parquet(path: Path, columns: Columns, min_rating: float | None) -> Coded:
    """Read a parquet file, and leave its ids as they come."""
    if min_rating is None:
        columns = replace(columns, rating=None)
    arrays: dict[str, list[pa.Array]] = {name: [] for name in columns.wanted()}
    with reading_parquet(path):
        file = pa.parquet.ParquetFile(path)
        require_columns(columns, file.schema_arrow.names, str(path))
        for batch in parquet_batches(file, columns.wanted()):
            for name in (columns.user, columns.item):
                arrays[name].append(_as_id(batch.column(name), name, path))
            if columns.rating:
                arrays[columns.rating].append(as_rating(batch.column(columns.rating), path))
            if columns.time:
                arrays[columns.time].append(_as_time(batch.column(columns.time), path))
    types = {columns.user: ID, columns.item: ID, columns.rating: pa.float64()}
    types[columns.time] = pa.string()
    table = pa.table({name: pa.chunked_array(arrays[name], types[name]) for name in arrays})
    require_all_rows(path, table.num_rows, file.metadata.num_rows)
    return coded(table, columns, min_rating, str(path), lambda row: f"row {row + 1}")


@contextmanager
def reading_parquet(path: Path) -> Iterator[None]:
    """Turn any error of Arrow about a parquet file into a UserError that names the file."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not a readable parquet file (a name is not UTF-8)") from error
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{path}: not a readable parquet file ({error})") from error


def parquet_batches(file: pa.parquet.ParquetFile, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Rows of these columns, one row group after the other.

    When Arrow reads several groups at once, it does not always notice that a damaged schema gives
    the values a wrong type.
    """
    for group in range(file.num_row_groups):
        yield from file.iter_batches(BATCH_ROWS, row_groups=[group], columns=list(names))


def require_all_rows(path: Path, read: int, stated: int) -> None:
    """Raise UserError if fewer rows were read: Arrow may stop at a damaged part as at the end."""
    if read != stated:
        raise UserError(
            f"{path}: not a readable parquet file ({read:,} of its {stated:,} rows); {REMEDY}"
        )


def _as_id(values: pa.Array, name: str, path: Path) -> pa.Array:
    """Ids as dictionary-encoded strings; UserError if they are no integers or strings, or empty."""
    values.validate(full=True)  # the reader believes that every text is UTF-8
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if not (pa.types.is_integer(values.type) or _is_text(values.type)):
        raise UserError(
            f"{path}: column {name!r} holds {values.type}; ids must be integers or strings"
        )
    if values.null_count:
        raise UserError(f"{path}: column {name!r} has {values.null_count} empty ids; remove them")
    return values.cast(pa.string()).dictionary_encode()


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def as_rating(values: pa.Array, path: Path) -> pa.Array:
    """Ratings as float64; UserError if the column holds no numbers."""
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        raise UserError(f"{path}: the rating column holds {values.type}, not numbers")
    if pa.types.is_float16(values.type) or pa.types.is_float32(values.type):
        # 2.2 in float32 is 2.2000000477: what is meant is the shortest number that rounds to it
        unique, place = np.unique(values.to_numpy(zero_copy_only=False), return_inverse=True)
        return pa.array(np.array([float(str(rating)) for rating in unique], float)[place])
    return values.cast(pa.float64(), safe=False)  # whole numbers beyond 2⁵³ are rounded


def _as_time(values: pa.Array, path: Path) -> pa.Array:
    """Times as text, the form in which a text file gives them; UserError if they have none.

    Nor may whoever wrote the file have rounded them: seconds of today in float32 are those of two
    minutes, which would change the order of interactions.
    """
    largest = EXACT_TIMES.get(str(values.type))
    if largest and pc.any(pc.greater(pc.abs(values.cast(pa.float32())), largest)).as_py():
        raise UserError(
            f"{path}: the column of times holds {values.type}, which rounds numbers above "
            f"{largest:,}; write the times anew as whole numbers, double or dates"
        )
    try:
        return values.cast(pa.string()).fill_null("")
    except pa.ArrowException as error:
        raise UserError(f"{path}: the column of times holds {values.type}, not times") from error
