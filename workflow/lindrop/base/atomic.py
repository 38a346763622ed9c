"""Write files that get their final name only once they are complete."""

import glob
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
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
    writer = f"{socket.gethostname()}-{os.getpid()}"
    partial = path.with_name(f".{path.name}.{writer}.partial")
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
        error.filename = error.filename or str(path)  # the error of a failed write names no file
        raise
    finally:
        partial.unlink(missing_ok=True)


def _inode(path: Path) -> int | None:
    """Inode of the file, or None if it does not exist."""
    return path.stat().st_ino if path.exists() else None


def _partials(path: Path) -> list[Path]:
    """Temporary files, of any process, that are meant to become `path`."""
    return list(path.parent.glob(f".{glob.escape(path.name)}.*partial"))
