"""Fits of the same EASE by every library, each in its own process, and their results."""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from peers.libraries import REFERENCE, ROOT, Missing
from peers.machine import description, environment
from peers.process import Limits, measured, script

from lindrop.data.synthetic.generator import generate
from lindrop.data.synthetic.recipe import recipe_of

USERS_PER_ITEM, ITEMS_PER_USER = 7.5, 73
RIDGE = 500.0  # RecTools' and Cornac's default
ROUNDS = 16_000  # sum of the items over all rounds, so that fewer items get more rounds
MOST_ROUNDS = 5
KEY = ["items", "kernels", "library"]
FOUND = ["seconds", "cpu_seconds", "peak_gb", "before_gb", "holds", "difference", "versions"]
RATES = ["product_gflops", "copy_gbs"]
COLUMNS = [*KEY, "users", "interactions", "threads", *FOUND, "did_not_finish", *RATES]


@dataclass(frozen=True)
class Comparison:
    """Settings of a comparison: the interpreter of each library, kernels, threads and limits."""

    pythons: dict[str, str | Missing]
    kernels: Sequence[str]
    threads: int
    limits: Limits
    rounds: int | None = None

    def of(self, items: int) -> pd.DataFrame:
        """Table with the fastest fit of each library for each of the kernels."""
        with tempfile.TemporaryDirectory() as folder:
            rows = pd.DataFrame(self._rows(items, Path(folder)), columns=COLUMNS)
        return fastest(rows).assign(machine=description(self.threads))

    def _rows(self, items: int, folder: Path) -> Iterator[dict[str, Any]]:
        sizes = write_interactions(items, folder / "x.npz")
        for kernels in self.kernels:
            env = environment(kernels, self.threads, PYTHONPATH=str(ROOT / "workflow"))
            for _ in range(self.rounds or min(max(1, ROUNDS // items), MOST_ROUNDS)):
                for name in self.pythons:
                    row = {**sizes, "kernels": kernels, "library": name, "threads": self.threads}
                    row |= self._fit(name, env, folder)
                    print(row, flush=True)
                    yield row

    def _fit(self, name: str, env: dict[str, str], folder: Path) -> dict[str, Any]:
        python = self.pythons[name]
        if isinstance(python, Missing):
            return {"did_not_finish": python.reason}
        made, reference = folder / f"{name}.npy", folder / f"{REFERENCE}.npy"
        rates = measured([sys.executable, script("rates")], env, self.limits)
        command = [python, script(f"fit_{name}"), folder / "x.npz", RIDGE, made]
        found = measured([str(part) for part in command], env, self.limits)
        if made.exists() and reference.exists():
            found["difference"] = difference(made, reference)
        if made != reference:
            made.unlink(missing_ok=True)
        return rates | found


def write_interactions(items: int, file: Path) -> dict[str, int]:
    """Write generated interactions like ML-20M's with some number of items; return the sizes."""
    users = round(USERS_PER_ITEM * items)
    sizes = {"users": users, "items": items, "interactions": users * ITEMS_PER_USER}
    rows, columns = generate(recipe_of("ml-20m", **sizes), seed=1)
    ones = np.ones(len(rows), np.float32)
    x = sp.csr_array((ones, (rows, columns)), shape=(users, items))
    sp.save_npz(file, x, compressed=False)
    return sizes


def difference(file: Path, reference: Path) -> float:
    """Largest absolute difference between the matrices in two files, read row by row."""
    a, b = np.load(file, mmap_mode="r"), np.load(reference, mmap_mode="r")
    return max(float(np.abs(one - other).max()) for one, other in zip(a, b, strict=True))


def fastest(rows: pd.DataFrame) -> pd.DataFrame:
    """Fastest fit of every library and setting; `runs` is how many fits there were."""
    order = pd.MultiIndex.from_frame(rows[KEY].drop_duplicates())
    rows = rows.assign(runs=rows.groupby(KEY)["users"].transform("size"))
    best = rows.sort_values("seconds", kind="stable").drop_duplicates(KEY)
    return best.set_index(KEY).loc[order].reset_index()


def merged(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Old results, with the rows of the numbers of items in `new` replaced by the new rows."""
    kept = old[~old["items"].isin(new["items"])]
    return pd.concat([kept, new] if len(kept) else [new]).sort_values("items", kind="stable")
