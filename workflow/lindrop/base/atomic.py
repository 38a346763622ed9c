"""Write files that get their final name only once they are complete."""

import glob
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

logger = logging.getLogger("lindrop")


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder, renamed to `path` if the block succeeds.

    Temporary files that killed jobs left for the same `path` are deleted. So are those that another
    process is still writing: on a cluster, a job can outlive the Snakemake run that started it, and
    the next run starts the job again. The older process then leaves `path` to the newer one without
    an error, because its Snakemake would delete the outputs of a failed job, here the newer file.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = _partial(path)
    try:
        earlier = _inode(path)
        for leftover in _partials(path):
            leftover.unlink(missing_ok=True)
        yield partial
        try:
            with partial.open("rb+") as file:
                os.fsync(file.fileno())
            partial.replace(path)
        except FileNotFoundError:
            if _inode(path) == earlier and not _partials(path):
                raise  # no other job deleted it: the block never wrote it
            logger.info("%s: left to another job that makes it, too", path)
    except OSError as error:
        _name(error, path, partial)
        raise
    finally:
        with suppress(OSError):  # of a name that is too long, or of a lost disk: told already
            partial.unlink(missing_ok=True)


def require_writable(path: str | Path) -> None:
    """Raise the OSError in which writing a file would end, before the work for it begins."""
    path = Path(path)
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    probe = folder / _partial(path).name
    try:
        probe.touch()
        probe.unlink(missing_ok=True)
    except OSError as error:
        _name(error, path, probe)
        raise


def _partial(path: Path) -> Path:
    """Where this process writes what becomes `path`."""
    return path.with_name(f".{path.name}.{socket.gethostname()}-{os.getpid()}.partial")


def _name(error: OSError, path: Path, partial: Path) -> None:
    """Let the error of a write, which may name no file or ours, name the file of the user."""
    if error.filename in (None, str(partial)):
        error.filename = str(path)


def _inode(path: Path) -> int | None:
    """Inode of the file, or None if it does not exist."""
    return path.stat().st_ino if path.exists() else None


def _partials(path: Path) -> list[Path]:
    """Temporary files, of any process, that are meant to become `path`."""
    return list(path.parent.glob(f".{glob.escape(path.name)}.*partial"))
