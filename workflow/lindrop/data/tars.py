"""Read a tar from front to back and refuse it if it is damaged or cut short.

Python's tarfile stops without an error at a cut or damaged header, and a gzip checksum is checked
only at the end of the stream. Therefore the stream is read to its end, and the last member must be
followed by zeros only, as the format requires.
"""

import gzip
import re
import tarfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from lindrop.base.errors import UserError
from lindrop.data.archives import GZIP_MAGIC, HEAD_BYTES, REMEDY, first_bytes, is_tar, readable

END_BYTES = 1024  # the two blocks of zeros that end a tar
DRAIN_BYTES = 1 << 20
MOST_NESTED = 3  # tars inside each other; the published ones have two


class Watched:
    """A stream that records its length and the end of its last byte other than zero."""

    def __init__(self, stream: Any):
        self.stream, self.size, self.content_end = stream, 0, 0

    def read(self, size: int) -> bytes:
        data: bytes = self.stream.read(size)
        if content := len(data.rstrip(b"\0")):
            self.content_end = self.size + content
        self.size += len(data)
        return data


def opener(path: Path) -> Callable[[Path], Any]:
    """Function that opens the file for reading, decompressed if it is gzipped."""
    packed = first_bytes(path).startswith(GZIP_MAGIC)
    return gzip.open if packed else partial(Path.open, mode="rb")


def is_tar_file(path: Path) -> bool:
    """Whether the path is a tar file, gzipped or not."""
    if not path.is_file():
        return False
    with readable(str(path)), opener(path)(path) as stream:
        return is_tar(stream.read(HEAD_BYTES))


def tar_members(
    stream: Any, where: str, wanted: str, nested: str, level: int = 1
) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the files in a tar whose name matches `wanted`.

    Tar files inside it whose name matches `nested` are read, too. Both are regular expressions.
    A link or a sparse file of such a name holds its content elsewhere or not at all: it is refused.
    """
    if level > MOST_NESTED:
        raise UserError(f"{where}: more than {MOST_NESTED} archives inside each other; {REMEDY}")
    watched: Any = Watched(stream)
    try:
        with tarfile.open(fileobj=watched, mode="r|") as archive:
            for info in archive:
                name = info.name.rpartition("/")[2]
                if info.isdir() or not re.fullmatch(f"{wanted}|{nested}", name):
                    continue
                if not info.isfile() or info.issparse():
                    kind = "a sparse file" if info.issparse() else "a link or a device"
                    raise UserError(
                        f"{where}: {info.name} is {kind}, not a plain file; unpack the archive and "
                        "set `path` to the folder"
                    )
                inside: Any = archive.extractfile(info)
                if re.fullmatch(wanted, name):
                    yield f"{where}: {info.name}", inside.read()
                else:
                    below = f"{where}: {info.name}"
                    yield from tar_members(inside, below, wanted, nested, level + 1)
    except (tarfile.TarError, ValueError, OverflowError) as error:  # ValueError: a broken number
        raise _damaged(where) from error
    while watched.read(DRAIN_BYTES):
        pass
    if watched.content_end > archive.offset or watched.size < archive.offset + END_BYTES:
        raise _damaged(where)


def _damaged(where: str) -> UserError:
    return UserError(f"{where}: the archive is damaged or cut short; {REMEDY}")
