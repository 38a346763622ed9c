"""Download published files over an unreliable network and verify them.

A partial download is kept beside its destination and resumed by an HTTP range request; only a file
of the stated size and checksum gets its final name. Where neither is stated, the file must be whole
by the length that the server sent, and all its parts must be of one version.
"""

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lindrop.base.errors import UserError
from lindrop.base.reporting import Progress, logger
from lindrop.data.archives import files_below, first_bytes, is_web_page, members, opened
from lindrop.data.web import BLOCK_BYTES, Answer, MirrorError, PassingError, Validator, asked

ATTEMPTS = 6
TIMEOUT = (20, 60)  # seconds to wait for the connection, and for the next byte
WEB_PAGE, EMPTY = "a web page instead of the file", "an empty file"


@dataclass(frozen=True)
class Expected:
    """Published size and checksums of a file; None where nothing was published."""

    bytes: int | None = None
    sha256: str | None = None
    md5: str | None = None

    def proof(self) -> str | None:
        """Name of the stated checksum that proves the file, or None; a size proves nothing."""
        return "sha256" if self.sha256 else "md5" if self.md5 else None

    def stated(self) -> list[str]:
        """Names of all facts that are stated, for the provenance."""
        facts = {"size": self.bytes, "sha256": self.sha256, "md5": self.md5}
        return [f"{name} stated" for name, value in facts.items() if value]


@dataclass(frozen=True)
class Delivery:
    """How a file came: from which address, its SHA-256, and what of the server was compared."""

    address: str
    sha256: str
    checked: tuple[str, ...]


def fetch(
    urls: Sequence[str],
    destination: Path,
    expected: Expected,
    sleep: Callable[[float], None] = time.sleep,
) -> Delivery | None:
    """Download the expected file from the first of `urls` that has it, unless it exists already.

    The result tells how it came, or None if it was there already and a checksum proved it.
    """
    destination.parent.mkdir(parents=True, exist_ok=True)
    if destination.exists() and expected.proof() and mismatch(destination, expected) is None:
        logger.info("%s is there already and as published", destination)
        return None
    failures = []
    for url in urls:
        try:
            return _from_mirror(url, destination, expected, sleep)
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
) -> Delivery:
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
            checked = _download(url, part, expected)
        except PassingError as fault:
            problem, have = str(fault), part.usable(expected)
            # Only a block more than ever before is progress: a server may start over each time,
            # or send a byte and hang up.
            progress = have >= most + BLOCK_BYTES
            failures, most = (1, have) if progress else (failures + 1, most)
            continue
        found = checksums(part.path)
        problem = mismatch(part.path, expected, found) or ""
        if not problem:
            part.finish()
            return Delivery(url, found["sha256"], checked)
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
        """Number of bytes to resume from; 0 if nothing can verify that the rest belongs to them.

        A checksum can, or the version and length of the file as its server names them.
        """
        validator, total = self.version()
        known = validator is not None and total is not None
        if not self.path.exists() or not (known or expected.proof()):
            return 0
        size = self.path.stat().st_size
        return size if total is None or size <= total else 0

    def version(self) -> tuple[Validator | None, int | None]:
        """The version of which these bytes are and its length, as far as the server named them."""
        try:
            kind, value, total = json.loads(self.label.read_text(encoding="utf-8"))
        except (OSError, ValueError, TypeError):  # none, or a label that was cut short
            return None, None
        return Validator(kind, value) if kind else None, total

    def start(self, answer: Answer) -> None:
        """Begin with no bytes and record the version that the answer names."""
        kind, value = answer.validator or (None, None)
        self.path.write_bytes(b"")  # first: old bytes never pass for those of the new version
        self.label.write_text(json.dumps([kind, value, answer.total]), encoding="utf-8")

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


def _download(url: str, part: Partial, expected: Expected) -> tuple[str, ...]:
    """Complete the partial file with one request and tell what was compared with the server.

    Raises MirrorError or PassingError if the file is not complete then.
    """
    have = part.usable(expected)
    validator, total = part.version() if have else (None, None)
    if have and have == total:  # an earlier run was killed just before the rename
        return _checked(total)
    proven = expected.proof() is not None
    with asked(url, have, validator, timeout=TIMEOUT, proven=proven) as answer:
        if answer is None and proven and have and total is None:
            return ()  # perhaps there is no more: the checksum decides
        if answer is None or (answer.start and total not in (None, answer.total)):
            part.discard()
            raise PassingError("the server cannot continue the partial download")
        _refuse(answer, part, expected)
        if not answer.start:
            part.start(answer)
        _receive(answer, part, expected)
        return _checked(answer.total)


def _checked(length: int | None) -> tuple[str, ...]:
    """What a file without a checksum was compared with, however many requests brought its parts.

    Parts are put together only if they are of one version, so a resumed download is not less
    certain, and leaves the same receipt.
    """
    return ("length sent by the server" if length else "end marked by the server",)


def _refuse(answer: Answer, part: Partial, expected: Expected) -> None:
    """Raise an error before the body is read if it cannot be the file or does not fit."""
    if answer.total is not None and expected.bytes and answer.total != expected.bytes:
        part.discard()
        raise MirrorError(f"the server offers {answer.total:,} bytes instead of {expected.bytes:,}")
    if not (answer.marked_end or expected.bytes or expected.proof()):
        raise MirrorError(
            "the server does not say where the file ends, and neither its size nor a checksum is "
            "stated"
        )
    free = shutil.disk_usage(part.path.parent).free
    needed = answer.end - answer.start if answer.end is not None else 0
    if needed > free:
        raise UserError(
            f"disk full: {part.destination} needs {needed:,} bytes more, "
            f"{free:,} are free; free some space and rerun"
        )


def _receive(answer: Answer, part: Partial, expected: Expected) -> None:
    """Append the body of an answer to the partial file, which must then be complete."""
    total = answer.total if answer.total is not None else expected.bytes
    progress = Progress(f"downloading {part.destination.name}", total)
    progress.resume_at(answer.start)
    with part.path.open("ab") as file:
        try:
            for block in answer.blocks():
                if total is not None and progress.done + len(block) > total:
                    part.discard()
                    raise PassingError(f"the server sent more than {total:,} bytes")
                file.write(block)
                progress.advance(len(block))
        except PassingError:
            if answer.chunked:  # a wrong length of one chunk moves all that follows it
                file.truncate(answer.start)
            raise
    logger.info("%s", progress)
    if total is not None and progress.done != total:
        raise PassingError(f"the connection ended after {progress.done:,} of {total:,} bytes")


def mismatch(path: Path, expected: Expected, found: dict[str, str] | None = None) -> str | None:
    """How a file differs from what is published, or None; `found` are its checksums if known."""
    size = path.stat().st_size
    if size == 0:
        return EMPTY
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


def receipt(
    path: Path,
    expected: Expected,
    delivery: Mapping[str, Any] | None = None,
    packed: bool = False,
) -> dict[str, Any]:
    """Check a file against what is published and tell its name, size, SHA-256 and what proves it.

    `verified_by` is the checksum that proves the file, `checked` names all that was compared: facts
    that are stated in the configuration and, if the file was downloaded, what its server sent
    (`delivery`, the fields of a Delivery). A folder has no published checksum; its SHA-256 is that
    of the names and SHA-256 digests of its files. Of a `packed` file, what it holds is checked.
    """
    if packed:
        return _of_content(path, expected)
    digests = {file: checksums(file) for file in files_below(path)}
    whole = path.is_file()
    sha256 = digests[path]["sha256"] if whole else _of_all(path, digests)
    if whole and (problem := mismatch(path, expected, digests[path])):
        if problem in (WEB_PAGE, EMPTY):
            raise UserError(f"{path}: {problem}; replace it and rerun")
        raise UserError(
            f"{path}: {problem}; replace it by the published file, or, if it is meant to differ "
            "(say, the ratings file from inside the archive), set bytes, sha256 and md5 of its "
            "entry to null and it will be labelled unverified"
        )
    if delivery and delivery["sha256"] != sha256:
        raise UserError(f"{path}: not what was downloaded; delete it and rerun")
    return {
        "file": path.name,
        "bytes": sum(file.stat().st_size for file in digests),
        "sha256": sha256,
        "verified_by": expected.proof() if whole else None,
        "checked": [*(expected.stated() if whole else ()), *(delivery or {}).get("checked", ())],
    }


def _of_content(path: Path, expected: Expected) -> dict[str, Any]:
    """Receipt of what a gzipped file holds."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / path.stem
        (member,) = members(path, ".*", path.name)
        with opened(member) as stream, plain.open("wb") as file:
            shutil.copyfileobj(stream, file)
        try:
            return receipt(plain, expected) | {"file": path.name}
        except UserError as error:
            raise UserError(str(error).replace(str(plain), str(path))) from error


def _of_all(folder: Path, digests: dict[Path, dict[str, str]]) -> str:
    """SHA-256 of a folder: of the relative names and SHA-256 digests of its files."""
    lines = [f"{file.relative_to(folder)} {each['sha256']}\n" for file, each in digests.items()]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
