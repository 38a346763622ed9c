"""Files that exist only when they are whole."""

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
    """A temporary file in the same folder that becomes `path` only if the block succeeds.

    What a killed job left of the same file is deleted. So is what another process still writes: on
    a cluster, a job can outlive the Snakemake that started it, and the next one starts it again.
    The older of the two then leaves the file to the newer one. It does not fail: its Snakemake
    would delete the outputs of a failed job, which are the newer one's.
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
                raise  # nobody took it away: it was never written
            logger.info("%s: left to another job that makes it, too", path)
    except OSError as error:
        error.filename = error.filename or str(path)  # a failed write does not know its file
        raise
    finally:
        partial.unlink(missing_ok=True)


def _inode(path: Path) -> int | None:
    return path.stat().st_ino if path.exists() else None


def _partials(path: Path) -> list[Path]:
    return list(path.parent.glob(f".{glob.escape(path.name)}.*partial"))
