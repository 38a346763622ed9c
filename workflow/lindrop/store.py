"""The files that one stage hands to the next: one writer and one reader each.

interactions.h5   user, item           int32[n]   events in file order, codes into the ids
                  user_ids, item_ids   str        raw ids in the protocol's order
                  attributes: raw_rows, raw_users, raw_items, and min_rating if one was applied
split.h5          users, items         str        raw ids by uid and by sid
                  train, validation/{fold_in,held_out}, test/{fold_in,held_out}: one CSR triple each
                      data int8, indices int32, indptr int64   rows are users, columns are sids;
                                       entries of a row in file order, duplicate rows kept apart
                      position int32   the line of the published csv on which the entry stands
                  attributes: protocol (JSON), split_sha256, and the counts of data.split.Counts

Every file also carries `lindrop_file` (its kind and version) and `source` (JSON, where the data
came from). Files are written under a temporary name, flushed to disk and renamed: what has its
final name is whole.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from lindrop.atomic import atomic
from lindrop.data.interactions import Ids, Interactions, RawCounts
from lindrop.data.split import Counts, Events, Holdout, Protocol, Split
from lindrop.errors import UserError

INTERACTIONS = "interactions/1"
SPLIT = "split/1"
CHUNK = 1 << 18
COMPRESSED = {"compression": "lzf", "shuffle": True}

Source = Mapping[str, Any]


def write_json(path: str | Path, content: Mapping[str, Any]) -> None:
    with atomic(path) as partial:
        partial.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def read_json(path: str | Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    return content


def write_interactions(path: str | Path, data: Interactions, source: Source) -> None:
    with _create(path, INTERACTIONS, source) as file:
        _write_array(file, "user", data.user)
        _write_array(file, "item", data.item)
        _write_ids(file, "user_ids", data.user_ids)
        _write_ids(file, "item_ids", data.item_ids)
        for name, value in asdict(data.raw).items():
            file.attrs[f"raw_{name}"] = value
        if data.min_rating is not None:
            file.attrs["min_rating"] = data.min_rating


def read_interactions(path: str | Path) -> tuple[Interactions, dict[str, Any]]:
    """The events and where they came from."""
    with _open(path, INTERACTIONS) as file:
        raw = RawCounts(*(int(file.attrs[f"raw_{field.name}"]) for field in fields(RawCounts)))
        data = Interactions(
            user=file["user"][:],
            item=file["item"][:],
            user_ids=_read_ids(file, "user_ids"),
            item_ids=_read_ids(file, "item_ids"),
            min_rating=file.attrs.get("min_rating"),
            raw=raw,
        )
        return data, json.loads(file.attrs["source"])


def write_split(path: str | Path, split: Split, source: Source) -> None:
    with _create(path, SPLIT, source) as file:
        digest = hashlib.sha256()
        _write_ids(file, "users", split.users)
        _write_ids(file, "items", split.items)
        for ids in (split.users, split.items):
            digest.update("\n".join(ids).encode())
        for part, events in split.parts().items():
            _write_events(file.create_group(part), events, split.user_range(part))
            for array in (events.uid, events.sid):
                digest.update(array.tobytes())
        file.attrs["protocol"] = json.dumps(asdict(split.protocol))
        file.attrs["split_sha256"] = digest.hexdigest()
        for name, value in asdict(split.counts).items():
            file.attrs[name] = value


def read_split(path: str | Path) -> Split:
    """The whole split, its rows in the order of the published csv files."""
    with _open(path, SPLIT) as file:
        users, items = _read_ids(file, "users"), _read_ids(file, "items")
        protocol = Protocol(**json.loads(file.attrs["protocol"]))
        n_train = len(users) - 2 * protocol.heldout_users
        return Split(
            users=users,
            items=items,
            protocol=protocol,
            train=_read_events(file["train"], 0),
            validation=_read_holdout(file["validation"], n_train),
            test=_read_holdout(file["test"], n_train + protocol.heldout_users),
            counts=_read_counts(file),
        )


def read_split_matrix(path: str | Path, part: str) -> sp.csr_array:
    """X of one part (`train`, `test/fold_in`, …) as float32; duplicate rows add up."""
    with _open(path, SPLIT) as file:
        group = file[part]
        triple = (group["data"][:].astype(np.float32), group["indices"][:], group["indptr"][:])
        matrix = sp.csr_array(triple, shape=(len(triple[2]) - 1, len(file["items"])))
    matrix.sum_duplicates()
    return matrix


def read_split_facts(path: str | Path) -> tuple[Counts, Protocol, dict[str, Any]]:
    """Counts, protocol and source of a split: what a table needs, without the events."""
    with _open(path, SPLIT) as file:
        protocol = Protocol(**json.loads(file.attrs["protocol"]))
        return _read_counts(file), protocol, json.loads(file.attrs["source"])


def _read_counts(file: h5py.File) -> Counts:
    return Counts(*(int(file.attrs[field.name]) for field in fields(Counts)))


def _write_events(group: h5py.Group, events: Events, users: range) -> None:
    row, line = events.uid - users.start, np.arange(len(events), dtype=np.int32)
    # one column per event: a linear-time, order-keeping sort by user
    by_user = sp.coo_array(
        (np.ones(len(events), np.int8), (row, line)), shape=(len(users), max(len(events), 1))
    ).tocsr()
    position = by_user.indices.astype(np.int32, copy=False)
    _write_array(group, "data", by_user.data)
    _write_array(group, "indices", events.sid[position])
    _write_array(group, "indptr", by_user.indptr.astype(np.int64))
    _write_array(group, "position", position)


def _read_events(group: h5py.Group, first_user: int) -> Events:
    position, indptr = group["position"][:], group["indptr"][:]
    uid = np.empty(len(position), np.int32)
    sid = np.empty(len(position), np.int32)
    rows = np.arange(first_user, first_user + len(indptr) - 1, dtype=np.int32)
    uid[position] = np.repeat(rows, np.diff(indptr))
    sid[position] = group["indices"][:]
    return Events(uid, sid)


def _read_holdout(group: h5py.Group, first_user: int) -> Holdout:
    return Holdout(
        fold_in=_read_events(group["fold_in"], first_user),
        held_out=_read_events(group["held_out"], first_user),
    )


@contextmanager
def _create(path: str | Path, kind: str, source: Source) -> Iterator[h5py.File]:
    with atomic(path) as partial, h5py.File(partial, "w") as file:
        file.attrs["lindrop_file"] = kind
        file.attrs["source"] = json.dumps(dict(source), sort_keys=True)
        yield file


@contextmanager
def _open(path: str | Path, kind: str) -> Iterator[h5py.File]:
    """A file of the expected kind and version; anything else is refused by name."""
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise UserError(f"{path}: not a readable HDF5 file ({error}); delete it, rerun") from error
    with file:
        found = file.attrs.get("lindrop_file", "a foreign file")
        if found != kind:
            raise UserError(f"{path}: expected {kind}, found {found}; delete it and rerun")
        yield file


def _write_array(group: h5py.Group, name: str, values: npt.NDArray[Any]) -> None:
    options = {"chunks": (min(CHUNK, len(values)),), **COMPRESSED} if len(values) else {}
    group.create_dataset(name, data=values, **options)


def _write_ids(group: h5py.Group, name: str, ids: Ids) -> None:
    group.create_dataset(name, data=ids, dtype=h5py.string_dtype("utf-8"))


def _read_ids(group: h5py.Group, name: str) -> Ids:
    ids: Ids = group[name].asstr()[:]
    return ids
