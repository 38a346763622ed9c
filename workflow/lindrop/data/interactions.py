"""Implicit feedback as the file gave it: who, what, in which order."""

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
    """Size of a file before anything was filtered; published archives are recognised by it."""

    rows: int
    users: int
    items: int


@dataclass(frozen=True)
class Interactions:
    """Events in file order; user and item codes are ranks in the protocol's order of raw ids.

    Rows rated `min_rating` or less are gone; None means that every row was kept.
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

    def __len__(self) -> int:
        return len(self.user)


def id_order(ids: pa.StringArray) -> npt.NDArray[np.int64]:
    """Positions that sort `ids` as the published code does (docs/protocol.md, step 3).

    Integers sort as integers only if every id is in canonical decimal form; otherwise
    all are strings. A canonical decimal sorts by its length, then by its digits, so no
    id is ever converted (and none can overflow).
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
    """Recode so that code k means the k-th smallest raw id."""
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
    """Interactions from codes into arbitrarily ordered id lists."""
    user, sorted_users = rank_by_id(user, user_ids)
    item, sorted_items = rank_by_id(item, item_ids)
    return Interactions(user, item, sorted_users, sorted_items, min_rating, raw)


def unified(column: pa.ChunkedArray, what: str, where: str) -> tuple[Codes, pa.StringArray]:
    """Codes and ids of a dictionary-encoded column; ids that no text file can carry are refused."""
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
