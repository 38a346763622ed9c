"""Functions shared by the readers and writers of all HDF5 files."""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from lindrop.base.atomic import atomic
from lindrop.base.errors import Damaged, UserError
from lindrop.base.parallel import over_blocks
from lindrop.data.interactions import Ids, are_numbers
from lindrop.store.left_out import require_result
from lindrop.store.seal import (
    LARGE_BYTES,
    SEAL_BYTES,
    Broken,
    LargeArray,
    check_seal,
    map_large,
    read_large,
    seal,
)

CHUNK = 1 << 18  # entries of a compressed chunk
SPARE_BYTES = 1 << 16  # allowance for HDF5's own structures and the seal
COMPRESSED = {"compression": "lzf", "shuffle": True}
MAKERS = {  # what makes a file of each kind anew
    "interactions": "the rule read_interactions (or generate_interactions)",
    "split": "the rule split",
    "gram": "the rule gram",
    "spectrum": "the rule spectrum",
    "model": "the rule fit (or fit_deep)",
    "columns": "the rule model_shard",
    "metrics": "the rule fit (or fit_deep)",
    "images": "the rule read_images",
    "image set": "the rule pretorius2018_images",
    "training": "the rule pretorius2018_train",
}

Source = Mapping[str, Any]
Shape = tuple[int | None, ...]


def maker_of(kind: str) -> str:
    """What makes a file of a kind such as `gram/2`, for messages."""
    return MAKERS[kind.partition("/")[0]]


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
    with atomic(path) as partial:
        with h5py.File(partial, "w", userblock_size=SEAL_BYTES) as file:
            file.attrs["lindrop_file"] = kind
            file.attrs["source"] = json.dumps(dict(source), sort_keys=True)
            yield file
        seal_file(partial)


def seal_file(path: str | Path) -> None:
    """Write the checksums of a file into it, as `create_file` does at its end."""
    large: dict[str, tuple[int, int]] = {}

    def add(name: str, entry: Any) -> None:
        if isinstance(entry, h5py.Dataset) and entry.dtype.kind in "fiu":
            first, size = entry.id.get_offset(), entry.id.get_storage_size()
            if first is not None and size >= LARGE_BYTES:  # only a contiguous array has an offset
                large[name] = first, size

    with h5py.File(path, "r") as file:
        file.visititems(add)
    seal(Path(path), large)


def _bytes_on_disk(array: npt.NDArray[Any]) -> int:
    """Upper bound of an array's bytes in a file, uncompressed; each text also needs a reference."""
    if array.dtype == object:
        return sum(4 * len(text) + 24 for text in array)
    return array.nbytes


class StoredFile:
    """An open file that agrees with its seal; what is read from it is checked for its form."""

    def __init__(
        self, path: Path, file: h5py.File, large: Mapping[str, LargeArray], maker: str
    ) -> None:
        self.path, self.attrs, self.maker = path, file.attrs, maker
        self._file, self._large = file, large

    def __contains__(self, name: str) -> bool:
        return name in self._file

    def names(self) -> list[str]:
        """Names of the arrays and groups at the top of the file."""
        return list(self._file)

    def attributes_of(self, name: str) -> Any:
        """Attributes of an array or group."""
        return self._file[name].attrs

    def source(self) -> dict[str, Any]:
        """What the content comes from, as given to `create_file`."""
        source: dict[str, Any] = json.loads(self.attrs["source"])
        self.require(isinstance(source, dict), "its source is not a mapping")
        return source

    def damaged(self, problem: str) -> Damaged:
        """The error that says that this file is damaged."""
        return Damaged(self.path, problem, self.maker)

    def require(self, holds: object, problem: str) -> None:
        """Raise Damaged unless something holds."""
        if not holds:
            raise self.damaged(problem)

    def array(self, name: str, kinds: str, shape: Shape, first: int | None = None) -> Any:
        """Array of one of NumPy's `kinds` of types and of this shape (None: any length).

        Of an array that is not large, only the `first` rows are read if given.
        """
        dataset = self._dataset(name, kinds, shape)
        if name not in self._large:
            return dataset[()] if first is None else dataset[:first]
        out = np.empty(dataset.shape, dataset.dtype)
        self._read_large(name, dataset, out, add=False)
        return out

    def read_into(self, name: str, out: npt.NDArray[Any], add: bool = False) -> None:
        """Read floats of the shape of `out` into it, or add them, in its type, without a copy."""
        dataset = self._dataset(name, "f", out.shape)
        if name in self._large:
            self._read_large(name, dataset, out, add)
        elif add:
            out += dataset[()]
        elif out.size:
            dataset.read_direct(out)

    def finite(self, name: str, shape: Shape) -> Any:
        """Array of finite floating-point numbers of this shape (None: any length).

        A large one is not copied from where the system keeps the file.
        """
        dataset = self._dataset(name, "f", shape)
        if name in self._large and dataset.id.get_offset() % dataset.dtype.alignment == 0:
            return self._mapped(name, dataset)
        values = self.array(name, "f", shape)
        flat = values.reshape(-1)

        def block(start: int, stop: int) -> None:
            self._require_finite(name, flat[start:stop])

        over_blocks(block, flat.size, CHUNK)
        return values

    def _mapped(self, name: str, dataset: h5py.Dataset) -> Any:
        """Large array of finite numbers as a view of the file."""

        def check(start: int, block: npt.NDArray[np.uint8]) -> None:
            self._require_finite(name, block.view(dataset.dtype))

        try:
            data = map_large(self.path, self._entry(name, dataset), check)
        except Broken as error:
            raise self.damaged(f"{name}: {error}") from None
        return data.view(dataset.dtype).reshape(dataset.shape)

    def _require_finite(self, name: str, values: npt.NDArray[Any]) -> None:
        self.require(np.isfinite(values).all(), f"{name} is not finite")

    def ids(self, name: str) -> Ids:
        """Raw ids, each of which occurs once, as an array of strings or of integers."""
        dataset = self._dataset(name, "Oi", (None,))
        if dataset.dtype.kind == "i":
            numbers: Ids = self.array(name, "i", (None,))
            ordered = np.sort(numbers)
            self.require((ordered[1:] > ordered[:-1]).all(), f"{name} holds an id twice")
            return numbers
        self.require(h5py.check_string_dtype(dataset.dtype), f"{name} holds no text")
        ids: Ids = dataset.asstr()[:]
        self.require(len(set(ids)) == len(ids), f"{name} holds an id twice")
        return ids

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of an array, which is not read."""
        shape: tuple[int, ...] = self._file[name].shape
        return shape

    def is_text(self, name: str) -> bool:
        """Whether an array holds texts."""
        return bool(self._file[name].dtype.kind == "O")

    def _dataset(self, name: str, kinds: str, shape: Shape) -> h5py.Dataset:
        dataset = self._file.get(name)
        self.require(isinstance(dataset, h5py.Dataset), f"{name} is absent")
        found = dataset.shape
        fits = len(found) == len(shape) and all(
            wanted in (None, length) for wanted, length in zip(shape, found, strict=True)
        )
        asked = ", ".join("any" if length is None else str(length) for length in shape)
        self.require(fits, f"{name} is {found}, not ({asked}{',' * (len(shape) == 1)})")
        self.require(dataset.dtype.kind in kinds, f"{name} is of type {dataset.dtype}")
        return dataset

    def _read_large(
        self, name: str, dataset: h5py.Dataset, out: npt.NDArray[Any], add: bool
    ) -> None:
        try:
            read_large(self.path, self._entry(name, dataset), dataset.dtype, out, add)
        except Broken as error:
            raise self.damaged(f"{name}: {error}") from None

    def _entry(self, name: str, dataset: h5py.Dataset) -> LargeArray:
        """Place and checksum of a large array."""
        entry = self._large[name]
        place = dataset.id.get_offset(), dataset.nbytes
        self.require(place == entry[:2], f"{name} is not where its checksum says")
        return entry


@contextmanager
def open_file(path: str | Path, kind: str) -> Iterator[StoredFile]:
    """Open a file for reading; UserError if it is damaged, of another kind, or left out."""
    path = Path(path)
    maker = maker_of(kind)
    require_result(path)
    large = check_seal(path, maker)
    try:
        with h5py.File(path, "r") as file:
            found = file.attrs.get("lindrop_file", "a foreign file")
            if found != kind:
                raise UserError(
                    f"{path}: expected {kind}, found {found}: give the right file or, if it is one "
                    f"of the results, delete it and run again; {maker} makes it anew"
                )
            yield StoredFile(path, file, large, maker)
    # the checksums agree, so the file was written like this: by other code or by hand
    except (KeyError, ValueError, TypeError, AttributeError, IndexError, OSError) as error:
        problem = str(error.args[0] if error.args else type(error).__name__)
        raise Damaged(path, problem, maker) from error


def write_array(group: h5py.Group, name: str, values: npt.NDArray[Any]) -> None:
    """Write a compressed one-dimensional dataset."""
    options = {"chunks": (min(CHUNK, len(values)),), **COMPRESSED} if len(values) else {}
    group.create_dataset(name, data=values, **options)


def write_blocks(
    group: h5py.Group,
    name: str,
    length: int,
    dtype: npt.DTypeLike,
    values: Callable[[slice], npt.NDArray[Any]],
) -> None:
    """Write a compressed one-dimensional dataset, of which `values(part)` makes one part at a time.

    The file is the same, to the last byte, as one written by `write_array`.
    """
    chunk = min(CHUNK, length)
    dataset = group.create_dataset(
        name, (length,), dtype, **({"chunks": (chunk,), **COMPRESSED} if length else {})
    )
    for start in range(0, length, max(chunk, 1)):
        part = slice(start, min(start + chunk, length))
        dataset[part] = values(part)


def write_ids(group: h5py.Group, name: str, ids: Ids) -> None:
    """Write raw ids as UTF-8 strings, or as the integers that they are kept as."""
    if are_numbers(ids):
        write_array(group, name, ids)
        return
    group.create_dataset(name, data=ids, dtype=h5py.string_dtype("utf-8"))
