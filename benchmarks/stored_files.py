"""What comparing the checksums adds to the time of reading X'X, a file of about 1 GB.

    python benchmarks/stored_files.py [FOLDER] [ITEMS]

Reads a matrix of 16,384 × 16,384 float32 in one thread in three ways: by HDF5 alone, as lindrop
without the checksum, and as lindrop. The file is in the memory of the operating system, or was
dropped from there before. The ways take turns, and a time is the shortest of the runs, since other
work on the machine only adds to it. What the checksum adds is the difference of processor seconds,
which other work changes least, as a share of the seconds that reading takes without it. Needs
1.1 GB on the disk of FOLDER and 2 GB of memory. Writes benchmarks/results/stored_files.csv and
prints the table of docs/benchmarks.md.
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

from lindrop.linalg.triangle import Triangle
from lindrop.store import seal
from lindrop.store.gram import Provenance, read_gram, write_gram

OUTPUT = Path(__file__).resolve().parent / "results" / "stored_files.csv"
RUNS = 25


def by_hdf5(path: Path) -> None:
    """Read the matrix by HDF5, without any check."""
    with h5py.File(path) as file:
        matrix = np.empty(file["triangle"].shape, np.float32)
        file["triangle"].read_direct(matrix)


def unchecked(path: Path) -> None:
    """Read as lindrop does, but compute no checksum of the matrix."""
    facts = seal.check_seal(path, "")["triangle"]
    nothing = mock.patch("lindrop.store.checksum.take", _nothing)
    of_all = mock.patch("lindrop.store.checksum.fold", return_value=int(facts.checksum, 16))
    with nothing, of_all:
        read_gram(path)


def _nothing(*_: object) -> None:
    """Do nothing; a mock would count its calls, which takes longer than the checksum."""


WAYS: dict[str, Callable[[Path], object]] = {
    "HDF5 alone": by_hdf5,
    "lindrop without the checksum": unchecked,
    "lindrop": read_gram,
}


def seconds(way: Callable[[Path], object], path: Path, cached: bool) -> tuple[float, float]:
    """Seconds and processor seconds of one reading."""
    if not cached:
        file = os.open(path, os.O_RDONLY)
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)
    start, start_of_processor = time.perf_counter(), time.process_time()
    way(path)
    return time.perf_counter() - start, time.process_time() - start_of_processor


def measured(path: Path) -> pd.DataFrame:
    """Shortest times of every way, and what the checksum adds to them."""
    os.environ["OMP_NUM_THREADS"] = "1"
    rows = []
    for cached in (True, False):
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in WAYS}
        for _ in range(RUNS):
            for name, way in WAYS.items():
                times[name].append(seconds(way, path, cached))
        least = {
            name: [min(column) for column in zip(*of, strict=True)] for name, of in times.items()
        }
        for name, (clock, processor) in least.items():
            row = {"file in": "memory" if cached else "disk", "read by": name}
            row |= {"seconds": f"{clock:.3f}", "processor seconds": f"{processor:.3f}"}
            rows.append(row | {"checksum adds": ""})
        (clock, without), whole = least["lindrop without the checksum"], least["lindrop"][1]
        rows[-1]["checksum adds"] = f"{100 * (whole - without) / clock:.1f} %"
    return pd.DataFrame(rows)


def main(folder: str | None = None, items: str = "16384") -> None:
    """Write the file, read it, and print the table."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        path = Path(place, "gram.h5")
        values = np.random.default_rng(1).integers(0, 1000, (int(items), int(items)), np.int32)
        matrix = values.astype(np.float32)
        del values
        write_gram(path, Triangle.of(matrix), Provenance("benchmark", "0" * 64, 0, 0, 0))
        del matrix
        table = measured(path)
    table.to_csv(OUTPUT, index=False, lineterminator="\n")
    print(table.to_markdown(index=False, disable_numparse=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
