"""Open the ratings inside whatever holds them: a zip, a gzip, a tar, a folder or the plain file."""

import gzip
import io
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lindrop.errors import UserError
from lindrop.reporting import Progress

GZIP_MAGIC = b"\x1f\x8b"
DAMAGED = (EOFError, zlib.error, zipfile.BadZipFile, gzip.BadGzipFile, tarfile.ReadError)


@dataclass(frozen=True)
class Member:
    """One readable text: its name for messages, its uncompressed size if known, how to open it."""

    name: str
    size: int | None
    open: Callable[[], Any]


def members(path: Path, wanted: str) -> list[Member]:
    """The texts in `path` whose file name matches the regular expression `wanted`, by name.

    A plain or gzipped file is taken whatever its name: the user pointed at it.
    """
    if path.is_dir():
        found = [
            Member(str(file), file.stat().st_size, partial(file.open, "rb"))
            for file in sorted(path.rglob("*"))
            if re.fullmatch(wanted, file.name)
        ]
        return _not_empty(found, path, wanted)
    with readable(str(path)):
        if not path.exists():
            raise UserError(f"{path}: no such file")
        if zipfile.is_zipfile(path):
            return _not_empty(_zip_members(path, wanted), path, wanted)
    head = first_bytes(path)
    if not head:
        raise UserError(f"{path}: the file is empty")
    if head.startswith(b"PK"):
        raise UserError(f"{path}: the zip archive is damaged or cut short; delete it and rerun")
    if is_web_page(head):
        raise UserError(f"{path}: a web page, not the file; download it anew and rerun")
    if head.startswith(GZIP_MAGIC):
        return [Member(str(path), None, lambda: gzip.open(path))]
    return [Member(str(path), path.stat().st_size, lambda: path.open("rb"))]


def _zip_members(path: Path, wanted: str) -> list[Member]:
    with zipfile.ZipFile(path) as archive:
        infos = sorted(archive.infolist(), key=lambda info: info.filename)

    def opener(info: zipfile.ZipInfo) -> Callable[[], Any]:
        return lambda: zipfile.ZipFile(path).open(info)

    return [
        Member(f"{path}: {info.filename}", info.file_size, opener(info))
        for info in infos
        if not info.is_dir() and re.fullmatch(wanted, info.filename.rsplit("/", 1)[-1])
    ]


def _not_empty(found: list[Member], path: Path, wanted: str) -> list[Member]:
    if not found:
        readable_names = wanted.replace("\\", "").replace("|", " or ")
        raise UserError(f"{path}: holds no file named {readable_names}; is this the right archive?")
    return found


def is_web_page(head: bytes) -> bool:
    """Told by the first bytes: what a server sends instead of a file that it does not have."""
    return head.lstrip().lower().startswith((b"<!doctype html", b"<html"))


def first_bytes(path: Path, count: int = 512) -> bytes:
    with path.open("rb") as file:
        return file.read(count)


def is_tar(path: Path) -> bool:
    """A tar, compressed or not (a gzipped text is not one)."""
    return path.is_file() and tarfile.is_tarfile(path)


def tar_members(path: Path, wanted: str, nested: str) -> Iterator[tuple[str, bytes]]:
    """Name and content of matching files in a tar, and in tars of name `nested` inside it.

    Read as a stream, once, front to back: the Netflix archive is a tar of 17,770 files in a gzip.
    """
    with tarfile.open(path, mode="r|*") as archive:
        yield from _tar_walk(archive, str(path), wanted, nested)


def _tar_walk(
    archive: tarfile.TarFile, where: str, wanted: str, nested: str
) -> Iterator[tuple[str, bytes]]:
    for info in archive:
        name = info.name.rsplit("/", 1)[-1]
        inside = archive.extractfile(info) if info.isfile() else None
        if inside is None:
            continue
        if re.fullmatch(wanted, name):
            yield f"{where}: {info.name}", inside.read()
        elif re.fullmatch(nested, name):
            with tarfile.open(fileobj=inside, mode="r|") as inner:
                yield from _tar_walk(inner, f"{where}: {info.name}", wanted, nested)


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Turn the many ways in which a damaged archive fails into one clear line."""
    try:
        yield
    except DAMAGED as error:
        raise UserError(
            f"{name}: the archive is damaged or cut short ({error}); delete it and rerun, "
            "or point `path` at a good copy"
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
