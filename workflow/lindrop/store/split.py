"""Read and write split.h5: a dataset split into training, validation and test users.

In a weak split (data.split.Split), these are the same users, and the rows of a part are the first
ones of `users`.

users, items   str   raw ids by uid and by sid (int64: very many whole numbers)
train, validation/{fold_in,held_out}, test/{fold_in,held_out}: one CSR triple each
    data int8, indices int32, indptr int64   rows are users, columns are sids; entries of a row are
                                             in file order, repeated pairs are separate entries
    position int32                           line of each entry in the published csv (from 0)
beside: the same, of all users, if data.split.Split has any
attributes     protocol (JSON), split_sha256, and the counts of data.split.Counts
"""

import hashlib
import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.sparse as sp

from lindrop.data.interactions import Ids, texts
from lindrop.data.rows import rows_by_user
from lindrop.data.split import (
    AnyProtocol,
    Counts,
    Events,
    Holdout,
    Protocol,
    Split,
    protocol_of,
    settings_of,
)
from lindrop.models.memory import Size
from lindrop.store.checks import divides, is_permutation, within
from lindrop.store.hdf5 import (
    Source,
    StoredFile,
    create_file,
    open_file,
    write_array,
    write_blocks,
    write_ids,
)

KIND = "split/1"
BESIDE = "beside"


def write_split(path: str | Path, split: Split, source: Source) -> None:
    """Write a split; `source` describes the file or recipe that it comes from."""
    every = [*split.parts().values(), split.beside]
    parts = [array for events in every for array in (events.uid, events.sid)]
    with create_file(path, KIND, source, [*parts, *parts, split.users, split.items]) as file:
        write_ids(file, "users", split.users)
        write_ids(file, "items", split.items)
        for part, events in split.parts().items():
            _write_events(file.create_group(part), events, split.user_range(part))
        if len(split.beside):
            _write_events(file.create_group(BESIDE), split.beside, range(len(split.users)))
        file.attrs["protocol"] = json.dumps(settings_of(split.protocol))
        file.attrs["split_sha256"] = fingerprint(split)
        for name, value in asdict(split.counts).items():
            file.attrs[name] = value


def fingerprint(split: Split) -> str:
    """SHA-256 of the ids and events of a split, by which files made from it are known."""
    digest = hashlib.sha256()
    for ids in (split.users, split.items):
        for number, part in enumerate(texts(ids)):
            digest.update(("\n" * (number > 0) + "\n".join(part)).encode())
    for events in split.parts().values():
        for array in (events.uid, events.sid):
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def read_split(path: str | Path) -> Split:
    """Read a whole split, with the rows in the order of the published csv files."""
    with open_file(path, KIND) as file:
        split = Split(
            users=file.ids("users"),
            items=file.ids("items"),
            protocol=_read_protocol(file),
            train=_read_events(file, "train"),
            validation=_read_holdout(file, "validation"),
            test=_read_holdout(file, "test"),
            counts=_read_counts(file),
            beside=_read_events(file, BESIDE) if BESIDE in file else Events.joined(),
        )
        found = fingerprint(split)
        file.require(found == file.attrs["split_sha256"], "its events are not those of its SHA-256")
        return split


def read_split_matrix(path: str | Path, part: str, light: bool = False) -> sp.csr_array:
    """X of one part (`train`, `test/fold_in`, …) as float32; duplicate rows add up.

    If no row is a duplicate and `light` is true, all entries are one 1 in memory, read-only, so
    that X takes half its bytes.
    """
    with open_file(path, KIND) as file:
        indptr, indices = _read_rows(file, part)
        ones = file.array(f"{part}/data", "i", (len(indices),))
        file.require((ones == 1).all(), f"{part}/data is not 1 everywhere")
        shape = len(indptr) - 1, _number_of(file, "items")
        if len(indices) <= np.iinfo(indices.dtype).max:  # else SciPy widens the indices, too
            indptr = indptr.astype(indices.dtype)
    if light:
        sp.csr_array((ones, indices, indptr), shape=shape).sort_indices()  # in their place
        one = np.broadcast_to(np.float32(1), len(indices))
        matrix = sp.csr_array((one, indices, indptr), shape=shape)
        if matrix.has_canonical_format:
            return matrix
    matrix = sp.csr_array((ones.astype(np.float32), indices, indptr), shape=shape)
    matrix.sum_duplicates()
    return matrix


def read_all_interactions(path: str | Path) -> tuple[Ids, sp.csr_array]:
    """Raw ids of all users of a split, and all that they have, held-out items included."""
    with open_file(path, KIND) as file:
        users, weak = file.ids("users"), not isinstance(_read_protocol(file), Protocol)
        more = BESIDE in file
    pairs = [
        read_split_matrix(path, f"{part}/fold_in") + read_split_matrix(path, f"{part}/held_out")
        for part in (("test",) if weak else ("validation", "test"))
    ]
    if not weak:  # else the fold-in of the test holds the training rows
        pairs.insert(0, read_split_matrix(path, "train"))
    x = sp.vstack(pairs, "csr")
    return users, sp.csr_array(x + read_split_matrix(path, BESIDE) if more else x)


def read_split_facts(path: str | Path) -> tuple[Counts, AnyProtocol, dict[str, Any]]:
    """Counts, protocol and source of a split, read without its events."""
    with open_file(path, KIND) as file:
        return _read_counts(file), _read_protocol(file), file.source()


def read_treatment(path: str | Path) -> dict[str, Any]:
    """What a model remembers of its split, so that histories are read and treated alike.

    That is what the protocol does to rows, and the columns of the table, if it was made from one.
    """
    _, protocol, source = read_split_facts(path)
    known = {key: source[key] for key in source if key in ("user", "item", "rating")}
    known["repeats"] = protocol.repeats
    return known if protocol.min_rating is None else known | {"min_rating": protocol.min_rating}


def read_size(path: str | Path) -> Size:
    """Size of the data of a fit on a split, read without its events."""
    with open_file(path, KIND) as file:
        users, tested = (len(_users_of(file, part)) for part in ("train", "test/fold_in"))
        (entries,) = file.shape("train/indices")
        return Size(users, _number_of(file, "items"), entries, tested=tested)


def read_tested(path: str | Path) -> int:
    """Number of users of a split who have test items; metrics are means over these users."""
    with open_file(path, KIND) as file:
        indptr, _ = _read_rows(file, "test/held_out")
        return int(np.count_nonzero(np.diff(indptr)))


def read_split_sha256(path: str | Path) -> str:
    """Fingerprint of a split, which files made from it carry as well."""
    with open_file(path, KIND) as file:
        return str(file.attrs["split_sha256"])


def part_sha256(path: str | Path, part: str) -> str:
    """Fingerprint of one part that models are fitted to; that of `train` is the split's."""
    whole = read_split_sha256(path)
    return whole if part == "train" else hashlib.sha256(f"{whole} {part}".encode()).hexdigest()


def read_items(path: str | Path) -> Ids:
    """Raw item ids of a split, in the order of X's columns."""
    with open_file(path, KIND) as file:
        return file.ids("items")


def _read_counts(file: StoredFile) -> Counts:
    counts = Counts(*(int(file.attrs[field.name]) for field in fields(Counts)))
    file.require(counts.users == _number_of(file, "users"), "it counts other users than it holds")
    file.require(counts.items == _number_of(file, "items"), "it counts other items than it holds")
    return counts


def _number_of(file: StoredFile, ids: str) -> int:
    """Number of users or of items, whose ids are not read."""
    (number,) = file.shape(ids)
    return number


def _read_protocol(file: StoredFile) -> AnyProtocol:
    protocol = protocol_of(json.loads(file.attrs["protocol"]))
    enough = 2 * (protocol.heldout_users or 0) < _number_of(file, "users")
    file.require(enough, "it holds out more users than it has")
    return protocol


def _users_of(file: StoredFile, part: str) -> range:
    """Uids of the users of a part such as `test/fold_in`, or of all users."""
    protocol, stop = _read_protocol(file), _number_of(file, "users")
    if part == BESIDE:
        return range(stop)
    if not isinstance(protocol, Protocol):
        (ends,) = file.shape(f"{part}/indptr")
        file.require(0 < ends <= stop + 1, f"{part} has other users than it holds")
        return range(ends - 1)
    held = protocol.heldout_users
    first = {"train": 0, "validation": stop - 2 * held, "test": stop - held}[part.split("/")[0]]
    return range(first, first + held) if first else range(stop - 2 * held)


def _read_rows(file: StoredFile, part: str) -> tuple[Any, Any]:
    """CSR indptr and indices of a part, within their bounds."""
    indptr = file.array(f"{part}/indptr", "i", (len(_users_of(file, part)) + 1,))
    indices = file.array(f"{part}/indices", "i", (None,))
    file.require(divides(indptr, len(indices)), f"{part}/indptr does not divide the entries")
    inside = within(indices, _number_of(file, "items"))
    file.require(inside, f"{part}/indices leaves the list of items")
    return indptr, indices


def _write_events(group: h5py.Group, events: Events, users: range) -> None:
    """Write the events of one part as a CSR triple with their positions; `users` are its uids."""
    position, indptr = rows_by_user(events.uid, users.start, len(users))
    write_blocks(
        group, "data", len(events), np.int8, lambda part: np.ones(len(position[part]), np.int8)
    )
    write_blocks(group, "indices", len(events), np.int32, lambda part: events.sid[position[part]])
    write_array(group, "indptr", indptr)
    write_array(group, "position", position)


def _read_events(file: StoredFile, part: str) -> Events:
    """Events of one part in csv order."""
    indptr, indices = _read_rows(file, part)
    position = file.array(f"{part}/position", "i", (len(indices),))
    file.require(is_permutation(position), f"{part}/position is not a permutation")
    uid = np.empty(len(position), np.int32)
    sid = np.empty(len(position), np.int32)
    users = _users_of(file, part)
    rows = np.arange(users.start, users.stop, dtype=np.int32)
    uid[position] = np.repeat(rows, np.diff(indptr))
    sid[position] = indices
    return Events(uid, sid)


def _read_holdout(file: StoredFile, part: str) -> Holdout:
    """Fold-in and held-out events of validation or test users."""
    return Holdout(
        fold_in=_read_events(file, f"{part}/fold_in"),
        held_out=_read_events(file, f"{part}/held_out"),
    )
