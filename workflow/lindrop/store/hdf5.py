"""Functions shared by the readers and writers of all HDF5 files."""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy.typing as npt

from lindrop.base.atomic import atomic
from lindrop.base.errors import UserError
from lindrop.data.interactions import Ids

CHUNK = 1 << 18  # entries of a compressed chunk
SPARE_BYTES = 1 << 16  # allowance for HDF5's own structures
COMPRESSED = {"compression": "lzf", "shuffle": True}

Source = Mapping[str, Any]


@contextmanager
def create_file(
    path: str | Path, kind: str, source: Source, arrays: Iterable[npt.NDArray[Any]]
) -> Iterator[h5py.File]:
    """Create a file for data of the size of `arrays`; UserError if the disk has too little space.

    The space is checked first because HDF5 loops, and crashes at exit, when the disk fills up.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    needed = SPARE_BYTES + sum(_bytes_on_disk(array) for array in arrays)
    free = shutil.disk_usage(path.parent).free
    if needed > free:
        raise UserError(
            f"disk full: {path} may need {needed / 1e6:,.1f} MB, {free / 1e6:,.1f} MB are free; "
            "free some space and rerun"
        )
    with atomic(path) as partial, h5py.File(partial, "w") as file:
        file.attrs["lindrop_file"] = kind
        file.attrs["source"] = json.dumps(dict(source), sort_keys=True)
        yield file


def _bytes_on_disk(array: npt.NDArray[Any]) -> int:
    """Upper bound of an array's bytes in a file, uncompressed; each text also needs a reference."""
    if array.dtype == object:
        return sum(4 * len(text) + 24 for text in array)
    return array.nbytes


@contextmanager
def open_file(path: str | Path, kind: str) -> Iterator[h5py.File]:
    """Open a file for reading; UserError if it is not of the expected kind and version."""
    if not Path(path).exists():
        raise UserError(f"{path}: no such file")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise UserError(
            f"{path}: not a readable HDF5 file ({error}); if it is one of the results, delete it "
            "and rerun"
        ) from error
    with file:
        found = file.attrs.get("lindrop_file", "a foreign file")
        if found != kind:
            raise UserError(
                f"{path}: expected {kind}, found {found}; give the right file or, if lindrop wrote "
                "this one, delete it and rerun"
            )
        try:
            yield file
        except KeyError as error:
            raise UserError(f"{path}: damaged ({error.args[0]}); delete it and rerun") from error


def write_array(group: h5py.Group, name: str, values: npt.NDArray[Any]) -> None:
    """Write a compressed one-dimensional dataset."""
    options = {"chunks": (min(CHUNK, len(values)),), **COMPRESSED} if len(values) else {}
    group.create_dataset(name, data=values, **options)


def write_ids(group: h5py.Group, name: str, ids: Ids) -> None:
    """Write raw ids as UTF-8 strings."""
    group.create_dataset(name, data=ids, dtype=h5py.string_dtype("utf-8"))


def read_ids(group: h5py.Group, name: str) -> Ids:
    """Read raw ids as an array of strings."""
    ids: Ids = group[name].asstr()[:]
    return ids
