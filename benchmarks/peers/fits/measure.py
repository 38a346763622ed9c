"""Measurement of one fit of a model in this process: its time, its peak memory and its B.

    python -m peers.fits.LIBRARY MODEL INTERACTIONS.npz OPTIONS B.npy

OPTIONS are a JSON object. Prints one line of JSON. Needs only NumPy and SciPy, which every
environment has.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

SMALL = (100, 20)  # users × items of a first fit, which compiles code and starts threads


class Peer(NamedTuple):
    """A library as its users call it; only the fit is measured.

    The modules of this folder that hold one are all that the comparison knows of a library. They
    import it inside functions, so that the comparison can read them where it is not installed.
    `fits` has a function of the prepared data and the options for each model (peers/models.py);
    `matrix` returns B and, for each of its rows, the index of the item's column in X. `lock` is the
    lock file of the library's environment, None for the project's own.
    """

    title: str
    lock: str | None
    packages: Sequence[str]
    prepare: Callable[[sp.csr_matrix], Any]
    fits: dict[str, Callable[..., Any]]
    matrix: Callable[[Any], tuple[Any, Any]]
    pytorch: bool = False


def measure(peer: Peer) -> None:
    """Fit a model as the command line says, save B, and print the measurements as JSON."""
    model, interactions, options, output = sys.argv[1:]
    fit, chosen = peer.fits[model], json.loads(options)
    random = np.random.default_rng(0)
    fit(peer.prepare(sp.csr_matrix(random.random(SMALL) < 0.5, dtype=np.float32)), **chosen)
    data = peer.prepare(sp.csr_matrix(sp.load_npz(interactions)))
    forget_peak()
    before = memory_gb("VmRSS")
    start, worked = time.perf_counter(), time.process_time()
    fitted = fit(data, **chosen)
    seconds, worked = time.perf_counter() - start, time.process_time() - worked
    peak = memory_gb("VmHWM")
    matrix, columns = peer.matrix(fitted)
    report = {
        "seconds": round(seconds, 3),
        "cpu_seconds": round(worked, 3),  # sum over all threads
        "peak_gb": round(peak, 3),
        "before_gb": round(before, 3),
        "holds": f"{'sparse ' if sp.issparse(matrix) else ''}{matrix.dtype}",
        "versions": ", ".join(f"{name} {version(name)}" for name in peer.packages),
    }
    save(Path(output), matrix, np.asarray(columns))
    print(json.dumps(report))


def as_it_is(matrix: Any) -> tuple[Any, np.ndarray]:
    """B of a library that numbers the items as the columns of X."""
    return matrix, np.arange(matrix.shape[0])


def forget_peak() -> None:
    """Reset Linux's record of peak memory, so that it excludes the preparation of the data."""
    Path("/proc/self/clear_refs").write_text("5")


def memory_gb(field: str) -> float:
    """Memory of this process in GB, from a field of /proc/self/status."""
    (line,) = (
        line
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith(f"{field}:")
    )
    return int(line.split()[1]) * 1024 / 1e9


def save(path: Path, matrix: Any, columns: np.ndarray) -> None:
    """Write B in float32, with rows and columns in the order of the columns of X."""
    dense = matrix.toarray() if sp.issparse(matrix) else matrix
    order = np.argsort(columns)
    np.save(path, np.asarray(dense, np.float32)[order][:, order])
