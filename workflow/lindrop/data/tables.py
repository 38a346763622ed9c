"""What csv, tsv and parquet files share: names of columns, and codes of the ids in them."""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lindrop.base.errors import UserError
from lindrop.data.dates import Times, is_number, seconds
from lindrop.data.interactions import Codes, Interactions, RawCounts, from_codes, unified

ID = pa.dictionary(pa.int32(), pa.string())


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


def coded(
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
    dated = columns.time is not None and not is_number(table[columns.time][0])
    return Coded(user, user_ids, item, item_ids, time, table.num_rows, dated)


def require_finite(rating: npt.NDArray[np.floating], place: Callable[[int], str]) -> None:
    """Raise UserError if a rating is missing or infinite; `place(r)` tells where row r stands."""
    finite = np.isfinite(rating)
    if not finite.all():
        raise UserError(
            f"{place(int(np.argmin(finite)))}: the rating is missing or not a finite number; "
            "correct or remove the row"
        )


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
