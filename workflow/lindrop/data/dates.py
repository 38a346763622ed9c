"""Times of a table as seconds, whether they are numbers or dates."""

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lindrop.base.errors import UserError

Times = npt.NDArray[np.float64]
# Units and zones of dates; those with digits behind the millionth of a second come last.
DATES = ("us",), ("us", "UTC"), ("ns",), ("ns", "UTC")
DIGITS = 15  # of decimals that are different numbers in floating point
MICROSECONDS = 2**33  # seconds, up to the year 2242, of which floating point holds each millionth


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
        if found.type.unit == "us" and np.abs(values).max(initial=0) < MICROSECONDS:
            return False
        return bool(pc.count_distinct(found).as_py() > len(np.unique(values)))
    if (pc.max(pc.binary_length(times)).as_py() or 0) <= DIGITS:
        return False
    texts, different = pc.unique(times), len(np.unique(values))
    # two texts may be one number, such as 1.50 and 1.5
    return len(texts) > different and len({*map(Decimal, texts.to_pylist())}) > different


def is_number(time: pa.Scalar) -> bool:
    """Whether the text of a time is a number, and not a date."""
    try:
        time.cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True
