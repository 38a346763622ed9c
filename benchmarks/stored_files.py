"""What comparing the checksums adds to the time of reading X'X, a file of about 1 GB.

    python benchmarks/stored_files.py [FOLDER] [ITEMS]

Reads a matrix of 16,384 × 16,384 float32 in three ways: by HDF5 alone, as lindrop without the
checksum, and as lindrop. The file is in the memory of the operating system, or was dropped from
there before. The ways take turns, and the time is the shortest of the runs, since other work on the
machine only adds to it. Needs 1.1 GB on the disk of FOLDER and 2 GB of memory. Writes
benchmarks/results/stored_files.csv and prints the table of docs/benchmarks.md.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import h5py
import numpy as np
import pandas as pd

from lindrop.store import seal
from lindrop.store.gram import Provenance, read_gram, write_gram

OUTPUT = Path(__file__).resolve().parent / "results" / "stored_files.csv"
RUNS = 15


def by_hdf5(path: Path) -> None:
    """Read the matrix by HDF5, without any check."""
    with h5py.File(path) as file:
        matrix = np.empty(file["gram"].shape, np.float32)
        file["gram"].read_direct(matrix)


def unchecked(path: Path) -> None:
    """Read as lindrop does, but compute no checksum of the matrix."""
    facts = seal.check_seal(path, "")["gram"]
    constant = mock.patch("lindrop.store.checksum.take", return_value=None)
    of_all = mock.patch("lindrop.store.checksum.fold", return_value=int(facts.checksum, 16))
    with constant, of_all:
        read_gram(path)


WAYS: dict[str, Callable[[Path], object]] = {
    "HDF5 alone": by_hdf5,
    "lindrop without the checksum": unchecked,
    "lindrop": read_gram,
}


def seconds(way: Callable[[Path], object], path: Path, cached: bool) -> float:
    """Time of one reading."""
    if not cached:
        file = os.open(path, os.O_RDONLY)
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)
    start = time.perf_counter()
    way(path)
    return time.perf_counter() - start


def measured(path: Path) -> pd.DataFrame:
    """Shortest time of every way, from memory and from disk, with 1 and 2 threads."""
    rows = []
    for threads in (1, 2):
        os.environ["OMP_NUM_THREADS"] = str(threads)
        for cached in (True, False):
            for way in WAYS.values():
                seconds(way, path, cached=True)
            times: dict[str, list[float]] = {name: [] for name in WAYS}
            for _ in range(RUNS):
                for name, way in WAYS.items():
                    times[name].append(seconds(way, path, cached))
            found = {name: min(of) for name, of in times.items()}
            row = {"file in": "memory" if cached else "disk", "threads": threads}
            row |= {f"{name} (s)": f"{taken:.3f}" for name, taken in found.items()}
            for name in list(WAYS)[:2]:
                row[f"more than {name}"] = f"{found['lindrop'] / found[name] - 1:+.1%}"
            rows.append(row)
    return pd.DataFrame(rows)


def main(folder: str | None = None, items: str = "16384") -> None:
    """Write the file, read it, and print the table."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        path = Path(place, "gram.h5")
        values = np.random.default_rng(1).integers(0, 1000, (int(items), int(items)), np.int32)
        matrix = values.astype(np.float32)
        del values
        write_gram(path, matrix, Provenance("benchmark", "0" * 64, 0, 0, 0))
        del matrix
        table = measured(path)
    table.to_csv(OUTPUT, index=False, lineterminator="\n")
    print(table.to_markdown(index=False, disable_numparse=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
