"""Read and write interactions.h5: the events of a dataset before the split.

user, item           int32[n]   events in file order, codes into the ids
user_ids, item_ids   str        raw ids in the protocol's order (int64: very many whole numbers)
attributes           raw_rows, raw_users, raw_items, and min_rating if it was applied
"""

from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from lindrop.data.interactions import TEST, Interactions, RawCounts
from lindrop.store.checks import within
from lindrop.store.hdf5 import Source, StoredFile, create_file, open_file, write_array, write_ids

KIND = "interactions/1"


def write_interactions(path: str | Path, data: Interactions, source: Source) -> None:
    """Write interactions; `source` describes the file or recipe that they come from."""
    arrays = (*data.columns().values(), data.user_ids, data.item_ids)
    with create_file(path, KIND, source, arrays) as file:
        for name, values in data.columns().items():
            write_array(file, name, values)
        write_ids(file, "user_ids", data.user_ids)
        write_ids(file, "item_ids", data.item_ids)
        for name, value in asdict(data.raw).items():
            file.attrs[f"raw_{name}"] = value
        if data.min_rating is not None:
            file.attrs["min_rating"] = data.min_rating


def read_numbers(path: str | Path) -> tuple[int, int]:
    """Number of events, and of all users and items whose ids are texts, without reading any."""
    with open_file(path, KIND) as file:
        (events,) = file.shape("user")
        return events, sum(
            file.shape(name)[0] for name in ("user_ids", "item_ids") if file.is_text(name)
        )


def read_raw_counts(path: str | Path) -> RawCounts:
    """Numbers of rows, users and items of the files that interactions were read from."""
    with open_file(path, KIND) as file:
        return _raw_counts(file)


def _raw_counts(file: StoredFile) -> RawCounts:
    return RawCounts(*(int(file.attrs[f"raw_{field.name}"]) for field in fields(RawCounts)))


def read_interactions(path: str | Path) -> tuple[Interactions, dict[str, Any]]:
    """Interactions and their source, as given to `write_interactions`."""
    with open_file(path, KIND) as file:
        raw = _raw_counts(file)
        user_ids, item_ids = file.ids("user_ids"), file.ids("item_ids")
        user = file.array("user", "i", (None,))
        item = file.array("item", "i", (len(user),))
        for codes, ids in ((user, user_ids), (item, item_ids)):
            file.require(within(codes, len(ids)), "a code is outside the list of ids")
        min_rating = file.attrs.get("min_rating")
        file.require(min_rating is None or np.isfinite(min_rating), "min_rating is not finite")
        time = file.finite("time", (len(user),)) if "time" in file else None
        part = file.array("part", "i", (len(user),)) if "part" in file else None
        file.require(part is None or within(part, TEST + 1), "part is no number of a file")
        return (
            Interactions(user, item, user_ids, item_ids, min_rating, raw, time, part),
            file.source(),
        )
