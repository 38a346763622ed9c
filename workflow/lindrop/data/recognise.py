"""Recognise the format of a file, and the columns of a table, for those who name neither."""

import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet

from lindrop.base.errors import UserError
from lindrop.data import movielens, msd, netflix
from lindrop.data.archives import (
    files_below,
    first_bytes,
    is_wanted,
    members,
    opened,
    require_file,
)
from lindrop.data.delimited import CSV, TSV, header
from lindrop.data.folders import files_of
from lindrop.data.parquet import reading_parquet
from lindrop.data.tables import Columns

# Usual names of columns without case, blanks and underscores; the first that is there is taken.
NAMES = {
    "user": (
        *("user", "userid", "username", "uid", "customer", "customerid", "client", "clientid"),
        *("visitor", "visitorid", "member", "memberid", "account", "accountid", "reviewerid"),
        *("listener", "listenerid", "reader", "readerid", "buyer", "buyerid", "sessionid"),
    ),
    "item": (
        *("item", "itemid", "product", "productid", "article", "articleid", "movie", "movieid"),
        *("film", "filmid", "artist", "artistid", "song", "songid", "track", "trackid", "book"),
        *("bookid", "isbn", "asin", "sku", "sid", "iid", "businessid", "gameid", "newsid"),
    ),
    "rating": ("rating", "ratings", "stars", "score"),
    "time": ("time", "timestamp", "date", "datetime", "ts", "when", "unixreviewtime"),
}
HEAD_BYTES = 1 << 16  # of a text, by which it is recognised
SEPARATED = r".*\.(csv|tsv)(\.gz)?"
COMBINED = rb"\d+:\r?"  # a film's line in Kaggle's layout of Netflix


def format_of(path: Path) -> str:
    """The format of a file or folder, by its names and first lines."""
    require_file(path)
    if path.is_dir():
        names = [file.name for file in files_below(path)]
        parquet = [name for name in names if is_wanted(name, r".*\.parquet")]
        texts = [name for name in names if is_wanted(name, SEPARATED) and name[0] not in "._"]
        if parquet and texts:
            raise UserError(
                f"{path}: holds {parquet[0]} and {texts[0]}, which are of two formats: name the "
                "format, then files of others are not read, or put them into a folder each"
            )
        if parquet:
            return "parquet"
        if any(is_wanted(name, netflix.FILES) for name in names):
            return "netflix"
        return _of_text(files_of(path, "csv")[0])
    head = first_bytes(path)
    if head.startswith(b"PAR1"):
        return "parquet"
    if re.search(r"\.(tgz|tar|tar\.gz)$", path.name, re.IGNORECASE):
        return "netflix"
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        for format, wanted in (
            ("movielens", movielens.FILES),
            ("netflix", netflix.FILES),
            ("msd", msd.FILES),
        ):
            if any(is_wanted(name, wanted) for name in names):
                return format
    if is_wanted(path.name.removesuffix(".gz"), msd.FILES):
        return "msd"
    return _of_text(path)


def _of_text(path: Path) -> str:
    """The format of the first text of a file, by the lines at its beginning.

    A title above a table may look like a line of ids, but files with such names are tables.
    """
    member = members(path, r".*\.(csv|tsv|txt|dat)", "*.csv, *.tsv, *.txt or *.dat")[0]
    with opened(member) as text:
        head = text.read(HEAD_BYTES)
    lines = head.lstrip(b"\r\n").split(b"\n")
    found = _of_line(lines[0])
    if found != "adjacency":
        return found
    if name := re.fullmatch(SEPARATED, member.name, re.IGNORECASE):
        return name[1].lower()
    whole = lines[:-1] if len(head) == HEAD_BYTES else lines
    _refuse_table(path, [line.split() for line in whole if line.strip()])
    return found


def _refuse_table(path: Path, lines: Sequence[Sequence[bytes]]) -> None:
    """Raise UserError where lines of ids seem to be the rows of a table.

    Its rows are of one length, and users are on several of them: ratings would be read as items.
    """
    lengths, users = {len(line) for line in lines}, {line[0] for line in lines}
    if len(lengths) == 1 and min(lengths) > 2 and len(users) < len(lines):
        raise UserError(
            f"{path}: every line has {min(lengths)} values between blanks, and users have several "
            "lines: write a table with commas or tabs and a header line, or say that all but the "
            "first are items: --format adjacency"
        )


def _of_line(line: bytes) -> str:
    """The format of a text with this first line."""
    if b"::" in line:
        return "movielens"
    if b"\t" in line:  # u.data is the one table of numbers that has no header line
        fields = line.split(b"\t")
        numbers = all(field.strip().isdigit() for field in fields)
        return "movielens" if numbers and len(fields) == 4 else "tsv"
    if re.fullmatch(COMBINED, line):
        return "netflix"
    return "adjacency" if re.fullmatch(rb"\S+( +\S+)+ *\r?", line) and b"," not in line else "csv"


def columns_of(
    path: Path,
    format: str,
    named: Mapping[str, str | None],
    earlier: Mapping[str, Any] | None = None,
) -> Columns:
    """Columns of a table: those `named` by role, the others as `earlier`, or by usual names.

    UserError if no column is known to hold the users or the items, with the columns there are.
    """
    present = _present(path, format)
    if wrong := [name for name in named.values() if name is not None and name not in present]:
        raise UserError(f"{path}: no column named {wrong[0]!r}; the columns are {_shown(present)}")
    plain = {re.sub(r"[\W_]", "", name).casefold(): name for name in reversed(present)}
    found = dict(named)
    for role in NAMES:
        if found.get(role) is None:
            usual = [plain[name] for name in NAMES[role] if name in plain]
            before = [name for name in [(earlier or {}).get(role)] if name in present]
            free = (name for name in [*before, *usual] if name not in found.values())
            found[role] = next(free, None)
    if missing := [role for role in ("user", "item") if found[role] is None]:
        raise UserError(f"{path}: {_unnamed(missing, present)}")
    return Columns(**found)  # type: ignore[arg-type]


def _present(path: Path, format: str) -> list[str]:
    """Names of the columns of a table, or of the first file of a folder."""
    file = files_of(path, format)[0] if path.is_dir() else path
    if format == "parquet":
        with reading_parquet(file):
            return [str(name) for name in pyarrow.parquet.read_schema(file).names]
    wanted = r".*\.(csv|tsv|txt|dat)"
    member = members(file, wanted, "*.csv, *.tsv, *.txt or *.dat")[0]
    return header(member, CSV if format == "csv" else TSV)


def _unnamed(missing: Sequence[str], present: Sequence[str]) -> str:
    """What to do where no column is known to hold the users or the items."""
    shown = _shown(present)
    if len(present) == 1 and (other := re.search(r"[;|]", present[0])):
        return f"its columns are separated by {other[0]!r}; write them with commas or tabs"
    if present and all(re.fullmatch(r"[\d. ]+", name) for name in present):
        return f"its first line is {shown}: add a header line that names the columns"
    which = " and ".join(f"{role}s" for role in missing)
    options = " ".join(f"--{role} COLUMN" for role in missing)
    return f"which column holds the {which}? name it: {options}; the columns are {shown}"


def _shown(names: Sequence[str]) -> str:
    """The first of these names."""
    return ", ".join(name[:40] for name in names[:20]) + (", …" if names[20:] else "")
