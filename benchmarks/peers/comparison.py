"""Fits of the same models by every library, each in its own process, and their results."""

import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from peers.libraries import LIBRARIES, REFERENCE, ROOT, Missing
from peers.machine import description, environment
from peers.models import MODELS
from peers.process import Limits, measured

from lindrop.data.synthetic.generator import generate
from lindrop.data.synthetic.recipe import recipe_of
from lindrop.models.base import Training
from lindrop.models.slim import fit_slim

USERS_PER_ITEM, ITEMS_PER_USER = 7.5, 73
ROUNDS, ENOUGH = 3, 60.0  # the round of all libraries is not repeated after ENOUGH seconds
SETTLED = 1e-6  # the reference of SLIM: no weight would move by more
PROVED = 256  # columns of the reference for which NumPy proves it
KEY = ["model", "items", "kernels", "library"]
FOUND = ["seconds", "cpu_seconds", "peak_gb", "before_gb", "holds", "difference", "versions"]
RATES = ["product_gflops", "copy_gbs"]
COLUMNS = [*KEY, "users", "interactions", "threads", *FOUND, "did_not_finish", *RATES]


@dataclass
class Comparison:
    """Settings of a comparison: the interpreter of each library, kernels, threads and limits.

    A library that has not finished a model is not tried with more items.
    """

    pythons: dict[str, str | Missing]
    kernels: Sequence[str]
    threads: int
    limits: Limits
    rounds: int = ROUNDS
    ended: dict[tuple[str, str], str] = field(default_factory=dict)

    def of(self, model: str, items: int) -> pd.DataFrame:
        """Table with the fastest fit of a model by each library, for each of the kernels."""
        with tempfile.TemporaryDirectory() as folder:
            rows = pd.DataFrame(self._rows(model, items, Path(folder)), columns=COLUMNS)
        return fastest(rows).assign(machine=description(self.threads))

    def _rows(self, model: str, items: int, folder: Path) -> Iterator[dict[str, Any]]:
        sizes = write_interactions(items, folder / "x.npz")
        if (MODELS[model].like or model) == "slim":
            settled = settled_slim(folder / "x.npz", **MODELS[model].options)
            np.save(folder / "reference.npy", settled)
        who = [name for name in self.pythons if model in LIBRARIES[name].fits]
        paths = f"{ROOT / 'benchmarks'}:{ROOT / 'workflow'}"
        for kernels in self.kernels:
            env, start = environment(kernels, self.threads, PYTHONPATH=paths), time.monotonic()
            for done in range(self.rounds):
                if done and time.monotonic() - start > ENOUGH:
                    break
                for name in who:
                    row = {"model": model, **sizes, "kernels": kernels, "library": name}
                    row |= {"threads": self.threads, **self._fit(model, name, env, folder)}
                    print(row, flush=True)
                    yield row

    def _fit(self, model: str, name: str, env: dict[str, str], folder: Path) -> dict[str, Any]:
        python = self.pythons[name]
        if isinstance(python, Missing):
            return {"did_not_finish": python.reason}
        if (model, name) in self.ended:
            return {"did_not_finish": self.ended[model, name]}
        made, reference = folder / "made.npy", folder / "reference.npy"
        rates = measured([sys.executable, "-m", "peers.rates"], env, self.limits)
        words = [model, folder / "x.npz", json.dumps(MODELS[model].options), made]
        command = [python, "-m", f"peers.fits.{name}", *map(str, words)]
        found = measured(command, env, self.limits)
        if "did_not_finish" in found:
            self.ended[model, name] = found["did_not_finish"]
        elif name == REFERENCE:
            made.replace(reference)
            found["difference"] = 0.0
        elif reference.exists():
            found["difference"] = difference(made, reference)
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


def settled_slim(interactions: Path, l1: float, l2: float) -> np.ndarray:
    """B of SLIM, solved by lindrop far below the tolerances of the fits that are compared with it.

    NumPy proves it independently for `PROVED` columns: by the conditions of a minimum in float64,
    no weight would move by more than ten times `SETTLED`.
    """
    x = sp.csr_array(sp.load_npz(interactions))
    b = fit_slim(Training.of(x, keep=False), l1, l2, tolerance=SETTLED).model.matrix
    x = x.astype(np.float64)
    sample = np.linspace(0, b.shape[0] - 1, PROVED).astype(int)
    held, own = b[:, sample].toarray().astype(np.float64), x.power(2).sum(axis=0)[:, None]
    residual = x.T @ (x[:, sample].toarray() - x @ held)
    best = np.maximum(residual + own * held - l1, 0.0) / (own + l2)
    best[sample, np.arange(len(sample))] = 0.0
    moved = float(abs(best - held).max())
    if moved > 10 * SETTLED:
        raise ArithmeticError(f"a weight of the reference of SLIM would move by {moved:.1e}")
    return b.toarray()


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
    """Old results, with rows of the models and numbers of items in `new` replaced by new ones."""
    again = pd.MultiIndex.from_frame(new[["model", "items"]])
    kept = old[~pd.MultiIndex.from_frame(old[["model", "items"]]).isin(again)]
    both = pd.concat([kept, new] if len(kept) else [new])
    order = {name: place for place, name in enumerate(MODELS)}
    return (
        both.assign(place=both["model"].map(order))
        .sort_values(["place", "items"], kind="stable")
        .drop(columns="place")
    )
