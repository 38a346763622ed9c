"""Implicit feedback: pairs of a user and an item, in the order of the file."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lindrop.base.errors import UserError

Codes = npt.NDArray[np.int32]
Ids = npt.NDArray[Any]  # texts, or int64: see `compact`

TRAIN, VALIDATION, TEST = 0, 1, 2  # values of Interactions.part

CANONICAL_DECIMAL = "^(0|[1-9][0-9]*)$"
MOST_DIGITS = 18  # of a decimal that int64 holds for certain
MANY_IDS = 1 << 20  # from which on ids that are numbers are kept as numbers


@dataclass(frozen=True)
class RawCounts:
    """Numbers of rows, users and items of a file before filtering, which identify its version."""

    rows: int
    users: int
    items: int


@dataclass(frozen=True)
class Interactions:
    """Events (user, item) in file order, as integer codes.

    `user_ids[code]` and `item_ids[code]` are the raw ids, in the order of `id_order`: texts or, of
    very many ids that are whole numbers, these numbers (`compact`). Rows rated
    `min_rating` or less were dropped; None means that every row was kept. `time` is the time of
    each event in seconds, `part` the file that it comes from, where the protocol asks for them.
    """

    user: Codes
    item: Codes
    user_ids: Ids
    item_ids: Ids
    min_rating: float | None
    raw: RawCounts
    time: npt.NDArray[np.float64] | None = None
    part: npt.NDArray[np.int8] | None = None

    def __post_init__(self) -> None:
        if len({len(values) for values in self.columns().values()}) > 1:
            raise ValueError("user, item, time and part must have one entry per event")
        for name, codes, ids in (
            ("user", self.user, self.user_ids),
            ("item", self.item, self.item_ids),
        ):
            # -1, by which pandas.factorize means no id, would be the last id
            if len(codes) and not (codes.min() >= 0 and codes.max() < len(ids)):
                raise ValueError(f"a {name} code is outside the list of ids")
        if self.time is not None and not np.isfinite(self.time).all():
            raise ValueError("a time is not finite")  # NaN would be after every cut
        if self.part is not None and not np.isin(self.part, (TRAIN, VALIDATION, TEST)).all():
            raise ValueError("a part is not TRAIN, VALIDATION or TEST")

    def __len__(self) -> int:
        return len(self.user)

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays with one entry per event, by name."""
        columns = {name: getattr(self, name) for name in ("user", "item", "time", "part")}
        return {name: values for name, values in columns.items() if values is not None}

    def rows(self, chosen: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> "Interactions":
        """The chosen events, by number or by mask; codes and raw ids stay as they are."""
        some: dict[str, Any] = {name: each[chosen] for name, each in self.columns().items()}
        return replace(self, **some)


def joined(files: Mapping[int, Interactions]) -> Interactions:
    """Interactions of several files one after the other; `files` is keyed by Interactions.part.

    UserError if a file has no row above `min_rating`: the split would be made as without this file.
    """
    for part, name in (TRAIN, "training"), (VALIDATION, "validation"), (TEST, "test"):
        if part in files and not len(files[part]):
            raise UserError(
                f"the {name} file has no row with a rating above {files[part].min_rating}: lower "
                "min_rating, or leave the file out"
            )
    parts = list(files.values())
    user, user_ids = _common_codes([(part.user, part.user_ids) for part in parts])
    item, item_ids = _common_codes([(part.item, part.item_ids) for part in parts])
    timed = all(part.time is not None for part in parts)
    return from_codes(
        *(user, user_ids, item, item_ids),
        parts[0].min_rating,
        RawCounts(sum(part.raw.rows for part in parts), len(user_ids), len(item_ids)),
        np.concatenate([part.time for part in parts if part.time is not None]) if timed else None,
        np.concatenate([np.full(len(part), of, np.int8) for of, part in files.items()]),
    )


def _common_codes(lists: Sequence[tuple[Codes, Ids]]) -> tuple[Codes, pa.StringArray]:
    """Codes of one list of ids for codes that index several."""
    together = pa.concat_arrays([as_strings(ids) for _, ids in lists]).dictionary_encode()
    number, start, codes = together.indices.to_numpy(), 0, []
    for own, ids in lists:
        codes.append(number[start : start + len(ids)][own])
        start += len(ids)
    return np.concatenate(codes).astype(np.int32, copy=False), together.dictionary


def id_order(ids: pa.StringArray) -> npt.NDArray[np.int64]:
    """Positions that sort `ids` as the published code does (docs/protocol.md, step 3).

    Ids sort as integers only if every id is in canonical decimal form, otherwise as strings.
    Canonical decimals that int64 may not hold are sorted by length, then by digits, so that none
    can overflow.
    """
    if (numbers := whole_numbers(ids)) is not None:
        return np.argsort(numbers, kind="stable").astype(np.int64, copy=False)
    keys = {"id": ids}
    by = [("id", "ascending")]
    if _are_decimals(ids):
        keys["length"] = pc.utf8_length(ids)
        by.insert(0, ("length", "ascending"))
    order: npt.NDArray[np.int64] = (
        pc.sort_indices(pa.table(keys), sort_keys=by).to_numpy().astype(np.int64)
    )
    return order


def _are_decimals(ids: pa.StringArray) -> bool:
    """Whether every id is a whole number in canonical decimal form, such as 7 but not 007."""
    return bool(pc.all(pc.match_substring_regex(ids, CANONICAL_DECIMAL)).as_py())


def whole_numbers(ids: pa.StringArray) -> npt.NDArray[np.int64] | None:
    """The ids as integers, or None unless each is a canonical decimal that int64 holds."""
    longest = pc.max(pc.binary_length(ids)).as_py() or 0
    if longest > MOST_DIGITS or not _are_decimals(ids):
        return None
    numbers: npt.NDArray[np.int64] = ids.cast(pa.int64()).to_numpy()
    return numbers


def compact(numbers: npt.NDArray[np.int64]) -> Ids:
    """Raw ids that are whole numbers, as texts, or as int64 if there are very many of them.

    Ten million texts are ten million Python objects; as numbers, they are 80 MB. Whether ids are
    kept as texts or as numbers changes no result: `texts` of either are the same.
    """
    if len(numbers) > MANY_IDS:
        return numbers
    return as_texts(numbers)


def are_numbers(ids: Ids) -> bool:
    """Whether raw ids are kept as integers."""
    return bool(ids.dtype.kind in "iu")


def as_strings(ids: Ids) -> pa.StringArray:
    """Raw ids as texts of Arrow."""
    return pa.array(ids).cast(pa.string()) if are_numbers(ids) else pa.array(ids, pa.string())


def as_texts(ids: Ids) -> npt.NDArray[np.object_]:
    """Raw ids as Python's texts."""
    found: npt.NDArray[np.object_] = (
        as_strings(ids).to_numpy(zero_copy_only=False).astype(object)
        if are_numbers(ids)
        else np.asarray(ids, object)
    )
    return found


def texts(ids: Ids, block: int = 1 << 20) -> Iterator[list[str]]:
    """Raw ids as texts, in lists of bounded length."""
    for start in range(0, len(ids), block):
        part = ids[start : start + block]
        yield list(as_texts(part))


def listed(ids: Any, what: str) -> pa.Array:
    """Ids of a list or another collection, in which texts and integers may be mixed, as texts.

    UserError for a text, whose characters would be ids, and for a table, which lists its columns.
    """
    if isinstance(ids, str | bytes) or hasattr(ids, "columns") or not isinstance(ids, Iterable):
        shown = type(ids).__name__ if hasattr(ids, "columns") else repr(ids)
        raise UserError(f"{what}: a list of ids is needed, not {shown}")
    found = list(ids)
    for each in found:
        if not isinstance(each, str | int | np.integer) or isinstance(each, bool):
            raise UserError(f"{what}: ids are texts or integers, not {each!r}")
    try:
        return pa.array([str(each) for each in found], pa.string())
    except UnicodeEncodeError as error:
        raise UserError(f"{what}: {error.object!r} is not valid Unicode text") from error


class Places:
    """Places of raw ids in their list, looked up by text."""

    def __init__(self, ids: Ids) -> None:
        self._numbers = are_numbers(ids)
        if self._numbers:
            self._order = np.argsort(ids)
            self._ids = ids[self._order]
        else:
            self._place = {text: place for place, text in enumerate(ids)}

    def of(self, wanted: Iterable[str]) -> list[int]:
        """Places, ascending, of those of the wanted ids that are in the list."""
        if not self._numbers:
            return sorted({self._place[text] for text in wanted if text in self._place})
        decimals = {
            int(text)
            for text in wanted
            if len(text) <= MOST_DIGITS and re.fullmatch(CANONICAL_DECIMAL, text, re.ASCII)
        }
        numbers = np.array(sorted(decimals), np.int64)
        found = np.searchsorted(self._ids, numbers)
        there = found < len(self._ids)
        there[there] = self._ids[found[there]] == numbers[there]
        return [int(place) for place in np.sort(self._order[found[there]])]


def rank_by_id(codes: Codes, ids: pa.StringArray) -> tuple[Codes, Ids]:
    """Codes renumbered so that code k means the k-th raw id in order, and the sorted ids."""
    order = id_order(ids)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    numbers = whole_numbers(ids) if len(ids) > MANY_IDS else None
    if numbers is not None:
        return rank[codes], compact(numbers[order])
    sorted_ids: Ids = ids.take(pa.array(order)).to_numpy(zero_copy_only=False).astype(object)
    return rank[codes], sorted_ids


def from_codes(
    user: Codes,
    user_ids: pa.StringArray,
    item: Codes,
    item_ids: pa.StringArray,
    min_rating: float | None,
    raw: RawCounts,
    time: npt.NDArray[np.float64] | None = None,
    part: npt.NDArray[np.int8] | None = None,
) -> Interactions:
    """Interactions from codes that index id lists in any order."""
    user, sorted_users = rank_by_id(user, user_ids)
    item, sorted_items = rank_by_id(item, item_ids)
    return Interactions(user, item, sorted_users, sorted_items, min_rating, raw, time, part)


def unified(column: pa.ChunkedArray, what: str, where: str) -> tuple[Codes, pa.StringArray]:
    """Codes and ids of a dictionary-encoded column; UserError if an id cannot be meant.

    That is one with a control character, or with a byte order mark before it, as where two files
    were joined: the first user of the second file would be another one than in the other lines.
    """
    column = column.unify_dictionaries()
    ids = column.chunk(0).dictionary if column.num_chunks else pa.array([], pa.string())
    marked = pc.starts_with(ids, "\ufeff")
    if pc.any(marked).as_py():
        raise UserError(
            f"{where}: the {what} id {ids.filter(marked)[0].as_py()!r} begins with a byte order "
            "mark, as if two files were joined; remove the mark"
        )
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
