"""Measurement of one fit of EASE in this process: its time, its peak memory and its B.

    python fit_LIBRARY.py INTERACTIONS.npz RIDGE B.npy

Prints one line of JSON. Needs only NumPy and SciPy, which every library's environment has.
"""

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

SMALL = (100, 20)  # users × items of a first fit, which compiles code and starts threads


class Peer(NamedTuple):
    """A library as its users call it; only `fit` is measured.

    `matrix` returns B and, for each of its rows, the index of the item's column in X.
    """

    packages: list[str]
    prepare: Callable[[sp.csr_matrix], Any]
    fit: Callable[[Any, float], Any]
    matrix: Callable[[Any], tuple[Any, Any]]


def measure(peer: Peer) -> None:
    """Fit EASE as the command line says, save B, and print the measurements as JSON."""
    interactions, ridge, output = Path(sys.argv[1]), float(sys.argv[2]), Path(sys.argv[3])
    random = np.random.default_rng(0)
    peer.fit(peer.prepare(sp.csr_matrix(random.random(SMALL) < 0.5, dtype=np.float32)), ridge)
    data = peer.prepare(sp.csr_matrix(sp.load_npz(interactions)))
    forget_peak()
    before = memory_gb("VmRSS")
    start, worked = time.perf_counter(), time.process_time()
    model = peer.fit(data, ridge)
    seconds, worked = time.perf_counter() - start, time.process_time() - worked
    peak = memory_gb("VmHWM")
    matrix, columns = peer.matrix(model)
    report = {
        "seconds": round(seconds, 3),
        "cpu_seconds": round(worked, 3),  # sum over all threads
        "peak_gb": round(peak, 3),
        "before_gb": round(before, 3),
        "holds": str(matrix.dtype),
        "versions": ", ".join(f"{name} {version(name)}" for name in peer.packages),
    }
    save(output, matrix, np.asarray(columns))
    print(json.dumps(report))


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
