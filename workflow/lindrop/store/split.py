"""Read and write split.h5: a dataset split into training, validation and test users.

users, items   str   raw ids by uid and by sid
train, validation/{fold_in,held_out}, test/{fold_in,held_out}: one CSR triple each
    data int8, indices int32, indptr int64   rows are users, columns are sids; entries of a row are
                                             in file order, repeated pairs are separate entries
    position int32                           line of each entry in the published csv (from 0)
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

from lindrop.data.interactions import Ids
from lindrop.data.split import Counts, Events, Holdout, Protocol, Split
from lindrop.store.hdf5 import Source, create_file, open_file, read_ids, write_array, write_ids

KIND = "split/1"


def write_split(path: str | Path, split: Split, source: Source) -> None:
    """Write a split; `source` describes the file or recipe that it comes from."""
    parts = [array for events in split.parts().values() for array in (events.uid, events.sid)]
    with create_file(path, KIND, source, [*parts, *parts, split.users, split.items]) as file:
        digest = hashlib.sha256()
        write_ids(file, "users", split.users)
        write_ids(file, "items", split.items)
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
    """Read a whole split, with the rows in the order of the published csv files."""
    with open_file(path, KIND) as file:
        users, items = read_ids(file, "users"), read_ids(file, "items")
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
    with open_file(path, KIND) as file:
        group = file[part]
        triple = (group["data"][:].astype(np.float32), group["indices"][:], group["indptr"][:])
        matrix = sp.csr_array(triple, shape=(len(triple[2]) - 1, len(file["items"])))
    matrix.sum_duplicates()
    return matrix


def read_split_facts(path: str | Path) -> tuple[Counts, Protocol, dict[str, Any]]:
    """Counts, protocol and source of a split, read without its events."""
    with open_file(path, KIND) as file:
        protocol = Protocol(**json.loads(file.attrs["protocol"]))
        return _read_counts(file), protocol, json.loads(file.attrs["source"])


def read_split_sha256(path: str | Path) -> str:
    """Fingerprint of a split, which files made from it carry as well."""
    with open_file(path, KIND) as file:
        return str(file.attrs["split_sha256"])


def read_items(path: str | Path) -> Ids:
    """Raw item ids of a split, in the order of X's columns."""
    with open_file(path, KIND) as file:
        return read_ids(file, "items")


def _read_counts(file: h5py.File) -> Counts:
    return Counts(*(int(file.attrs[field.name]) for field in fields(Counts)))


def _write_events(group: h5py.Group, events: Events, users: range) -> None:
    """Write the events of one part as a CSR triple with their positions; `users` are its uids."""
    row, line = events.uid - users.start, np.arange(len(events), dtype=np.int32)
    # one column per event: a linear-time, order-keeping sort by user
    by_user = sp.coo_array(
        (np.ones(len(events), np.int8), (row, line)), shape=(len(users), max(len(events), 1))
    ).tocsr()
    position = by_user.indices.astype(np.int32, copy=False)
    write_array(group, "data", by_user.data)
    write_array(group, "indices", events.sid[position])
    write_array(group, "indptr", by_user.indptr.astype(np.int64))
    write_array(group, "position", position)


def _read_events(group: h5py.Group, first_user: int) -> Events:
    """Events of one part in csv order; its first row is the uid `first_user`."""
    position, indptr = group["position"][:], group["indptr"][:]
    uid = np.empty(len(position), np.int32)
    sid = np.empty(len(position), np.int32)
    rows = np.arange(first_user, first_user + len(indptr) - 1, dtype=np.int32)
    uid[position] = np.repeat(rows, np.diff(indptr))
    sid[position] = group["indices"][:]
    return Events(uid, sid)


def _read_holdout(group: h5py.Group, first_user: int) -> Holdout:
    """Fold-in and held-out events of validation or test users."""
    return Holdout(
        fold_in=_read_events(group["fold_in"], first_user),
        held_out=_read_events(group["held_out"], first_user),
    )
