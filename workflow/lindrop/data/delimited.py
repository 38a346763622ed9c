"""Read delimited text into interactions with Arrow's parser.

Ids are read as text and dictionary-encoded while parsing, so that `007` stays `007` and no Python
object is made per row. Only a bad file is read again, slowly, to name the line.
"""

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from lindrop.base.errors import UserError
from lindrop.data.archives import Member, only_member, opened
from lindrop.data.interactions import Interactions
from lindrop.data.quotes import Quotes, Watched, long_fields, require_closed
from lindrop.data.tables import ID, Coded, Columns, coded, require_columns

BLOCK_BYTES = 16 << 20
HEADER_BYTES = 1 << 16


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
    return coded(table, columns, min_rating, member.name, place)


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
