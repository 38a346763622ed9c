"""Implicit feedback: pairs of a user and an item, in the order of the file."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lindrop.base.errors import UserError

Codes = npt.NDArray[np.int32]
Ids = npt.NDArray[np.object_]

CANONICAL_DECIMAL = "^(0|[1-9][0-9]*)$"


@dataclass(frozen=True)
class RawCounts:
    """Numbers of rows, users and items of a file before filtering, which identify its version."""

    rows: int
    users: int
    items: int


@dataclass(frozen=True)
class Interactions:
    """Events (user, item) in file order, as integer codes.

    `user_ids[code]` and `item_ids[code]` are the raw ids, in the order of `id_order`. Rows rated
    `min_rating` or less were dropped; None means that every row was kept.
    """

    user: Codes
    item: Codes
    user_ids: Ids
    item_ids: Ids
    min_rating: float | None
    raw: RawCounts

    def __post_init__(self) -> None:
        if len(self.user) != len(self.item):
            raise ValueError("user and item must have one entry per event")
        for name, codes, ids in (
            ("user", self.user, self.user_ids),
            ("item", self.item, self.item_ids),
        ):
            # -1, by which pandas.factorize means no id, would be the last id
            if len(codes) and not (codes.min() >= 0 and codes.max() < len(ids)):
                raise ValueError(f"a {name} code is outside the list of ids")

    def __len__(self) -> int:
        return len(self.user)


def id_order(ids: pa.StringArray) -> npt.NDArray[np.int64]:
    """Positions that sort `ids` as the published code does (docs/protocol.md, step 3).

    Ids sort as integers only if every id is in canonical decimal form, otherwise as strings.
    Canonical decimals are sorted by length, then by digits, so no id is converted to an integer
    and none can overflow.
    """
    keys = {"id": ids}
    by = [("id", "ascending")]
    if pc.all(pc.match_substring_regex(ids, CANONICAL_DECIMAL)).as_py():
        keys["length"] = pc.utf8_length(ids)
        by.insert(0, ("length", "ascending"))
    order: npt.NDArray[np.int64] = (
        pc.sort_indices(pa.table(keys), sort_keys=by).to_numpy().astype(np.int64)
    )
    return order


def rank_by_id(codes: Codes, ids: pa.StringArray) -> tuple[Codes, Ids]:
    """Codes renumbered so that code k means the k-th raw id in order, and the sorted ids."""
    order = id_order(ids)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    sorted_ids: Ids = ids.take(pa.array(order)).to_numpy(zero_copy_only=False).astype(object)
    return rank[codes], sorted_ids


def from_codes(
    user: Codes,
    user_ids: pa.StringArray,
    item: Codes,
    item_ids: pa.StringArray,
    min_rating: float | None,
    raw: RawCounts,
) -> Interactions:
    """Interactions from codes that index id lists in any order."""
    user, sorted_users = rank_by_id(user, user_ids)
    item, sorted_items = rank_by_id(item, item_ids)
    return Interactions(user, item, sorted_users, sorted_items, min_rating, raw)


def unified(column: pa.ChunkedArray, what: str, where: str) -> tuple[Codes, pa.StringArray]:
    """Codes and ids of a dictionary-encoded column; UserError if an id has control characters."""
    column = column.unify_dictionaries()
    ids = column.chunk(0).dictionary if column.num_chunks else pa.array([], pa.string())
    broken = pc.match_substring_regex(ids, r"[\x00-\x08\x0a-\x1f\x7f]")
    if pc.any(broken).as_py():
        example = ids.filter(broken)[0].as_py()
        raise UserError(
            f"{where}: the {what} id {example!r} holds a control character or line break; "
            "such ids cannot be written to unique_sid.txt, so replace them"
        )
    chunks = [chunk.indices.to_numpy() for chunk in column.chunks]
    codes = np.concatenate(chunks) if chunks else np.empty(0, dtype=np.int32)
    return codes, ids
