"""Download published files over an unreliable network and verify them.

A partial download is kept beside its destination and resumed by an HTTP range request; only a file
with the stated size and checksum gets its final name.
"""

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
import urllib3

from lindrop.base.errors import UserError
from lindrop.base.reporting import Progress, logger
from lindrop.data.archives import first_bytes, is_web_page

BLOCK_BYTES = 1 << 16  # at most this much is lost when a connection breaks
ATTEMPTS = 6
TIMEOUT = (20, 60)  # seconds to wait for the connection, and for the next byte
WORTH_A_RETRY = {408, 425, 429}
WEB_PAGE = "a web page instead of the file"
HEADERS = {"User-Agent": "lindrop", "Accept-Encoding": "identity"}


@dataclass(frozen=True)
class Expected:
    """Published size and checksums of a file; None where nothing was published."""

    bytes: int | None = None
    sha256: str | None = None
    md5: str | None = None

    def proof(self) -> str | None:
        """Name of the stated checksum that proves the file, or None; a size proves nothing."""
        return "sha256" if self.sha256 else "md5" if self.md5 else None


class MirrorError(Exception):
    """Raised when an address cannot deliver the file; the next address is tried."""


class PassingError(Exception):
    """Raised for a temporary fault of the network or the server; the download is retried."""


def fetch(
    urls: Sequence[str],
    destination: Path,
    expected: Expected,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Download the expected file from the first of `urls` that has it, unless it exists already."""
    destination.parent.mkdir(parents=True, exist_ok=True)
    if destination.exists() and expected.proof() and mismatch(destination, expected) is None:
        logger.info("%s is there already and as published", destination)
        return
    failures = []
    for url in urls:
        try:
            _from_mirror(url, destination, expected, sleep)
            return
        except MirrorError as error:
            logger.info("%s failed: %s", url, error)
            failures.append(f"{url}: {error}")
    raise UserError(
        f"cannot download {destination.name} ({'; '.join(failures)}); check the "
        "network, the address and the size and checksums in its entry, or download the file "
        "yourself and set `path` or `data_dir`"
    )


def _from_mirror(
    url: str, destination: Path, expected: Expected, sleep: Callable[[float], None]
) -> None:
    """Download from one address, with retries; MirrorError if it does not deliver the file."""
    part = Partial(destination, url)
    failures, problem, most = 0, "", part.usable(expected)
    while failures < ATTEMPTS:
        if failures:
            wait = 2.0 ** (failures - 1)
            logger.info("%s; trying again in %.0f s", problem, wait)
            sleep(wait)
        resumed_at = part.usable(expected)
        try:
            _download(url, part, expected)
        except PassingError as fault:
            problem, have = str(fault), part.usable(expected)
            # only more bytes than ever before are progress: a server may start over each time
            failures, most = (1, have) if have > most else (failures + 1, most)
            continue
        problem = mismatch(part.path, expected) or ""
        if not problem:
            part.finish()
            return
        part.discard()
        if not resumed_at:  # the whole file came in one go: asking again gives the same
            raise MirrorError(problem)
        failures += 1
    raise MirrorError(f"gave up after {ATTEMPTS} attempts without progress: {problem}")


class Partial:
    """An unfinished download from one address: the bytes so far and the version they belong to."""

    def __init__(self, destination: Path, url: str):
        self.destination = destination
        of_url = hashlib.sha256(url.encode()).hexdigest()[:8]
        self.path = destination.with_name(f".{destination.name}.{of_url}.part")
        self.label = destination.with_name(f".{destination.name}.{of_url}.part-version")

    def usable(self, expected: Expected) -> int:
        """Number of bytes to resume from; 0 if neither a version nor a checksum can verify them."""
        if not self.path.exists() or not (self.version() or expected.proof()):
            return 0
        return self.path.stat().st_size

    def version(self) -> str:
        """ETag or Last-Modified date that the server sent with these bytes, or an empty string."""
        return self.label.read_text(encoding="utf-8") if self.label.exists() else ""

    def start(self, response: requests.Response) -> None:
        """Begin with no bytes and record the version that the response names."""
        tag = response.headers.get("ETag", "")
        version = tag if tag and not tag.startswith("W/") else ""
        version = version or response.headers.get("Last-Modified", "")
        self.label.write_text(version, encoding="utf-8")
        self.path.write_bytes(b"")

    def finish(self) -> None:
        """Give the file its final name and delete partial downloads from other addresses."""
        with self.path.open("rb+") as file:
            os.fsync(file.fileno())
        self.path.replace(self.destination)
        for leftover in self.destination.parent.glob(f".{self.destination.name}.*.part*"):
            leftover.unlink()

    def discard(self) -> None:
        """Delete the partial download."""
        self.path.unlink(missing_ok=True)
        self.label.unlink(missing_ok=True)


def _download(url: str, part: Partial, expected: Expected) -> None:
    """Complete the partial file with one request, or raise MirrorError or PassingError."""
    have = part.usable(expected)
    headers = dict(HEADERS)
    if have:
        headers["Range"] = f"bytes={have}-"
        if version := part.version():
            headers["If-Range"] = version
    try:
        with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
            if response.status_code == 416 and _length_of_range(response) == have:
                return  # complete already: an earlier run was killed just before the rename
            if response.status_code == 416 or not _continues(response, have):
                part.discard()
                raise PassingError("the server cannot continue the partial download")
            _check_status(response)
            if response.status_code == 200:
                part.start(response)
                have = 0
            _receive(response, part, have, expected)
    except (requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema) as error:
        raise MirrorError("not a usable address") from error
    except requests.exceptions.MissingSchema as error:
        raise MirrorError("the address needs http:// or https://") from error
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        raise PassingError(f"the connection failed ({_cause(error)})") from error


def _continues(response: requests.Response, have: int) -> bool:
    """Whether a response can be used: a partial one (status 206) must start at byte `have`."""
    if response.status_code != 206:
        return True
    return response.headers.get("Content-Range", "").startswith(f"bytes {have}-")


def _length_of_range(response: requests.Response) -> int | None:
    """Total length of the file in bytes that a Content-Range header states, or None."""
    length = response.headers.get("Content-Range", "").rpartition("/")[2]
    return int(length) if length.isdigit() else None


def _check_status(response: requests.Response) -> None:
    """Raise MirrorError or PassingError unless the response is a file."""
    answer = f"the server answered {response.status_code} {response.reason}"
    if response.status_code >= 500 or response.status_code in WORTH_A_RETRY:
        raise PassingError(answer)
    if response.status_code not in (200, 206):
        raise MirrorError(answer)
    if response.headers.get("Content-Type", "").startswith("text/html"):
        raise MirrorError("the server sent a web page instead of the file")


def _receive(response: requests.Response, part: Partial, have: int, expected: Expected) -> None:
    """Append the body of a response to the partial file; `have` bytes are there already."""
    length = response.headers.get("Content-Length")
    total = have + int(length) if length else None
    if total and expected.bytes and total != expected.bytes:
        part.discard()
        raise MirrorError(f"the server offers {total:,} bytes instead of {expected.bytes:,}")
    free = shutil.disk_usage(part.path.parent).free
    if total and total - have > free:
        raise UserError(
            f"disk full: {part.destination} needs {total - have:,} bytes more, "
            f"{free:,} are free; free some space and rerun"
        )
    progress = Progress(f"downloading {part.destination.name}", total)
    progress.resume_at(have)
    with part.path.open("ab") as file:
        # not decoded: a gzip archive sent with Content-Encoding must not be unpacked on the way
        for block in response.raw.stream(BLOCK_BYTES, decode_content=False):
            file.write(block)
            progress.advance(len(block))
    logger.info("%s", progress)
    if total and progress.done != total:
        raise PassingError(f"the connection ended after {progress.done:,} of {total:,} bytes")


def _cause(error: BaseException) -> str:
    """Message of the innermost cause of an error, which requests wraps several times."""
    inner = error.__cause__ or error.__context__
    return _cause(inner) if inner else " ".join(str(error).split()) or type(error).__name__


def mismatch(path: Path, expected: Expected, found: dict[str, str] | None = None) -> str | None:
    """How a file differs from what is published, or None; `found` are its checksums if known."""
    size = path.stat().st_size
    if is_web_page(first_bytes(path)):
        return WEB_PAGE
    if expected.bytes is not None and size != expected.bytes:
        return f"{size:,} bytes instead of {expected.bytes:,}"
    if expected.proof() is None:
        return None
    found = found or checksums(path)
    for name, wanted in (("sha256", expected.sha256), ("md5", expected.md5)):
        if wanted and found[name] != wanted.lower():
            return f"{name} {found[name]} instead of {wanted}"
    return None


def checksums(path: Path) -> dict[str, str]:
    """SHA-256 and MD5 of a file as hex digits, from one pass over it."""
    digests = {name: hashlib.new(name, usedforsecurity=False) for name in ("sha256", "md5")}
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            for digest in digests.values():
                digest.update(block)
    return {name: digest.hexdigest() for name, digest in digests.items()}


def files_below(path: Path) -> list[Path]:
    """The file itself, or all files below a folder in order; FileNotFoundError if it is missing."""
    path.stat()
    return [path] if path.is_file() else sorted(f for f in path.rglob("*") if f.is_file())


def receipt(path: Path, expected: Expected) -> dict[str, Any]:
    """Check a file against what is published; return its name, size, SHA-256 and proof.

    `verified_by` is the checksum that proves the file. A folder has no published checksum; its
    SHA-256 is that of the names and SHA-256 digests of its files.
    """
    digests = {file: checksums(file) for file in files_below(path)}
    if path.is_file() and (problem := mismatch(path, expected, digests[path])):
        if problem == WEB_PAGE:
            raise UserError(f"{path}: {problem}; download it anew and rerun")
        raise UserError(
            f"{path}: {problem}; replace it by the published file, or, if it is meant to differ "
            "(say, the ratings file from inside the archive), set bytes, sha256 and md5 of its "
            "entry to null and it will be labelled unverified"
        )
    return {
        "file": path.name,
        "bytes": sum(file.stat().st_size for file in digests),
        "sha256": digests[path]["sha256"] if path.is_file() else _of_all(path, digests),
        "verified_by": expected.proof() if path.is_file() else None,
    }


def _of_all(folder: Path, digests: dict[Path, dict[str, str]]) -> str:
    """SHA-256 of a folder: of the relative names and SHA-256 digests of its files."""
    lines = [f"{file.relative_to(folder)} {each['sha256']}\n" for file, each in digests.items()]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
