"""Files that exist only when they are whole."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """A temporary file in the same folder that becomes `path` only if the block succeeds.

    Its name is fixed, so that the leftover of a killed job is overwritten and not collected.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    try:
        yield partial
        with partial.open("rb+") as file:
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        error.filename = error.filename or str(path)  # a failed write does not know its file
        raise
    finally:
        partial.unlink(missing_ok=True)
