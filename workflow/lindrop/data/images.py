"""Read published images with labels 0 to 9: MNIST (idx files) and CIFAR-10 (pickles in a tar)."""

import gzip
import io
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lindrop.base.errors import UserError
from lindrop.data.archives import GZIP_MAGIC, REMEDY, first_bytes, is_web_page, readable
from lindrop.data.tars import tar_members

Bytes = npt.NDArray[np.uint8]

UNSIGNED_BYTES = 0x08  # type of the entries, in the magic number of an idx file
SIDE = 28  # pixels of an MNIST image in each direction
CIFAR_SHAPE = 3, 32, 32  # colours, rows, columns
BATCHES = [f"data_batch_{number}" for number in range(1, 6)]
NO_NAME = r"(?!)"  # matches no name: the archive holds no nested tar
ARRAY_PARTS = {  # functions that the pickles name, and what replaces them in today's NumPy
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
}


def read_published(name: str, files: Mapping[str, Path]) -> tuple[Bytes, Bytes]:
    """Images and labels of a published set; `files` are the reader's arguments by name."""
    readers: dict[str, Callable[..., tuple[Bytes, Bytes]]] = {
        "mnist": read_mnist,
        "cifar10": read_cifar10,
    }
    return readers[name](**files)


def read_mnist(images: Path, labels: Path, first: int | None = None) -> tuple[Bytes, Bytes]:
    """N×28×28 grey levels and N labels from a pair of idx.gz files; only the `first` if given.

    Fashion-MNIST is published in the format of MNIST and can be read, too.
    """
    count, pixels = _read_idx(images, (SIDE, SIDE), first)
    labelled, digits = _read_idx(labels, (), first)
    if count != labelled:
        raise UserError(
            f"{labels}: {labelled} labels for the {count} images of {images}; "
            "give two files of the same set"
        )
    return _checked(labels, pixels, digits, first)


def read_cifar10(archive: Path, first: int | None = None) -> tuple[Bytes, Bytes]:
    """N×3×32×32 colours and N labels from training batches 1 to 5 of cifar-10-python.tar.gz."""
    _require_gzip(archive)
    batches = {}
    with readable(str(archive)), gzip.open(archive) as stream:
        for name, content in tar_members(stream, str(archive), r"data_batch_[1-5]", NO_NAME):
            batch = name.rpartition("/")[2]
            if batch in batches:
                raise UserError(f"{archive}: holds {batch} twice; is this cifar-10-python.tar.gz?")
            batches[batch] = _read_batch(name, content, first)
    if missing := [name for name in BATCHES if name not in batches]:
        raise UserError(f"{archive}: holds no {missing[0]}; is this cifar-10-python.tar.gz?")
    pixels, labels = (np.concatenate(part) for part in zip(*map(batches.get, BATCHES), strict=True))
    return _checked(archive, pixels[:first], labels[:first], first)


def _read_idx(path: Path, shape: tuple[int, ...], first: int | None) -> tuple[int, Bytes]:
    """Number of entries that an idx file states, and the entries (all, or the `first`)."""
    _require_gzip(path)
    magic = (UNSIGNED_BYTES << 8) + 1 + len(shape)
    with readable(str(path)), gzip.open(path) as stream:
        found, count = _read_numbers(stream, 2)
        if found != magic or _read_numbers(stream, len(shape)) != list(shape):
            described = f"images of {SIDE}×{SIDE} bytes" if shape else "labels"
            raise UserError(f"{path}: not an idx file of {described}; is this the right file?")
        taken = count if first is None else min(first, count)
        entries = np.frombuffer(_read_exactly(stream, taken * int(np.prod(shape))), np.uint8)
        if taken == count and stream.read(1):
            raise UserError(f"{path}: holds more than the {count} that it announces; {REMEDY}")
    return count, entries.reshape(taken, *shape)


def _read_numbers(stream: gzip.GzipFile, count: int) -> list[int]:
    """The next `count` big-endian 32-bit numbers of the stream."""
    numbers: list[int] = np.frombuffer(_read_exactly(stream, 4 * count), ">u4").tolist()
    return numbers


def _read_exactly(stream: gzip.GzipFile, size: int) -> bytearray:
    """The next `size` bytes; EOFError if there are fewer."""
    content = bytearray(stream.read(size))
    if len(content) < size:
        raise EOFError(f"{size - len(content)} bytes are missing")
    return content


def _read_batch(name: str, content: bytes, first: int | None) -> tuple[Bytes, Bytes]:
    """Images and labels of one pickled batch of CIFAR-10; only the `first` if given."""
    try:
        batch = _ArraysOnly(io.BytesIO(content), encoding="bytes").load()
        pixels, labels = batch[b"data"], np.array(batch[b"labels"])
        if (pixels.dtype, pixels.shape) != (np.uint8, (*labels.shape, np.prod(CIFAR_SHAPE))):
            raise ValueError(f"{pixels.dtype} of shape {pixels.shape}, {len(labels)} labels")
        if len(wrong := labels[~np.isin(labels, range(10))]):
            raise ValueError(f"label {wrong[0]}, not 0 to 9")
        images = pixels.reshape(-1, *CIFAR_SHAPE)
        return images[:first], labels[:first].astype(np.uint8)
    except Exception as error:  # a damaged pickle can raise anything
        raise UserError(f"{name}: not a batch of CIFAR-10 ({error}); {REMEDY}") from error


class _ArraysOnly(pickle.Unpickler):
    """Unpickler that refuses all but NumPy arrays, since a pickle can run any function it names."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ARRAY_PARTS:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return ARRAY_PARTS[module, name]


def _require_gzip(path: Path) -> None:
    """Raise UserError if the file is not gzipped."""
    head = first_bytes(path)
    if is_web_page(head):
        raise UserError(f"{path}: a web page, not the file; download it anew and rerun")
    if not head.startswith(GZIP_MAGIC):
        raise UserError(f"{path}: not packed with gzip; give the file as published")


def _checked(path: Path, images: Bytes, labels: Bytes, first: int | None) -> tuple[Bytes, Bytes]:
    """The images and labels, if they are at least `first` and the labels are 0 to 9."""
    if first is not None and len(images) < first:
        raise UserError(f"{path}: {first} images asked for, {len(images)} are there; ask for fewer")
    if labels.max(initial=0) > 9:
        raise UserError(f"{path}: label {labels.max()}, not 0 to 9; is this the right file?")
    return images, labels
