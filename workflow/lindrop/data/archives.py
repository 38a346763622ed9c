"""Open the ratings inside whatever holds them: a zip, a gzip, a folder or the plain file."""

import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lindrop.base.errors import UserError
from lindrop.base.reporting import Progress, logger

GZIP_MAGIC = b"\x1f\x8b"
NOT_TEXT = {
    b"PAR1": "a parquet file; set `format: parquet`",
    b"\xff\xfe": "UTF-16 text; convert it to UTF-8",
    b"\xfe\xff": "UTF-16 text; convert it to UTF-8",
    b"\x89HDF": "an HDF5 file, not a text",
}
UNSUPPORTED = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"(\xb5/\xfd": "zstd", b"7z\xbc\xaf": "7-zip"}
HEAD_BYTES = 512  # enough to tell what a file is
TAR_MAGIC = b"ustar"
TAR_MAGIC_AT = 257
ENCRYPTED = 0x1  # flag bit of a zip member
REMEDY = "replace it by a good copy, or delete it if lindrop downloaded it, and rerun"
DAMAGED = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, gzip.BadGzipFile)


@dataclass(frozen=True)
class Member:
    """One readable text: its name for messages, its uncompressed size if known, how to open it."""

    name: str
    size: int | None
    open: Callable[[], Any]


def members(path: Path, wanted: str, described: str) -> list[Member]:
    """The texts in `path` whose file name matches the regular expression `wanted`, by name.

    A plain or gzipped file is taken whatever its name: the user pointed at it. `described` is
    `wanted` for people.
    """
    if path.is_dir():
        below = (file for file in sorted(path.rglob("*")) if file.is_file())
        files = [file for file in below if _is_wanted(file.name, wanted)]
        found = [Member(str(f), f.stat().st_size, partial(f.open, "rb")) for f in files]
    elif zipfile.is_zipfile(path):
        with readable(str(path)):
            found = _zip_members(path, wanted)
    else:
        found = [_single(path)]
    if not found:
        raise UserError(f"{path}: holds no file named {described}; is this the right archive?")
    return found


def only_member(path: Path, wanted: str, described: str) -> Member:
    """The one text of `members`; several are refused, since the first is a guess."""
    found = members(path, wanted, described)
    if len(found) > 1:
        names = ", ".join(member.name for member in found[:5]) + (", …" if found[5:] else "")
        raise UserError(f"{path}: holds {len(found)} such files; set `path` to one of {names}")
    logger.info("reading %s", found[0].name)
    return found[0]


def _is_wanted(name: str, wanted: str) -> bool:
    """By the last part of the name; `._x` is what macOS adds beside every x."""
    last = name.rpartition("/")[2]
    return not last.startswith("._") and bool(re.fullmatch(wanted, last, re.IGNORECASE))


def _zip_members(path: Path, wanted: str) -> list[Member]:
    def opener(info: zipfile.ZipInfo) -> Callable[[], Any]:
        return lambda: zipfile.ZipFile(path).open(info)

    with zipfile.ZipFile(path) as archive:
        infos = sorted(archive.infolist(), key=lambda info: info.filename)
    found = [info for info in infos if not info.is_dir() and _is_wanted(info.filename, wanted)]
    for info in found:
        if info.flag_bits & ENCRYPTED:
            raise UserError(
                f"{path}: {info.filename} is encrypted; unpack it and set `path` to what comes out"
            )
    return [Member(f"{path}: {info.filename}", info.file_size, opener(info)) for info in found]


def _single(path: Path) -> Member:
    head = first_bytes(path)
    if not head:
        raise UserError(f"{path}: the file is empty")
    if is_web_page(head):
        raise UserError(f"{path}: a web page, not the file; download it anew and rerun")
    if head.startswith(b"PK"):
        raise UserError(f"{path}: the zip archive is damaged or cut short; {REMEDY}")
    unsupported = [name for magic, name in UNSUPPORTED.items() if head.startswith(magic)]
    if head.startswith(GZIP_MAGIC):
        with readable(str(path)), gzip.open(path) as stream:
            head = stream.read(HEAD_BYTES)
    if is_tar(head):
        unsupported = ["tar"]
    for magic, name in NOT_TEXT.items():
        if head.startswith(magic):
            raise UserError(f"{path}: {name}")
    if unsupported:
        raise UserError(
            f"{path}: {unsupported[0]} archives of this format are not read; unpack it and set "
            "`path` to the file from inside it"
        )
    if first_bytes(path).startswith(GZIP_MAGIC):
        return Member(str(path), None, partial(gzip.open, path))
    return Member(str(path), path.stat().st_size, partial(path.open, "rb"))


def is_web_page(head: bytes) -> bool:
    """Told by the first bytes: what a server sends instead of a file that it does not have."""
    return head.lstrip().lower().startswith((b"<!doctype html", b"<html"))


def is_tar(head: bytes) -> bool:
    """Told by the first bytes, decompressed."""
    return head[TAR_MAGIC_AT:].startswith(TAR_MAGIC)


def first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Turn the many ways in which an archive fails into one clear line."""
    try:
        yield
    except NotImplementedError as error:  # a zip written with Deflate64 or the like
        raise UserError(
            f"{name}: packed in a way that Python cannot read ({error}); unpack it and set `path` "
            "to what comes out"
        ) from error
    except (*DAMAGED, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk, not the archive
        raise UserError(
            f"{name}: the archive is damaged or cut short ({error}); {REMEDY}"
        ) from error


class Counted(io.RawIOBase):
    """A stream that reports what was read of it."""

    def __init__(self, stream: Any, progress: Progress):
        self.stream, self.progress = stream, progress

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.stream.read(len(buffer))
        buffer[: len(data)] = data
        self.progress.advance(len(data))
        return len(data)

    def close(self) -> None:
        self.stream.close()
        super().close()


@contextmanager
def opened(member: Member) -> Iterator[Counted]:
    """Read a member with a progress line, damage reported by name."""
    with readable(member.name):
        stream = Counted(member.open(), Progress(f"reading {member.name}", member.size))
        try:
            yield stream
        finally:
            stream.close()
