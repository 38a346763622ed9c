"""Read delimited text and parquet files into interactions with Arrow's parsers.

Ids are read as text and dictionary-encoded while parsing, so that `007` stays `007` and no Python
object is made per row. Only a bad file is read again, slowly, to name the line.
"""

import csv
import difflib
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from lindrop.base.errors import UserError
from lindrop.data.archives import REMEDY, Member, only_member, opened
from lindrop.data.interactions import Codes, Interactions, RawCounts, from_codes, unified
from lindrop.data.quotes import Quotes, Watched, long_fields, require_closed

BLOCK_BYTES = 16 << 20
HEADER_BYTES = 1 << 16
BATCH_ROWS = 1 << 20  # of a parquet file, read at once
ID = pa.dictionary(pa.int32(), pa.string())

Times = npt.NDArray[np.float64]
# Largest times up to which every second has a number of its own in these types.
EXACT_TIMES = {"halffloat": 1 << 11, "float": 1 << 24}
# Units and zones of dates; those with digits behind the millionth of a second come last.
DATES = ("us",), ("us", "UTC"), ("ns",), ("ns", "UTC")


@dataclass(frozen=True)
class Columns:
    """Names of the columns; `rating` is read only if there is a rating threshold or no header."""

    user: str
    item: str
    rating: str | None = None
    time: str | None = None

    def wanted(self) -> list[str]:
        """Names of the columns to read."""
        named = (self.user, self.item, self.rating, self.time)
        return [name for name in named if name is not None]


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


@dataclass(frozen=True)
class Coded:
    """Rows of a file as codes of ids in any order; `rows` counts the dropped ones, too.

    `dated` says whether the times were dates and not numbers.
    """

    user: Codes
    user_ids: pa.StringArray
    item: Codes
    item_ids: pa.StringArray
    time: Times | None
    rows: int
    dated: bool = False

    def interactions(self, min_rating: float | None) -> Interactions:
        """The rows with their ids in order."""
        raw = RawCounts(self.rows, len(self.user_ids), len(self.item_ids))
        ids = self.user, self.user_ids, self.item, self.item_ids
        return from_codes(*ids, min_rating, raw, self.time)


CSV = Layout(",", None, quoted=True)
TSV = Layout("\t", None, quoted=True)


def read_text(
    path: Path, layout: Layout, columns: Columns, min_rating: float | None
) -> Interactions:
    """Read interactions from a csv or tsv file, plain, gzipped or as the only text in a zip."""
    return read_member(text_member(path), layout, columns, min_rating)


def text_member(path: Path) -> Member:
    """The one text of a path: the file itself, or the only text in a zip."""
    return only_member(path, r".*\.(csv|tsv|txt|dat)", "*.csv, *.tsv, *.txt or *.dat")


def read_member(
    member: Member, layout: Layout, columns: Columns, min_rating: float | None
) -> Interactions:
    """Read interactions from one text file of known layout."""
    return code_member(member, layout, columns, min_rating).interactions(min_rating)


def code_member(
    member: Member, layout: Layout, columns: Columns, min_rating: float | None
) -> Coded:
    """Read one text file of known layout, and leave its ids as they come."""
    if min_rating is None and not layout.names:
        columns = replace(columns, rating=None)
    require_columns(columns, header(member, layout), member.name)
    header_lines = 0 if layout.names else 1

    def place(row: int) -> str:
        return f"line {_line_of_row(member, layout, row + header_lines)}"

    table = _parse(member, layout, columns, min_rating)
    if not layout.names:
        _refuse_second_header(table, columns, member.name, place)
    return _coded(table, columns, min_rating, member.name, place)


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
    return _coded(table, columns, min_rating, str(path), lambda row: f"row {row + 1}")


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


def seconds(times: pa.ChunkedArray, place: Callable[[int], str], where: str) -> Times:
    """Times as seconds: numbers as they are, dates as seconds from 1970 in UTC.

    Every time must be a finite number, or every one a date such as 2000-12-31 or 2000-12-31
    23:59:59. UserError, too, if two times are equal only because they are rounded to seconds in
    floating point, since their order would be lost.
    """
    for kind in (pa.float64(), *(pa.timestamp(*unit) for unit in DATES)):
        try:
            found = times.cast(kind)
        except pa.ArrowInvalid:
            continue
        values: Times = found.to_numpy() if kind == pa.float64() else _seconds_of_dates(found)
        if np.isfinite(values).all():
            if _rounded(times, found, values):
                raise UserError(
                    f"{where}: times that differ by less than a millionth of a second, or of more "
                    "than 15 digits, are the same to lindrop; round them, for example to seconds"
                )
            return values
    numbers = pc.match_substring_regex(times, r"^\s*[-+]?[0-9.]+([eE][-+]?[0-9]+)?\s*$")
    dates = pc.match_substring_regex(times, r"^[0-9]{4}-[0-9]{2}-[0-9]{2}")
    usual = numbers if pc.sum(numbers).as_py() >= pc.sum(dates).as_py() else dates
    row = max(pc.index(usual, False).as_py(), 0)
    raise UserError(
        f"{where}, {place(row)}: the time {times[row].as_py()[:40]!r} is neither a number nor a "
        "date such as 2000-12-31 23:59:59, like the others; correct or remove the row, or set "
        "`time` to the column of times"
    )


def _seconds_of_dates(dates: pa.ChunkedArray) -> Times:
    """Seconds from 1970 to each date of type timestamp."""
    units: Times = dates.cast(pa.int64()).cast(pa.float64(), safe=False).to_numpy()
    return units / (1e6 if dates.type.unit == "us" else 1e9)


def _rounded(times: pa.ChunkedArray, found: pa.ChunkedArray, values: Times) -> bool:
    """Whether different times have the same value; `found` holds the times as numbers or dates."""
    if pa.types.is_timestamp(found.type):
        if found.type.unit == "us":
            return False
        exact = found
    elif len(values) and np.abs(values).max() >= 2**53:
        exact = times
    else:
        return False
    return bool(pc.count_distinct(exact).as_py() > len(np.unique(values)))


def _coded(
    table: pa.Table,
    columns: Columns,
    min_rating: float | None,
    where: str,
    place: Callable[[int], str],
) -> Coded:
    """Codes of parsed columns; rows whose rating is not above `min_rating` are dropped.

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
    time = seconds(table[columns.time], place, where) if columns.time else None
    if columns.rating:
        rating = table[columns.rating].to_numpy()
        require_finite(rating, lambda row: f"{where}, {place(row)}")
        if min_rating is not None:
            keep = rating > min_rating
            user, item = user[keep], item[keep]
            time = None if time is None else time[keep]
    # all times of a file are alike, so the first one tells
    dated = columns.time is not None and not _is_number(table[columns.time][0])
    return Coded(user, user_ids, item, item_ids, time, table.num_rows, dated)


def _is_number(time: pa.Scalar) -> bool:
    try:
        time.cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def require_finite(rating: npt.NDArray[np.floating], place: Callable[[int], str]) -> None:
    """Raise UserError if a rating is missing or infinite; `place(r)` tells where row r stands."""
    finite = np.isfinite(rating)
    if not finite.all():
        raise UserError(
            f"{place(int(np.argmin(finite)))}: the rating is missing or not a finite number; "
            "correct or remove the row"
        )


def _parse(member: Member, layout: Layout, columns: Columns, min_rating: float | None) -> pa.Table:
    """Parse the wanted columns of a text; UserError with the line number if that fails."""
    # ratings that are compared with no threshold are only looked at: half the memory is enough
    number = pa.float32() if min_rating is None else pa.float64()
    types = {columns.user: ID, columns.item: ID, columns.rating: number}
    types[columns.time] = pa.string()
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


def require_columns(columns: Columns, present: Sequence[str], where: str) -> None:
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
    name_it = "set `user`, `item`, `rating` and `time` of the source to the right names"
    return f"; did you mean {', '.join(map(repr, meant))}? {name_it}" if meant else f"; {name_it}"


def header(member: Member, layout: Layout) -> list[str]:
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
