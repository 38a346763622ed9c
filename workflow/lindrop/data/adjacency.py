"""Read lines of a user and the items of that user, between blanks, such as LightGCN's files."""

import codecs
import re
from pathlib import Path

import numpy as np
import pyarrow as pa

from lindrop.base.errors import UserError
from lindrop.data.archives import only_member, opened
from lindrop.data.interactions import (
    CANONICAL_DECIMAL,
    Interactions,
    RawCounts,
    from_codes,
    unified,
)


def read(path: Path) -> Interactions:
    """Read `user item item …` lines, plain, gzipped or the only text in a zip.

    A line without items adds nothing; lines of one user add up.
    """
    member = only_member(path, r".*\.(txt|csv|tsv|dat)", "*.txt, *.csv, *.tsv or *.dat")
    users: list[str] = []
    items: list[str] = []
    counts: list[int] = []
    with opened(member) as stream:
        text = stream.read()
    for number, line in enumerate(text.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        try:
            user, *of_user = _ids(line.removesuffix(b"\r").decode("utf-8"))
        except (UnicodeDecodeError, UserError) as error:
            problem = error if isinstance(error, UserError) else NOT_UTF8
            raise UserError(f"{member.name}, line {number}: {problem}") from error
        users.append(user)
        items += of_user
        counts.append(len(of_user))
    if not items:
        raise UserError(f"{member.name}: the file holds no rows")
    columns = {"user": np.repeat(np.array(users, object), counts), "item": items}
    (user_codes, user_ids), (item_codes, item_ids) = (
        unified(pa.chunked_array([pa.array(ids, pa.string()).dictionary_encode()]), what, str(path))
        for what, ids in columns.items()
    )
    _refuse_header(users, items, counts[0], member.name)
    raw = RawCounts(len(items), len(user_ids), len(item_ids))
    return from_codes(user_codes, user_ids, item_codes, item_ids, None, raw)


HEADERS = {("user", "item"), ("user", "items"), ("user_id", "item_id"), ("userid", "itemid")}
NOT_UTF8 = "not UTF-8 text; convert the file to UTF-8"


def _ids(line: str) -> list[str]:
    """The ids of a line, at least one, which may be empty; UserError if more than blanks divide it.

    Other white space, such as a no-break space, is a part of an id, as in every format.
    """
    if line.startswith("\ufeff"):
        raise UserError("a byte order mark, as if two files were joined; remove it")
    ids = [part for part in line.replace("\t", " ").split(" ") if part]
    if any(part.endswith((",", ";")) for part in ids) or (ids and ids[0].endswith(":")):
        raise UserError("ids must be separated by blanks alone; remove commas and colons")
    return ids or [""]


def _refuse_header(users: list[str], items: list[str], in_first: int, where: str) -> None:
    """Raise UserError if the first line alone has ids that are not numbers, as a header line has.

    Its words would become a user and items, and all other ids would then sort as texts.
    """

    def numbers(ids: list[str]) -> bool:
        return all(re.match(CANONICAL_DECIMAL, part) for part in ids)

    if numbers([users[0], *items[:in_first]]):
        return
    others = [user for user in users[1:] if user]
    if others and numbers(others) and numbers(items[in_first:]):
        raise UserError(
            f"{where}, line 1: not of numbers, as all other lines are; remove the line if it is a "
            "header line, which files of this format do not have"
        )
    if (users[0].lower(), items[0].lower()) in HEADERS:
        raise UserError(f"{where}, line 1: a header line, which files of this format do not have")
