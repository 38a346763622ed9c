"""Read and write interactions.h5: the events of a dataset before the split.

user, item           int32[n]   events in file order, codes into the ids
user_ids, item_ids   str        raw ids in the protocol's order
attributes           raw_rows, raw_users, raw_items, and min_rating if it was applied
"""

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from lindrop.data.interactions import Interactions, RawCounts
from lindrop.store.hdf5 import Source, create_file, open_file, read_ids, write_array, write_ids

KIND = "interactions/1"


def write_interactions(path: str | Path, data: Interactions, source: Source) -> None:
    """Write interactions; `source` describes the file or recipe that they come from."""
    arrays = (data.user, data.item, data.user_ids, data.item_ids)
    with create_file(path, KIND, source, arrays) as file:
        write_array(file, "user", data.user)
        write_array(file, "item", data.item)
        write_ids(file, "user_ids", data.user_ids)
        write_ids(file, "item_ids", data.item_ids)
        for name, value in asdict(data.raw).items():
            file.attrs[f"raw_{name}"] = value
        if data.min_rating is not None:
            file.attrs["min_rating"] = data.min_rating


def read_interactions(path: str | Path) -> tuple[Interactions, dict[str, Any]]:
    """Interactions and their source, as given to `write_interactions`."""
    with open_file(path, KIND) as file:
        raw = RawCounts(*(int(file.attrs[f"raw_{field.name}"]) for field in fields(RawCounts)))
        data = Interactions(
            user=file["user"][:],
            item=file["item"][:],
            user_ids=read_ids(file, "user_ids"),
            item_ids=read_ids(file, "item_ids"),
            min_rating=file.attrs.get("min_rating"),
            raw=raw,
        )
        return data, json.loads(file.attrs["source"])
