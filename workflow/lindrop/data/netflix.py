"""Read the Netflix Prize data: the tar of 17,770 film files, or Kaggle's four combined files.

Both hold the same text: a line `film:` and then the film's ratings `user,rating,date`. Rows are
ordered by film, ascending, then by line inside the film. No official loader exists, so this order
is our choice; it decides the numbers of the items, never which users are held out.
"""

import codecs
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from lindrop.base.errors import UserError
from lindrop.base.reporting import Progress
from lindrop.data.archives import members, opened, readable
from lindrop.data.interactions import Codes, Interactions, RawCounts, from_codes, unified
from lindrop.data.tables import ID
from lindrop.data.tars import is_tar_file, opener, tar_members

FILM_FILES = r"mv_\d+\.txt"
COMBINED_FILES = r"combined_data_\d+\.txt"
FILES = rf"{FILM_FILES}|{COMBINED_FILES}"
DESCRIBED = "mv_0000001.txt, … or combined_data_1.txt, …"
FILM_LINE = re.compile(rb"^(\d{1,9}):\r?\n", re.MULTILINE)
FILM_FILE = re.compile(r"mv_(\d+)\.txt$", re.IGNORECASE)
RATING_LINE = re.compile(rb"\r*\d+,\d+(\.\d+)?,[^,\r\n]*\r*")
RETURNS = re.compile(rb"\r+[^\r\n]")
BUFFER_BYTES = 32 << 20
TOTAL_BYTES = 2_043_000_000  # size of all original film files, for progress lines only

PARSE = pa.csv.ParseOptions(delimiter=",", quote_char=False)
READ = pa.csv.ReadOptions(column_names=["user", "rating", "date"], block_size=4 << 20)
CONVERT = pa.csv.ConvertOptions(
    column_types={"user": ID, "rating": pa.float32()},
    include_columns=["user", "rating"],
    null_values=[],
)


@dataclass
class Text:
    """Consecutive whole lines, and the origin of each piece for error messages."""

    data: bytes
    pieces: list[tuple[str, int, int]]  # name, number of its first line, offset in data


def read(path: Path, min_rating: float | None) -> Interactions:
    """Read the original archive, its training_set.tar, its unpacked folder, or Kaggle's files."""
    users: list[pa.DictionaryArray] = []
    films: list[npt.NDArray[np.int32]] = []
    rows, film, seen = 0, None, set[int]()
    for text in _buffers(_pieces(path)):
        table, film_of_row, film, met = _parse(text, film)
        _require_each_once(text, seen)
        seen |= met
        rows += table.num_rows
        keep = np.ones(table.num_rows, bool)
        if min_rating is not None:
            keep = table["rating"].to_numpy() > min_rating
        users += _filtered(table["user"], keep)
        films.append(film_of_row[keep])
    if rows == 0:
        raise UserError(f"{path}: holds no ratings")
    user, user_ids = unified(pa.chunked_array(users, ID), "user", str(path))
    item, item_ids = _film_codes(np.concatenate(films), seen)
    if np.any(item[1:] < item[:-1]):
        order = np.argsort(item, kind="stable")
        user, item = user[order], item[order]
    raw = RawCounts(rows, len(user_ids), len(seen))
    return from_codes(user, user_ids, item, item_ids, min_rating, raw)


def _filtered(column: pa.ChunkedArray, keep: npt.NDArray[np.bool_]) -> list[pa.DictionaryArray]:
    """Rows of the column to keep, chunk by chunk; users with no row left stay in the dictionary."""
    kept, start = [], 0
    for chunk in column.chunks:
        codes = chunk.indices.to_numpy()[keep[start : start + len(chunk)]]
        kept.append(pa.DictionaryArray.from_arrays(codes, chunk.dictionary))
        start += len(chunk)
    return kept


def _film_codes(films: npt.NDArray[np.int32], seen: set[int]) -> tuple[Codes, pa.StringArray]:
    """Code of each rating's film, and the ids of all films in ascending order."""
    ids = np.array(sorted(seen), dtype=np.int32)
    return np.searchsorted(ids, films).astype(np.int32), pa.array(ids).cast(pa.string())


def _pieces(path: Path) -> Iterator[tuple[str, int, bytes]]:
    """Pieces of the whole collection: file name, number of the first line, and whole lines."""
    if is_tar_file(path):
        yield from _tar_pieces(path)
        return
    found = members(path, FILES, DESCRIBED)
    names = [re.split("[/ ]", member.name)[-1].lower() for member in found]
    layouts = {name[:2] for name in names}  # mv_… and combined_… hold the same ratings
    if len(set(names)) < len(names) or len(layouts) > 1:
        raise UserError(f"{path}: holds the ratings more than once; set `path` to one copy of them")
    for member in found:
        line, rest = 1, b""
        with opened(member) as stream:
            while block := stream.read(BUFFER_BYTES):
                cut = block.rfind(b"\n") + 1
                data, rest = (rest + block[:cut], block[cut:]) if cut else (b"", rest + block)
                yield member.name, line, data
                line += data.count(b"\n")
        if rest:
            yield member.name, line, rest + b"\n"


def _tar_pieces(path: Path) -> Iterator[tuple[str, int, bytes]]:
    """Pieces, as of `_pieces`, from a tar archive: one for each film file."""
    progress = Progress(f"reading {path}", TOTAL_BYTES)
    found = False
    with readable(str(path)), opener(path)(path) as stream:
        for name, data in tar_members(stream, str(path), FILM_FILES, r"training_set\.tar"):
            found = True
            progress.advance(len(data))
            yield name, 1, data if data.endswith(b"\n") else data + b"\n"
    if not found:
        raise UserError(f"{path}: holds no film file mv_*.txt; is this the right archive?")


def _buffers(pieces: Iterator[tuple[str, int, bytes]]) -> Iterator[Text]:
    """Join small pieces into buffers of about BUFFER_BYTES, so that the parser starts rarely."""
    parts: list[bytes] = []
    places: list[tuple[str, int, int]] = []
    size = 0
    for name, line, data in pieces:
        places.append((name, line, size))
        parts.append(data)
        size += len(data)
        if size >= BUFFER_BYTES:
            yield Text(b"".join(parts), places)
            parts, places, size = [], [], 0
    yield Text(b"".join(parts), places)


def _parse(
    text: Text, film: int | None
) -> tuple[pa.Table, npt.NDArray[np.int32], int | None, set[int]]:
    """Ratings of one buffer, the film of each rating, the last film (None if none), all films."""
    ids, counts, bodies, start = [film], [], [], 0
    for line in FILM_LINE.finditer(text.data):
        bodies.append(text.data[start : line.start()])
        counts.append(bodies[-1].count(b"\n"))
        ids.append(int(line[1]))
        start = line.end()
    bodies.append(text.data[start:])
    counts.append(bodies[-1].count(b"\n"))
    ratings = b"".join(bodies)
    # Arrow would skip a byte order mark at the start, and end a line at every \r
    if ratings.startswith(codecs.BOM_UTF8) or _returns_in_lines(ratings):
        raise UserError(_first_bad(text))
    try:
        table = pa.csv.read_csv(pa.BufferReader(ratings), READ, PARSE, CONVERT)
    except pa.ArrowInvalid as error:
        if any(counts):
            raise UserError(_first_bad(text)) from error
        table = pa.table({"user": pa.array([], ID), "rating": pa.array([], pa.float32())})
    whole = table.num_rows == sum(counts) and np.isfinite(table["rating"].to_numpy()).all()
    if not (whole and _are_numbers(table["user"])) or (counts[0] and film is None):
        raise UserError(_first_bad(text))
    met = {i for i in ids if i is not None}
    film_of_row = np.repeat(np.array([i or 0 for i in ids], np.int32), counts)
    return table, film_of_row, ids[-1], met


def _returns_in_lines(data: bytes) -> bool:
    """Whether a line has a carriage return between other characters."""
    if b"\r" not in data:
        return False
    starts = (found.start() for found in RETURNS.finditer(data))
    return any(data[start - 1 : start] not in (b"", b"\n") for start in starts)


def _require_each_once(text: Text, seen: set[int]) -> None:
    """Raise UserError if a film has been met before, or a file starts without its own film."""
    starts = [start for _, _, start in text.pieces]
    ends = [*starts[1:], len(text.data)]  # one where there is no piece at all
    begun, met = set[int](), set(seen)
    for line in FILM_LINE.finditer(text.data):
        film, place = int(line[1]), bisect_right(starts, line.start()) - 1
        begun.add(line.start())
        named = FILM_FILE.search(text.pieces[place][0])
        if named and int(named[1]) != film:
            raise UserError(_at(text, line.start(), f"film {film} in the file of another film"))
        if film in met:
            raise UserError(_at(text, line.start(), f"film {film} for the second time"))
        met.add(film)
    for (_, first, start), end in zip(text.pieces, ends, strict=False):
        if first == 1 and start < end and start not in begun:
            raise UserError(_at(text, start, "the file does not start with a line `film:`"))


def _are_numbers(column: pa.ChunkedArray) -> bool:
    """Whether all user ids of a column consist of digits."""
    return all(
        pc.all(pc.match_substring_regex(chunk.dictionary, "^[0-9]+$")).as_py() is not False
        for chunk in column.chunks
    )


def _first_bad(text: Text) -> str:
    """Error message with the first bad line of a buffer; slow, so called only for a bad file."""
    offset = 0
    for line in text.data.split(b"\n")[:-1]:
        if not (RATING_LINE.fullmatch(line) or FILM_LINE.fullmatch(line + b"\n")):
            shown = line[:60].decode("utf-8", "replace")
            return _at(text, offset, f"{shown!r} is neither `film:` nor `user,rating,date`")
        offset += len(line) + 1
    return _at(text, 0, "a rating before the first line `film:`")


def _at(text: Text, offset: int, what: str) -> str:
    """Error message with the file and line number of a byte offset in `text.data`."""
    name, first, start = max(
        (piece for piece in text.pieces if piece[2] <= offset), key=lambda piece: piece[2]
    )
    line = first + text.data[start:offset].count(b"\n")
    return f"{name}, line {line}: {what}; correct or remove the line"
