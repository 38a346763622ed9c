"""Read a folder of csv, tsv or parquet files as one set of interactions, file by file.

Rows are in the order of the files, which are sorted by name, and of the rows in each. Files and
folders whose names start with `.` or `_` are no data: other programs leave them there.

Integer ids of parquet files never become texts while they are read: of 400 million interactions of
ten million users, memory holds the codes of users and items and one batch of rows. Files of other
ids are coded one by one: memory holds the codes, the distinct ids of each file, and one file.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet

from lindrop.base.errors import UserError
from lindrop.base.parallel import over_blocks
from lindrop.base.reporting import Progress, logger
from lindrop.data.archives import REMEDY, is_wanted, members, names_below
from lindrop.data.delimited import CSV, TSV, code_member
from lindrop.data.interactions import Codes, Interactions, RawCounts, compact
from lindrop.data.parquet import (
    as_rating,
    code_parquet,
    parquet_batches,
    reading_parquet,
    require_all_rows,
)
from lindrop.data.tables import Coded, Columns, require_columns, require_finite

Numbers = npt.NDArray[np.int64]

TEXT_FILES = r".*\.(csv|tsv|txt|dat)"
DESCRIBED = "*.csv, *.tsv, *.txt or *.dat"
NAMED = {  # what is read of a folder
    "text": (rf"{TEXT_FILES}(\.gz)?", DESCRIBED),
    "parquet": (r".*\.parquet", "*.parquet"),
}
BESIDE_DATA = r"(md5|sha\d+|crc|asc|sig)"  # endings of checksums and signatures
LIKE_DATA = (
    rf".*\.(csv|tsv|dat|parquet|pq|parq)([.~](?!{BESIDE_DATA}$).*|~)?"
    r"|.*\.(zip|gz|bz2|xz|zst|7z|tar|tgz)"
)
INTEGERS = "integers"  # the kind of a column
MOST_NUMBER = 1 << 24  # a table of ids may have as many entries, however few rows there are
RANKED = 1 << 20  # codes ranked by a thread at once
HELD = 1 << 22  # distinct ids that are collected before they are merged with earlier ones


def read_folder(
    folder: Path, format: str, columns: Columns, min_rating: float | None
) -> Interactions:
    """Read all files of a folder, which have the same columns, as one set of interactions."""
    if min_rating is None and format == "parquet":
        columns = replace(columns, rating=None)
    files = files_of(folder, format)
    logger.info("reading %d files of %s", len(files), folder)
    if format == "parquet":
        if (found := _read_numbers(files, columns, min_rating)) is not None:
            return found
        files = [file for file in files if pa.parquet.read_metadata(file).num_rows]
        if not files:
            raise UserError(f"{folder}: the files hold no rows")
        parts = _each(
            f"reading {folder}", files, lambda file: code_parquet(file, columns, min_rating)
        )
    else:
        layout = CSV if format == "csv" else TSV
        texts = {Path(member.name): member for member in members(folder, TEXT_FILES, DESCRIBED)}
        parts = _each(
            f"reading {folder}",
            files,
            lambda file: code_member(texts[file], layout, columns, min_rating),
        )
    return _together(list(parts)).interactions(min_rating)


def files_of(folder: Path, format: str) -> list[Path]:
    """The files of a folder that hold its data, sorted by name; UserError if there is none.

    UserError, too, if there are others that look like data: they would be left out in silence.
    """
    wanted, named = NAMED["parquet" if format == "parquet" else "text"]
    below = [file for file in names_below(folder) if _is_visible(file, folder)]
    files = [file for file in below if is_wanted(file.name, wanted)]
    if lost := [file for file in files if not file.is_file()]:
        raise UserError(f"{lost[0]}: a pipe, or a link to a file that is not there: remove it")
    if not files:
        raise UserError(f"{folder}: holds no file named {named}; is this the right folder?")
    for file in below:
        known = any(is_wanted(file.name, names) for names, _ in NAMED.values())
        if not known and is_wanted(file.name, LIKE_DATA):
            raise UserError(
                f"{file}: looks like data, but only {named} are read: unpack, rename or remove it"
            )
    _refuse_copies(files)
    return files


def _is_visible(file: Path, folder: Path) -> bool:
    """Whether neither a file of a folder nor a folder on its way has a name for other programs."""
    return not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def _refuse_copies(files: Sequence[Path]) -> None:
    """Raise UserError if a file is there twice, by a link or gzipped: rows would count twice."""
    names = set(files)
    seen: dict[tuple[int, int], Path] = {}
    for file in files:
        if file.suffix == ".gz" and file.with_suffix("") in names:
            raise UserError(f"{file}: beside it lies {file.stem}, the same unpacked; remove either")
        state = file.stat()
        if other := seen.get((state.st_dev, state.st_ino)):
            raise UserError(f"{file}: the same file as {other}, by a link; remove either")
        seen[state.st_dev, state.st_ino] = file


def _each(what: str, files: Sequence[Path], read: Callable[[Path], Coded]) -> Iterator[Coded]:
    """What is read from each file, with progress lines in the log."""
    progress = Progress(what, sum(file.stat().st_size for file in files))
    dated: dict[bool, Path] = {}
    for file in files:
        part = read(file)
        dated.setdefault(part.dated, file)
        if len(dated) == 2:
            raise UserError(
                f"{dated[True]}: the times are dates, but numbers in {dated[False]}; write all "
                "files of a folder with times of the same form"
            )
        yield part
        progress.advance(file.stat().st_size)


def _together(parts: list[Coded]) -> Coded:
    """Rows of several files one after the other, as codes of one list of ids; empties `parts`."""
    rows, timed = sum(part.rows for part in parts), parts[0].time is not None
    kept = sum(len(part.user) for part in parts)
    user, item = np.empty(kept, np.int32), np.empty(kept, np.int32)
    time = np.empty(kept) if timed else None
    users = pa.concat_arrays([part.user_ids for part in parts]).dictionary_encode()
    items = pa.concat_arrays([part.item_ids for part in parts]).dictionary_encode()
    codes_of_users, codes_of_items = users.indices.to_numpy(), items.indices.to_numpy()
    first = first_user = first_item = 0
    while parts:
        part = parts.pop(0)
        mine = slice(first, first + len(part.user))
        user[mine] = codes_of_users[first_user:][part.user]
        item[mine] = codes_of_items[first_item:][part.item]
        if time is not None and part.time is not None:
            time[mine] = part.time
        first = mine.stop
        first_user += len(part.user_ids)
        first_item += len(part.item_ids)
    return Coded(user, users.dictionary, item, items.dictionary, time, rows)


def _read_numbers(
    files: Sequence[Path], columns: Columns, min_rating: float | None
) -> Interactions | None:
    """Interactions of parquet files whose ids are integers from 0 on; None if they are not.

    None, too, if times are wanted, which are compared as texts.
    """
    kinds, rows = _kinds(files, columns)
    if columns.time or {kinds[columns.user], kinds[columns.item]} != {INTEGERS}:
        return None
    if not rows:
        raise UserError(f"{files[0].parent}: the files hold no rows")
    users, items = (_ids_of(files, name, rows) for name in (columns.user, columns.item))
    if users is None or items is None:
        return None
    user, item, kept = np.empty(rows, np.int32), np.empty(rows, np.int32), 0
    progress = Progress("reading interactions", rows, unit="rows")
    for file, first, batch in _batches(files, columns.wanted()):
        keep: Any = slice(None)
        if columns.rating:
            rating = as_rating(batch[columns.rating], file).to_numpy(zero_copy_only=False)
            require_finite(rating, partial(_place, file, first))
            keep = keep if min_rating is None else rating > min_rating
        try:
            found_users = users.codes(_numbers(batch, columns.user, file))[keep]
            found_items = items.codes(_numbers(batch, columns.item, file))[keep]
        except OutsideTable:
            raise UserError(
                f"{file}: not a readable parquet file (an id is outside the statistics of its "
                f"column); {REMEDY}"
            ) from None
        mine = slice(kept, kept + len(found_users))
        user[mine], item[mine] = found_users, found_items
        kept = mine.stop
        progress.advance(batch.num_rows)
    user, item = user[:kept], item[:kept]
    raw_users, raw_items = users.finish(user), items.finish(item)
    raw = RawCounts(rows, len(raw_users), len(raw_items))
    return Interactions(user, item, compact(raw_users), compact(raw_items), min_rating, raw)


def rows_of_numbers(folder: Path, columns: Columns) -> int | None:
    """Number of rows of a folder of parquet files with integer ids, read without the rows.

    None if the folder is none of these, or damaged.
    """
    try:
        files = files_of(folder, "parquet")
        kinds, rows = _kinds(files, columns)
    except UserError:
        return None
    return rows if files and {kinds[columns.user], kinds[columns.item]} == {INTEGERS} else None


def _place(file: Path, first: int, row: int) -> str:
    """Where a row of a batch stands, which begins after `first` rows of its file."""
    return f"{file}, row {first + row + 1}"


def _kinds(files: Sequence[Path], columns: Columns) -> tuple[dict[str, str], int]:
    """Kind of each wanted column, and the number of rows; UserError if the files differ."""
    kinds: dict[str, str] = {}
    rows = 0
    for file in files:
        with reading_parquet(file):
            found = pa.parquet.ParquetFile(file)
            schema, rows = found.schema_arrow, rows + found.metadata.num_rows
            require_columns(columns, schema.names, str(file))
            of_file = {name: _kind(schema.field(name).type) for name in columns.wanted()}
        for name, kind in of_file.items():
            if kinds.setdefault(name, kind) != kind and name != columns.rating:
                raise UserError(
                    f"{file}: column {name!r} holds {kind}, but {kinds[name]} in {files[0]}; "
                    "write all files of a folder with the same types"
                )
    return kinds, rows


def _kind(type_: pa.DataType) -> str:
    """Kind of a column, which all files of a folder share."""
    if pa.types.is_dictionary(type_):
        return _kind(type_.value_type)
    if pa.types.is_integer(type_):
        return INTEGERS
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return "texts"
    return str(type_)


def _batches(
    files: Sequence[Path], names: Sequence[str]
) -> Iterator[tuple[Path, int, pa.RecordBatch]]:
    """Batches of rows of some columns, each with its file and the number of its first row."""
    for file in files:
        with reading_parquet(file):
            parquet, rows = pa.parquet.ParquetFile(file), 0
            for batch in parquet_batches(parquet, names):
                yield file, rows, batch
                rows += batch.num_rows
        require_all_rows(file, rows, parquet.metadata.num_rows)


def _numbers(batch: pa.RecordBatch, name: str, file: Path) -> Numbers:
    """Integer ids of a batch; UserError if some are missing."""
    values = batch[name]
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if values.null_count:
        raise UserError(f"{file}: column {name!r} has {values.null_count} empty ids; remove them")
    numbers: Numbers = values.to_numpy(zero_copy_only=False)
    return numbers


class OutsideTable(Exception):
    """An id is not within the bounds that the statistics of the files state."""


class InTable:
    """Codes of ids below a moderate number: all of them have an entry in a table."""

    def __init__(self, stop: int) -> None:
        self._seen = np.zeros(stop, bool)

    def codes(self, numbers: Numbers) -> Numbers:
        """The ids themselves, which `finish` replaces."""
        if len(numbers) and (numbers.min() < 0 or numbers.max() >= len(self._seen)):
            raise OutsideTable
        self._seen[numbers] = True
        return numbers

    def finish(self, ids: Codes) -> Numbers:
        """The distinct ids in order; all `ids` are replaced by their places among these."""
        rank = np.cumsum(self._seen, dtype=np.int32) - np.int32(1)

        def block(start: int, stop: int) -> None:
            ids[start:stop] = rank[ids[start:stop]]

        over_blocks(block, len(ids), RANKED)
        return np.flatnonzero(self._seen)


class InOrder:
    """Codes of any integer ids, all of which are known from an earlier reading."""

    def __init__(self, ids: Numbers) -> None:
        self._ids = ids

    def codes(self, numbers: Numbers) -> Numbers:
        """Places of the ids; sorted ids are looked up faster, as neighbours share the cache."""
        ids, place = np.unique(numbers.astype(np.int64, copy=False), return_inverse=True)
        return np.searchsorted(self._ids, ids)[place]

    def finish(self, ids: Codes) -> Numbers:
        """The distinct ids in order; `ids` are their places already."""
        return self._ids


def _ids_of(files: Sequence[Path], name: str, rows: int) -> InTable | InOrder | None:
    """How the integers of a column become codes; None if one is negative or beyond int64."""
    bounds = _bounds(files, name)
    if bounds is not None and bounds[0] < 0:
        return None
    if bounds is not None and bounds[1] < max(MOST_NUMBER, rows // 4):
        return InTable(bounds[1] + 1)
    distinct, held = np.empty(0, np.int64), []
    progress = Progress(f"reading the ids of {name}", rows, unit="rows")
    for file, _, batch in _batches(files, [name]):
        numbers = _numbers(batch, name, file)
        if numbers.dtype == np.uint64 and len(numbers) and numbers.max() > np.iinfo(np.int64).max:
            return None
        held.append(np.unique(numbers).astype(np.int64, copy=False))
        if sum(map(len, held)) > max(HELD, len(distinct)):
            distinct, held = np.unique(np.concatenate([distinct, *held])), []
        progress.advance(batch.num_rows)
    distinct = np.unique(np.concatenate([distinct, *held]))
    return None if len(distinct) and distinct[0] < 0 else InOrder(distinct)


def _bounds(files: Sequence[Path], name: str) -> tuple[int, int] | None:
    """Smallest and largest number of a column by the statistics of the files; None without them."""
    low, high = 0, 0
    for file in files:
        with reading_parquet(file):
            facts = pa.parquet.ParquetFile(file).metadata
            for group in range(facts.num_row_groups):
                columns = (facts.row_group(group).column(k) for k in range(facts.num_columns))
                stated = next(each for each in columns if each.path_in_schema == name).statistics
                if stated is None or not stated.has_min_max:
                    return None
                low, high = min(low, int(stated.min)), max(high, int(stated.max))
    return low, high
