"""The seal of an HDF5 file: checksums that are compared before HDF5 reads the file.

bytes 0 to 4087      JSON, filled up with spaces; HDF5 leaves the first 4,096 bytes to us
  bytes              size of the file
  crc32              CRC-32 of everything behind the seal but the large arrays
  arrays             of each large array by name: first byte, number of bytes, checksum
bytes 4088 to 4095   CRC-32 of the bytes before it, as eight hexadecimal digits
byte 4096 and on     the HDF5 file

HDF5 may hang or crash on damaged structures, so all of them are checked first. A large array is
checked while it is read or mapped, in threads, so that it is read only once. The CRC-32 needs no
library but Python's, and so does reading a file without large arrays.
"""

import json
import mmap
import os
import time
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lindrop.base.errors import Damaged, UserError
from lindrop.base.parallel import map_blocks

SEAL_BYTES = 4096
CRC_DIGITS = 8
LARGE_BYTES = 1 << 23  # from this size on, an array has a checksum of its own
BLOCK_BYTES = 1 << 19  # read at once; it stays in the cache for the checksum
SPAN_BYTES = 1 << 24  # read by a thread block by block
MARK = b'{"lindrop_seal": 1, '
HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
SETTLED_NS = 2_000_000_000  # a file changed later than this before it is checked is not remembered

Use = Callable[[int, npt.NDArray[np.uint8]], None]

_intact: dict[Path, tuple[int, ...]] = {}  # files checked by this process, and their state then


class LargeArray(NamedTuple):
    """Where the values of an array lie in a file, and their checksum."""

    first: int
    bytes: int
    checksum: str


class Broken(Exception):
    """A file or an array does not agree with its seal; the message says how."""


def is_stored(path: Path) -> bool:
    """Whether a file begins like one of lindrop's, damaged or not."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MARK)) == MARK


def seal(path: Path, arrays: Mapping[str, tuple[int, int]]) -> None:
    """Write the seal of a complete file; `arrays` holds first byte and size of large arrays."""
    with path.open("rb+", buffering=0) as file:
        large = {
            name: LargeArray(first, size, _checksum_of(file.fileno(), first, size))
            for name, (first, size) in sorted(arrays.items())
        }
        size = os.fstat(file.fileno()).st_size
        facts = {"bytes": size, "crc32": _crc_of_rest(file, size, large), "arrays": large}
        text = MARK + json.dumps(facts).encode()[1:]
        head = text.ljust(SEAL_BYTES - CRC_DIGITS)
        if len(head) + CRC_DIGITS != SEAL_BYTES:
            raise ValueError(f"{path}: {len(arrays)} large arrays are too many for the seal")
        file.seek(0)
        file.write(head + _crc_text(head))


def check_seal(path: Path, maker: str) -> dict[str, LargeArray]:
    """Large arrays of a file, whose checksums are still to be compared, after everything else.

    UserError if the file is not lindrop's, Damaged if it is and anything but the content of the
    large arrays changed. A file that this process has found intact is read again only if its size,
    inode or time of change differ.
    """
    try:
        with path.open("rb", buffering=0) as file:
            head = file.read(SEAL_BYTES)
            if not (head.startswith(MARK) or file.read(8) == HDF5_SIGNATURE):
                foreign = "made by an older version of lindrop, or not a file of lindrop"
                raise UserError(
                    f"{path}: {foreign}: give the right file or, if it is one of the results, "
                    f"delete it and run again; {maker} makes it anew"
                )
            return _checked(path, file, head)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; {maker} makes it") from None
    except IsADirectoryError:
        raise UserError(f"{path}: a folder, not a file; {maker} makes the file") from None
    except Broken as error:
        raise Damaged(path, str(error), maker) from None


def _checked(path: Path, file: IO[bytes], head: bytes) -> dict[str, LargeArray]:
    """Large arrays of an open file whose seal is `head`; Broken if it is damaged."""
    text, crc = head[:-CRC_DIGITS], head[-CRC_DIGITS:]
    if len(head) < SEAL_BYTES:
        raise Broken("it is cut short")
    if _crc_text(text) != crc:
        raise Broken("the checksum of its first bytes differs")
    facts: Any = json.loads(text)
    found = os.fstat(file.fileno())
    if found.st_size != facts["bytes"]:
        raise Broken(f"it has {found.st_size:,} bytes instead of {facts['bytes']:,}")
    large = {name: LargeArray(*entry) for name, entry in facts["arrays"].items()}
    state = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    if _intact.get(path) != state:
        if _crc_of_rest(file, found.st_size, large) != facts["crc32"]:
            raise Broken("its checksum differs")
        # a change within the clock's resolution would leave the time of change as it is
        if time.time_ns() - max(found.st_mtime_ns, found.st_ctime_ns) > SETTLED_NS:
            _intact[path] = state
    return large


def read_large(
    path: Path, entry: LargeArray, stored: npt.DTypeLike, out: npt.NDArray[Any], add: bool = False
) -> None:
    """Write a large array into `out`, or add it, converted to the type of `out`, without a copy.

    Broken if its checksum differs; `out` is then useless.
    """
    if not out.flags.c_contiguous:  # else reshape(-1) would copy
        raise ValueError("only a contiguous array can be read into")
    values, stored = out.reshape(-1), np.dtype(stored)
    scratch = None if stored == out.dtype and not add else stored

    def use(start: int, read: npt.NDArray[np.uint8]) -> None:
        part = values[start // stored.itemsize :][: len(read) // stored.itemsize]
        if add:
            part += read.view(stored)
        elif scratch:
            part[:] = read.view(stored)

    with path.open("rb", buffering=0) as file:
        target = None if scratch else values.view(np.uint8)
        found = _checksum_of(file.fileno(), entry.first, entry.bytes, target, use)
    if found != entry.checksum:
        raise Broken("its checksum differs")


def map_large(path: Path, entry: LargeArray, use: Use) -> npt.NDArray[np.uint8]:
    """Bytes of a large array where the system keeps the file, instead of a copy in this process.

    use(start, bytes) is called for every block. All processes that map a file share its memory;
    what one of them writes to the array, it alone sees. Broken if the checksum differs.
    """
    with path.open("rb") as file:
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    if len(whole) < entry.first + entry.bytes:
        raise Broken("it is cut short")
    data = np.frombuffer(whole, np.uint8, entry.bytes, entry.first)
    if _checksum(entry.bytes, lambda start, stop, _: data[start:stop], use) != entry.checksum:
        raise Broken("its checksum differs")
    return data


def _checksum_of(
    file: int,
    first: int,
    size: int,
    target: npt.NDArray[np.uint8] | None = None,
    use: Use | None = None,
) -> str:
    """Checksum of a range of a file, read by threads, whose bytes are written into `target`.

    Without a target, use(start, bytes) is called for every block that was read.
    """

    def read(start: int, stop: int, scratch: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        data = scratch[: stop - start] if target is None else target[start:stop]
        _fill(file, first + start, data)
        return data

    return _checksum(size, read, use if target is None else None)


def _checksum(
    size: int,
    read: Callable[[int, int, npt.NDArray[np.uint8]], npt.NDArray[np.uint8]],
    use: Use | None,
) -> str:
    """Checksum of bytes, of which threads get blocks by read(start, stop, buffer for them)."""
    # Numba, which files without large arrays do not need
    from lindrop.store.checksum import fold, new_lanes, result, take

    def span(start: int, stop: int) -> int:
        lanes = new_lanes()
        scratch = np.empty(min(BLOCK_BYTES, stop - start), np.uint8)
        for block in range(start, stop, BLOCK_BYTES):
            data = read(block, min(block + BLOCK_BYTES, stop), scratch)
            take(data, lanes)
            if use:
                use(block, data)
        return result(lanes, stop - start)

    spans = np.fromiter(map_blocks(span, size, SPAN_BYTES), np.uint64)
    return f"{fold(spans, size):016x}"


def _fill(file: int, first: int, data: npt.NDArray[np.uint8]) -> None:
    """Fill `data` with the bytes of a file from the byte `first` on."""
    left = data.data
    while left:
        done = os.preadv(file, [left], first)
        if not done:
            raise Broken("it is cut short")
        left, first = left[done:], first + done


def _crc_of_rest(file: IO[bytes], size: int, large: Mapping[str, LargeArray]) -> str:
    """CRC-32 of all bytes of a file behind its seal but those of the large arrays."""
    crc, position = 0, SEAL_BYTES
    buffer = memoryview(bytearray(BLOCK_BYTES))
    for stop, following in (
        *sorted((entry.first, entry.first + entry.bytes) for entry in large.values()),
        (size, size),
    ):
        file.seek(position)
        while position < stop:
            done = file.readinto(buffer[: stop - position])  # type: ignore[attr-defined]
            if not done:
                raise Broken("it is cut short")
            crc = zlib.crc32(buffer[:done], crc)
            position += done
        position = following
    return f"{crc:08x}"


def _crc_text(data: bytes) -> bytes:
    return f"{zlib.crc32(data):08x}".encode()
