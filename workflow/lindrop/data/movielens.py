"""Read MovieLens 100K, 1M, 20M, 25M, 32M and the small sets, which have three layouts."""

from dataclasses import replace
from pathlib import Path

from lindrop.base.errors import UserError
from lindrop.data.archives import Member, only_member, opened
from lindrop.data.delimited import CSV, Layout, read_member
from lindrop.data.interactions import Interactions
from lindrop.data.tables import Columns

COLUMNS = Columns("userId", "movieId", "rating")
# `user::item::rating::time`: split at each single colon, every second column is empty
BLANK = ["", " ", "  "]
RATINGS_DAT = Layout(
    ":", ["userId", "", "movieId", " ", "rating", "  ", "time"], quoted=False, blank=BLANK
)
U_DATA = Layout("\t", ["userId", "movieId", "rating", "time"], quoted=False)

FILES = r"ratings\.csv|ratings\.dat|u\.data"
DESCRIBED = "ratings.csv, ratings.dat or u.data"


def read(path: Path, min_rating: float | None, timed: bool = False) -> Interactions:
    """Read a MovieLens archive, or the plain ratings file from inside it; with times if asked."""
    member = only_member(path, FILES, DESCRIBED)
    layout = _layout(member)
    time = ("time" if layout.names else "timestamp") if timed else None
    return read_member(member, layout, replace(COLUMNS, time=time), min_rating)


def _layout(member: Member) -> Layout:
    """Layout recognised by the first line, since files may have been renamed."""
    with opened(member) as stream:
        line = stream.read(4096).split(b"\n", 1)[0]
    if not line:
        raise UserError(f"{member.name}: the file is empty")
    if b"::" in line:
        return RATINGS_DAT
    if b"\t" in line and b"," not in line:
        return U_DATA
    if b"," in line:
        return CSV
    raise UserError(
        f"{member.name}: not a MovieLens ratings file (u.data, ratings.dat or ratings.csv); "
        f"its first line is {line[:60].decode('utf-8', 'replace')!r}"
    )
