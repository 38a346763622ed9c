"""Read delimited text and parquet files into interactions with Arrow's parsers.

Ids are read as text and dictionary-encoded while parsing, so that `007` stays `007` and no Python
object is made per row. Only a bad file is read again, slowly, to name the line.
"""

import csv
import difflib
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from lindrop.base.errors import UserError
from lindrop.data.archives import REMEDY, Member, only_member, opened
from lindrop.data.interactions import Interactions, RawCounts, from_codes, unified
from lindrop.data.quotes import Quotes, Watched, long_fields, require_closed

BLOCK_BYTES = 16 << 20
HEADER_BYTES = 1 << 16
ID = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True)
class Columns:
    """Names of the columns; `rating` is read only if there is a rating threshold or no header."""

    user: str
    item: str
    rating: str | None = None

    def wanted(self) -> list[str]:
        """Names of the columns to read."""
        return [self.user, self.item, *([self.rating] if self.rating else [])]


@dataclass(frozen=True)
class Layout:
    """Format of a delimited text; `names` is None if its first line names the columns.

    The columns `blank` must be empty in every row. Without a header line, the ratings are always
    read, because nothing else tells a row from a header line or from a line of another format.
    """

    delimiter: str
    names: Sequence[str] | None
    quoted: bool
    blank: Sequence[str] = ()


CSV = Layout(",", None, quoted=True)
TSV = Layout("\t", None, quoted=True)


def read_text(
    path: Path, layout: Layout, columns: Columns, min_rating: float | None
) -> Interactions:
    """Read interactions from a csv or tsv file, plain, gzipped or as the only text in a zip."""
    member = only_member(path, r".*\.(csv|tsv|txt|dat)", "*.csv, *.tsv, *.txt or *.dat")
    return read_member(member, layout, columns, min_rating)


def read_member(
    member: Member, layout: Layout, columns: Columns, min_rating: float | None
) -> Interactions:
    """Read interactions from one text file of known layout."""
    if min_rating is None and not layout.names:
        columns = Columns(columns.user, columns.item)
    _require(columns, _header(member, layout), member.name)
    header_lines = 0 if layout.names else 1

    def place(row: int) -> str:
        return f"line {_line_of_row(member, layout, row + header_lines)}"

    table = _parse(member, layout, columns, min_rating)
    if not layout.names:
        _refuse_second_header(table, columns, member.name, place)
    return from_table(table, columns, min_rating, member.name, place)


def _refuse_second_header(
    table: pa.Table, columns: Columns, where: str, place: Callable[[int], str]
) -> None:
    """Raise UserError if a row repeats the header line, as where two files were joined.

    The row would become a user, and ids that are numbers would then sort as texts.
    """
    repeated = np.ones(table.num_rows, bool)
    for name in (columns.user, columns.item):
        column = table[name].unify_dictionaries()
        ids = column.chunk(0).dictionary if column.num_chunks else pa.array([], pa.string())
        # of a file that starts with a byte order mark, even the quotes are part of the id
        again = (name, f"\ufeff{name}", f'\ufeff"{name}"')
        codes = [ids.index(text).as_py() for text in again]
        if max(codes) < 0:
            return
        chunks = [np.isin(chunk.indices.to_numpy(), codes) for chunk in column.chunks]
        repeated &= np.concatenate(chunks)
    if repeated.any():
        raise UserError(
            f"{where}, {place(int(np.argmax(repeated)))}: the header line again, as if two files "
            "were joined; remove the line"
        )


def read_parquet(path: Path, columns: Columns, min_rating: float | None) -> Interactions:
    """Read interactions from a parquet file, whose ids may be integers or strings."""
    if min_rating is None:
        columns = Columns(columns.user, columns.item)
    arrays: dict[str, list[pa.Array]] = {name: [] for name in columns.wanted()}
    try:
        file = pa.parquet.ParquetFile(path)
        _require(columns, file.schema_arrow.names, str(path))
        for batch in file.iter_batches(columns=columns.wanted(), batch_size=1 << 20):
            for name in (columns.user, columns.item):
                arrays[name].append(_as_id(batch.column(name), name, path))
            if columns.rating:
                arrays[columns.rating].append(_as_rating(batch.column(columns.rating), path))
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not a readable parquet file (a name is not UTF-8)") from error
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{path}: not a readable parquet file ({error})") from error
    types = {columns.user: ID, columns.item: ID, columns.rating: pa.float64()}
    table = pa.table({name: pa.chunked_array(arrays[name], types[name]) for name in arrays})
    stated = file.metadata.num_rows
    if table.num_rows != stated:  # Arrow may stop at a damaged part as at the end
        raise UserError(
            f"{path}: not a readable parquet file ({table.num_rows:,} of its {stated:,} rows); "
            f"{REMEDY}"
        )
    return from_table(table, columns, min_rating, str(path), lambda row: f"row {row + 1}")


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


def _as_rating(values: pa.Array, path: Path) -> pa.Array:
    """Ratings as float64; UserError if the column holds no numbers."""
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        raise UserError(f"{path}: the rating column holds {values.type}, not numbers")
    if pa.types.is_float16(values.type) or pa.types.is_float32(values.type):
        # 2.2 in float32 is 2.2000000477: what is meant is the shortest number that rounds to it
        unique, place = np.unique(values.to_numpy(zero_copy_only=False), return_inverse=True)
        return pa.array(np.array([float(str(rating)) for rating in unique], float)[place])
    return values.cast(pa.float64(), safe=False)  # whole numbers beyond 2⁵³ are rounded


def from_table(
    table: pa.Table,
    columns: Columns,
    min_rating: float | None,
    where: str,
    place: Callable[[int], str],
) -> Interactions:
    """Interactions from parsed columns; rows whose rating is not above `min_rating` are dropped.

    `place(r)` describes the position of row r (from 0) in its file; only error messages use it.
    """
    if table.num_rows == 0:
        raise UserError(f"{where}: the file holds no rows")
    user, user_ids = unified(table[columns.user], "user", where)
    item, item_ids = unified(table[columns.item], "item", where)
    for what, codes, ids in (("user", user, user_ids), ("item", item, item_ids)):
        empty = pc.index(ids, "").as_py()
        if empty >= 0:
            row = int(np.argmax(codes == empty))
            raise UserError(f"{where}, {place(row)}: the {what} id is empty; remove the row")
    raw = RawCounts(table.num_rows, len(user_ids), len(item_ids))
    if columns.rating:
        rating = table[columns.rating].to_numpy()
        if not np.isfinite(rating).all():
            row = int(np.argmin(np.isfinite(rating)))
            raise UserError(
                f"{where}, {place(row)}: the rating is missing or not a finite number; "
                "correct or remove the row"
            )
        if min_rating is not None:
            keep = rating > min_rating
            user, item = user[keep], item[keep]
    return from_codes(user, user_ids, item, item_ids, min_rating, raw)


def _parse(member: Member, layout: Layout, columns: Columns, min_rating: float | None) -> pa.Table:
    """Parse the wanted columns of a text; UserError with the line number if that fails."""
    # ratings that are compared with no threshold are only looked at: half the memory is enough
    number = pa.float32() if min_rating is None else pa.float64()
    types = {columns.user: ID, columns.item: ID, columns.rating: number}
    types |= dict.fromkeys(layout.blank, pa.null())
    parse = pa.csv.ParseOptions(
        delimiter=layout.delimiter,
        quote_char='"' if layout.quoted else False,
        newlines_in_values=layout.quoted,
    )
    convert = pa.csv.ConvertOptions(
        column_types={name: kind for name, kind in types.items() if name is not None},
        include_columns=[*columns.wanted(), *layout.blank],
        null_values=[""] if layout.blank else [],
        strings_can_be_null=False,
    )

    def read(threads: bool) -> pa.Table:
        options = pa.csv.ReadOptions(
            column_names=layout.names, block_size=BLOCK_BYTES, use_threads=threads
        )
        with opened(member) as stream:
            source = Watched(stream, quotes) if layout.quoted else stream
            return pa.csv.read_csv(source, options, parse, convert)

    quotes = Quotes(layout.delimiter)
    try:
        table = read(threads=True)
    except pa.ArrowInvalid:
        table = None
    if layout.quoted and (table is None or not quotes.in_order()):
        require_closed(member, layout.delimiter, BLOCK_BYTES)
    if table is not None:
        return table
    # Only the sequential reader reports where it stopped, so a bad file is read once more.
    try:
        return read(threads=False)
    except pa.ArrowInvalid as error:
        raise UserError(_bad_line(member, layout, str(error), columns)) from error


def _require(columns: Columns, present: Sequence[str], where: str) -> None:
    """Raise UserError unless each wanted column is present exactly once."""
    shown = ", ".join(repr(name[:40]) for name in present[:20]) + (", …" if present[20:] else "")
    for count, problem in ((0, "no column named"), (2, "more than one column named")):
        names = [repr(name) for name in columns.wanted() if min(present.count(name), 2) == count]
        if names:
            hint = _hint(columns, present)
            raise UserError(f"{where}: {problem} {', '.join(names)}; the file has {shown}{hint}")


def _hint(columns: Columns, present: Sequence[str]) -> str:
    """End of an error message: suggest another separator, or a column with a similar name."""
    for separator, name in ((";", "semicolons"), ("\t", "tabs"), (",", "commas"), ("|", "bars")):
        if len(present) == 1 and separator in present[0]:
            return f": separated by {name}? csv needs commas, tsv needs tabs"
    close = [difflib.get_close_matches(name, present, n=1) for name in columns.wanted()]
    meant = [match[0] for match in close if match and match[0] not in columns.wanted()]
    name_it = "set `user`, `item` and `rating` of the source to the right names"
    return f"; did you mean {', '.join(map(repr, meant))}? {name_it}" if meant else f"; {name_it}"


def _header(member: Member, layout: Layout) -> list[str]:
    """Column names of a text: those of its layout, or the fields of its first line."""
    if layout.names:
        return list(layout.names)
    text, size = b"", HEADER_BYTES
    with opened(member) as stream, long_fields(BLOCK_BYTES):
        while True:
            block = stream.read(size)
            text += block
            lines = io.StringIO(text.decode("utf-8-sig", "replace"), newline="")
            rows = csv.reader(lines, delimiter=layout.delimiter, **_quoting(layout))
            try:
                names = next(filter(None, rows), [])
            except csv.Error:
                names = []
            # a row that ends within the text is whole; else its end is further on
            whole = bool(names and lines.read(1))
            if whole or not block or len(text) > BLOCK_BYTES:
                break
            size = len(text)
    if layout.quoted and not whole:
        require_closed(member, layout.delimiter, BLOCK_BYTES)
    if not names:
        raise UserError(f"{member.name}: the file is empty")
    return names


def _quoting(layout: Layout) -> Any:
    """Options of Python's csv reader for a layout."""
    return {} if layout.quoted else {"quoting": csv.QUOTE_NONE}


def _bad_line(member: Member, layout: Layout, message: str, columns: Columns) -> str:
    """Error message for a line that Arrow cannot parse, with the line number where known."""
    row = re.search(r"Row #(\d+)", message)
    where = member.name
    if row:
        where += f", line {_line_of_row(member, layout, int(row[1]) - 1)}"
    column = re.search(r"CSV column #(\d+)", message)
    if "invalid UTF8" in message:
        return f"{where}: not UTF-8 text; convert the file to UTF-8"
    if "conversion error to null" in message:
        return f"{where}: a column between two separators is not empty; correct or remove the line"
    if value := re.search(r"invalid value '(.*)'", message, re.DOTALL):
        if layout.names:
            return (
                f"{where}: the rating {value[1]!r} is not a number; correct the line, or "
                "remove it if it is a header line, which files of this format do not have"
            )
        return (
            f"{where}: the rating {value[1]!r} is not a number; correct the line, or set "
            f"`rating` to the column of ratings (now {columns.rating!r})"
        )
    if "straddling object" in message:
        return (
            f"{where}: a line longer than {BLOCK_BYTES >> 20} MB, or a quote that is never closed; "
            "correct the quotes"
        )
    if counts := re.search(r"Expected (\d+) columns, got (\d+)", message):
        return f"{where}: {counts[2]} columns instead of {counts[1]}; correct or remove the line"
    detail = f" in column {column[1]}" if column else ""
    return f"{where}: cannot be parsed{detail} ({message.splitlines()[0]})"


def _line_of_row(member: Member, layout: Layout, row: int) -> int:
    """Line number (from 1) on which row `row` (from 0) ends; empty lines do not count as rows."""
    with opened(member) as stream:
        text = io.TextIOWrapper(io.BufferedReader(stream), "utf-8", "replace", newline="")
        reader = csv.reader(text, delimiter=layout.delimiter, **_quoting(layout))
        try:
            for number, _ in enumerate(fields for fields in reader if fields):
                if number == row:
                    break
        except csv.Error:
            pass  # a field of over 100 kB: probably a quote that starts about here is never closed
        return reader.line_num
