"""Read and write gram.h5: X'X of the training users, or of a shard of them.

gram         float32[items, items]   both triangles, contiguous
diagonal     float32[items]          copy of the diagonal, to check the matrix
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
from lindrop.store.hdf5 import StoredFile, create_file, open_file

KIND = "gram/1"
BLOCK_BYTES = 64 << 20  # moved at once: HDF5 may need as much again to convert the type


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
    """A Gram matrix X'X (items × items), its diagonal and its provenance."""

    matrix: Matrix
    diagonal: npt.NDArray[np.float32]
    provenance: Provenance


def write_gram(path: str | Path, gram: Matrix, provenance: Provenance) -> None:
    """Write a Gram matrix without a copy; UserError if float32 cannot hold its counts exactly."""
    items = len(gram)
    if gram.shape != (items, items):
        raise ValueError(f"a Gram matrix is square, this is {gram.shape}")
    gram_diagonal = gram.diagonal().astype(np.float32)
    require_exact(gram_diagonal)
    source = {"dataset": provenance.dataset, "split_sha256": provenance.split_sha256}
    with create_file(path, KIND, source, [gram, gram_diagonal]) as file:
        matrix = file.create_dataset("gram", gram.shape, np.float32)
        for rows in _row_blocks(items):
            matrix[rows] = gram[rows]
        file.create_dataset("diagonal", data=gram_diagonal)
        for name, value in asdict(provenance).items():
            file.attrs[name] = value
        file.attrs["users"] = provenance.last_user - provenance.first_user + 1
        file.attrs["items"] = items


def read_gram(
    path: str | Path,
    expected_split_sha256: str | None = None,
    dtype: npt.DTypeLike = np.float32,
    expected_items: int | None = None,
) -> GramCache:
    """Read a Gram matrix as `dtype` without a copy; UserError if the file is damaged.

    UserError, too, if it belongs to another split than `expected_split_sha256` or has another
    number of items than expected (None: any).
    """
    with _opened(path, expected_split_sha256) as (file, provenance):
        items = int(file.attrs["items"])
        file.require(expected_items in (None, items), f"it has {items} items, not {expected_items}")
        diagonal = file.finite("diagonal", (items,))
        matrix_bytes = needed_bytes(items, itemsize=np.dtype(dtype).itemsize)
        require_memory(matrix_bytes, f"reading {path} ({items:,} items)")
        matrix = np.empty((items, items), dtype)
        file.read_into("gram", matrix)
        file.require(
            np.array_equal(matrix.diagonal(), diagonal),
            "the diagonal of the matrix is not the one that was stored beside it",
        )
    return GramCache(matrix, diagonal, provenance)


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


def add_shards(paths: Sequence[str], split_sha256: str, users: int) -> tuple[Matrix, Provenance]:
    """Sum of all shards and its provenance; UserError if the shards do not cover all `users`.

    The sum is exact for any number of shards. A shard is added block by block, so that only one
    whole matrix is in memory.
    """
    first = read_gram(paths[0], split_sha256)
    total, whole = first.matrix, first.provenance
    for path in paths[1:]:
        with _opened(path, split_sha256) as (file, provenance):
            _refuse_gap(path, provenance.first_user, whole.last_user + 1)
            file.read_into("gram", total, add=True)
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


def _row_blocks(items: int) -> Iterator[slice]:
    """Slices of rows whose float32 values take at most BLOCK_BYTES."""
    step = max(1, BLOCK_BYTES // (4 * max(items, 1)))
    return (slice(start, min(start + step, items)) for start in range(0, items, step))
