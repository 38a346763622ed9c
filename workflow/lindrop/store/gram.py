"""Read and write gram.h5: X'X of the training users, or of a shard of them.

triangle     float32[entries]   the values of a triangle (lindrop.linalg.triangle), contiguous
diagonal     float32[items]     copy of the diagonal, to check the matrix
attributes   dataset, split_sha256   the split that X belongs to
             first_user, last_user   the rows of X counted, from the first to the last inclusive
             users, items, nnz       numbers of rows, columns and entries of X in these rows

The matrix is not compressed: that takes longer to write and read than it saves on a local disk.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lindrop.base.arrays import Matrix
from lindrop.base.errors import UserError
from lindrop.base.memory import require_memory
from lindrop.linalg.gram import needed_bytes, require_exact
from lindrop.linalg.triangle import Triangle
from lindrop.store.hdf5 import StoredFile, create_file, open_file

KIND = "gram/2"
BLOCK = 1 << 24  # values written at once: HDF5 may need as much again to convert the type


@dataclass(frozen=True)
class Provenance:
    """Rows of X in a Gram matrix: training users first_user to last_user (inclusive) of a split."""

    dataset: str
    split_sha256: str
    first_user: int
    last_user: int
    nnz: int


@dataclass(frozen=True)
class GramCache:
    """A Gram matrix X'X, as a triangle, and its provenance."""

    triangle: Triangle
    provenance: Provenance

    @property
    def matrix(self) -> Matrix:
        """X'X, items × items, in new memory or in that of a triangle with room for it."""
        return self.triangle.square()


def write_gram(path: str | Path, gram: Triangle, provenance: Provenance) -> None:
    """Write a Gram matrix without a copy; UserError if float32 cannot hold its counts exactly."""
    gram_diagonal = gram.diagonal().astype(np.float32)
    require_exact(gram_diagonal)
    source = {"dataset": provenance.dataset, "split_sha256": provenance.split_sha256}
    with create_file(path, KIND, source, [gram.values, gram_diagonal]) as file:
        values = file.create_dataset("triangle", gram.values.shape, np.float32)
        for start in range(0, len(gram.values), BLOCK):
            values[start : start + BLOCK] = gram.values[start : start + BLOCK]
        file.create_dataset("diagonal", data=gram_diagonal)
        for name, value in asdict(provenance).items():
            file.attrs[name] = value
        file.attrs["users"] = provenance.last_user - provenance.first_user + 1
        file.attrs["items"] = gram.items


def read_gram(
    path: str | Path,
    expected_split_sha256: str | None = None,
    dtype: npt.DTypeLike = np.float32,
    expected_items: int | None = None,
    room: bool = False,
) -> GramCache:
    """Read a Gram matrix as `dtype` without a copy; UserError if the file is damaged.

    With `room`, there is memory for the square matrix, too, so that `matrix` takes no more.
    UserError, too, if it belongs to another split than `expected_split_sha256` or has another
    number of items than expected (None: any).
    """
    with _opened(path, expected_split_sha256) as (file, provenance):
        items = int(file.attrs["items"])
        file.require(expected_items in (None, items), f"it has {items} items, not {expected_items}")
        diagonal = file.finite("diagonal", (items,))
        needed = needed_bytes(items, itemsize=np.dtype(dtype).itemsize, room=room)
        require_memory(needed, f"reading {path} ({items:,} items)")
        triangle = Triangle.empty(items, dtype, room)
        file.read_into("triangle", triangle.values)
        file.require(
            np.array_equal(triangle.diagonal(), diagonal),
            "the diagonal of the matrix is not the one that was stored beside it",
        )
    return GramCache(triangle, provenance)


@contextmanager
def _opened(
    path: str | Path, expected_split_sha256: str | None
) -> Iterator[tuple[StoredFile, Provenance]]:
    """Open a gram.h5 and read its provenance; UserError if it belongs to another split."""
    with open_file(path, KIND) as file:
        provenance = Provenance(*(_plain(file.attrs[field.name]) for field in fields(Provenance)))
        if expected_split_sha256 not in (None, provenance.split_sha256):
            raise UserError(
                f"{path}: counts split {provenance.split_sha256[:12]} of {provenance.dataset}, not "
                f"the one asked for ({str(expected_split_sha256)[:12]}): delete it and run again; "
                f"{file.maker} makes it anew"
            )
        yield file, provenance


def add_shards(paths: Sequence[str], split_sha256: str, users: int) -> tuple[Triangle, Provenance]:
    """Sum of all shards and its provenance; UserError if the shards do not cover all `users`.

    The sum is exact for any number of shards. A shard is added block by block, so that only one
    whole matrix is in memory.
    """
    first = read_gram(paths[0], split_sha256)
    total, whole = first.triangle, first.provenance
    for path in paths[1:]:
        with _opened(path, split_sha256) as (file, provenance):
            _refuse_gap(path, provenance.first_user, whole.last_user + 1)
            file.read_into("triangle", total.values, add=True)
        nnz = whole.nnz + provenance.nnz
        whole = replace(whole, last_user=provenance.last_user, nnz=nnz)
    _refuse_gap(paths[0], whole.first_user, 0)
    _refuse_gap(paths[-1], whole.last_user + 1, users)
    return total, whole


def _refuse_gap(path: str, found: int, expected: int) -> None:
    """Raise UserError unless a shard begins, or the last one ends, at the expected user."""
    if found != expected:
        raise UserError(
            f"{path}: begins or ends at user {found} instead of {expected}: delete it and run "
            "again; the rule gram_shard makes it anew"
        )


def _plain(value: Any) -> Any:
    """The value as a Python number if it is a NumPy scalar."""
    return value.item() if isinstance(value, np.generic) else value
