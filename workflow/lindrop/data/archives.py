"""Open the text files inside a zip archive, a gzip file, a folder or a plain file."""

import codecs
import errno
import gzip
import io
import lzma
import os
import re
import struct
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
    b"version https://git-lfs": "a note of Git LFS, not the file; run `git lfs pull`",
}
UNSUPPORTED = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"(\xb5/\xfd": "zstd", b"7z\xbc\xaf": "7-zip"}
HEAD_BYTES = 512  # from the start of a file, enough to recognise its type
TAR_MAGIC = b"ustar"
TAR_MAGIC_AT = 257
END_RECORD, END_RECORD_BYTES, MOST_COMMENT_BYTES = b"PK\x05\x06", 22, 65535  # of a zip
PACKED = re.compile(r"\.(gz|bz2|xz|zst|zip|7z)$", re.IGNORECASE)  # not passed over in a zip
ENCRYPTED = 0x1  # flag bit of an encrypted zip member
REMEDY = "replace it by a good copy, or delete it if lindrop downloaded it, and rerun"
DAMAGED = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, gzip.BadGzipFile)


@dataclass(frozen=True)
class Member:
    """A text file that can be opened: its name for messages and its uncompressed size if known."""

    name: str
    size: int | None
    open: Callable[[], Any]


def require_file(path: Path) -> None:
    """Raise UserError unless `path` is a file or a folder, which can be read more than once."""
    if not path.exists():
        raise UserError(f"{path}: no such file or folder")
    if not (path.is_file() or path.is_dir()):
        raise UserError(f"{path}: a pipe or a device, not a file: write it to a file first")


def files_below(path: Path) -> list[Path]:
    """The file itself, or all files below a folder in order; FileNotFoundError if it is missing."""
    path.stat()
    return [path] if path.is_file() else [file for file in names_below(path) if file.is_file()]


def names_below(folder: Path) -> list[Path]:
    """Everything below a folder but folders, in order, files that links lead to included.

    Links to folders are followed, as a set may lie on several disks; a folder is entered once.
    """
    found: list[Path] = []
    seen: set[str] = set()
    for place, folders, names in os.walk(folder, followlinks=True):
        folders.sort()
        if (real := os.path.realpath(place)) in seen:
            folders.clear()
        else:
            seen.add(real)
            found += [Path(place, name) for name in names]
    return sorted(found)


def members(path: Path, wanted: str, described: str) -> list[Member]:
    """The text files in `path` whose name matches the regular expression `wanted`, sorted by name.

    A plain or gzipped file is accepted under any name, because the user chose it. Error messages
    show `described` instead of the regular expression.
    """
    if path.is_dir():
        files = [file for file in files_below(path) if is_wanted(_without_gz(file.name), wanted)]
        found = [_of_folder(file) for file in files]
    elif zipfile.is_zipfile(path):
        with readable(str(path)), unpacking():
            found = _zip_members(path, wanted)
    else:
        found = [_single(path)]
    if not found:
        raise UserError(f"{path}: holds no file named {described}; is this the right archive?")
    return found


def only_member(path: Path, wanted: str, described: str) -> Member:
    """The one text file that `members` finds; UserError if it finds several."""
    found = members(path, wanted, described)
    if len(found) > 1:
        names = ", ".join(member.name for member in found[:5]) + (", …" if found[5:] else "")
        raise UserError(f"{path}: holds {len(found)} such files; set `path` to one of {names}")
    logger.info("reading %s", found[0].name)
    return found[0]


def _without_gz(name: str) -> str:
    """Name of a file without `.gz`: beside plain files, a gzipped one must not be passed over."""
    return name[:-3] if name.lower().endswith(".gz") else name


def _of_folder(file: Path) -> Member:
    """The Member of a file in a folder; one that is not gzipped is looked at only when read."""
    if file.name.lower().endswith(".gz"):
        return _single(file)
    return Member(str(file), file.stat().st_size, partial(file.open, "rb"))


def is_wanted(name: str, wanted: str) -> bool:
    """Whether the last part of a path matches `wanted`; the `._x` files of macOS never do."""
    last = name.rpartition("/")[2]
    return not last.startswith("._") and bool(re.fullmatch(wanted, last, re.IGNORECASE))


def _zip_members(path: Path, wanted: str) -> list[Member]:
    """Members of a zip archive whose file name matches `wanted`, sorted by name."""

    def opener(info: zipfile.ZipInfo) -> Callable[[], Any]:
        return lambda: zipfile.ZipFile(path).open(info)

    with zipfile.ZipFile(path) as archive:
        infos = sorted(archive.infolist(), key=lambda info: info.filename)
        _refuse_joined(path, infos, len(archive.comment))
    found = [info for info in infos if not info.is_dir()]
    found = [info for info in found if is_wanted(PACKED.sub("", info.filename), wanted)]
    for info in found:
        if PACKED.search(info.filename):
            raise UserError(
                f"{path}: {info.filename} is packed inside the archive; unpack both and set `path` "
                "to the folder"
            )
        if info.flag_bits & ENCRYPTED:
            raise UserError(
                f"{path}: {info.filename} is encrypted; unpack it and set `path` to what comes out"
            )
    return [Member(f"{path}: {info.filename}", info.file_size, opener(info)) for info in found]


def _refuse_joined(path: Path, infos: list[zipfile.ZipInfo], comment_bytes: int) -> None:
    """Raise UserError if there is more in a file than the one zip archive that Python reads.

    Its first member stands at the start of the file (or behind a mark of four bytes), and behind
    its last record there are at most zeros.
    """
    with path.open("rb") as file:
        file.seek(-min(path.stat().st_size, END_RECORD_BYTES + MOST_COMMENT_BYTES), os.SEEK_END)
        end = file.read().rstrip(b"\0")
    behind = len(end) - end.rfind(END_RECORD) - END_RECORD_BYTES - comment_bytes
    if min((info.header_offset for info in infos), default=0) > 4 or behind > 0:
        raise UserError(
            f"{path}: bytes before or behind the zip archive, as if two files were joined; {REMEDY}"
        )


def _single(path: Path) -> Member:
    """The Member of a plain or gzipped text file; UserError for any other type of file."""
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
    """Whether a file that starts with `head` is HTML, as servers send for a missing file."""
    return (
        head.removeprefix(codecs.BOM_UTF8)
        .lstrip()
        .lower()
        .startswith((b"<!doctype html", b"<html"))
    )


def is_tar(head: bytes) -> bool:
    """Whether a file that starts with `head` (decompressed) is a tar archive."""
    return head[TAR_MAGIC_AT:].startswith(TAR_MAGIC)


def first_bytes(path: Path) -> bytes:
    """The first HEAD_BYTES bytes of a file."""
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)


@contextmanager
def unpacking() -> Iterator[None]:
    """Turn what Python's readers of archives raise for impossible numbers into a BadZipFile."""
    try:
        yield
    except (struct.error, ValueError, OverflowError, IndexError) as error:
        raise zipfile.BadZipFile(str(error)) from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # a place before the start of the file
            raise
        raise zipfile.BadZipFile("an impossible place") from error


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Turn any error of reading an archive into a UserError that names the archive."""
    try:
        yield
    except NotImplementedError as error:  # a zip written with Deflate64 or the like
        raise UserError(
            f"{name}: packed in a way that Python cannot read ({error}); unpack it and set `path` "
            "to what comes out"
        ) from error
    except (*DAMAGED, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # a fault of the disk, not of the archive
        raise UserError(
            f"{name}: the archive is damaged or cut short ({error}); {REMEDY}"
        ) from error


class Counted(io.RawIOBase):
    """A readable stream that reports the number of bytes read to a Progress."""

    def __init__(self, stream: Any, progress: Progress):
        self.stream, self.progress = stream, progress

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with unpacking():
            data = self.stream.read(len(buffer))
        buffer[: len(data)] = data
        self.progress.advance(len(data))
        return len(data)

    def close(self) -> None:
        self.stream.close()
        super().close()


@contextmanager
def opened(member: Member) -> Iterator[Counted]:
    """Open a member for reading, with progress lines in the log; damage raises a UserError."""
    with readable(member.name):
        with unpacking():
            file = member.open()
        stream = Counted(file, Progress(f"reading {member.name}", member.size))
        try:
            yield stream
        finally:
            stream.close()
