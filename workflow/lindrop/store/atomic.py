"""Files that exist only when they are whole."""

import glob
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """A temporary file in the same folder that becomes `path` only if the block succeeds.

    What a killed job left of the same file is deleted. So is what another process still writes: on
    a cluster, a job can outlive the Snakemake that started it, and the next one starts it again.
    Then the older of the two finds its file gone and fails; it never takes the newer one's.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = f"{socket.gethostname()}-{os.getpid()}"
    partial = path.with_name(f".{path.name}.{writer}.partial")
    try:
        for leftover in path.parent.glob(f".{glob.escape(path.name)}.*partial"):
            leftover.unlink(missing_ok=True)
        yield partial
        with partial.open("rb+") as file:
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        error.filename = error.filename or str(path)  # a failed write does not know its file
        raise
    finally:
        partial.unlink(missing_ok=True)
