"""The published code's splits and results, read without the library's own code."""

import gzip
import json
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from lindrop.data.split import Protocol

ML_20M = "formats/ml-20m-format-from-100k.zip"
# Name, format, file and protocol of each set that the published code split.
CASES = [
    ("ml-100k", "movielens", ML_20M, Protocol(100, 3.5, 5)),
    ("edge-ml-100k-5star", "movielens", ML_20M, Protocol(200, 4.5, 1, 3)),
    ("ml-latest-small", "movielens", "ml-latest-small/ratings.csv", Protocol(50, 3.5, 5)),
    ("msd-format", "msd", "formats/msd-format-from-100k.zip", Protocol(100, None, 20, 5)),
    (
        "netflix-format",
        "netflix",
        "formats/netflix-format-from-100k.tar.gz",
        Protocol(100, 3.5, 5),
    ),
    (
        "netflix-format",
        "netflix",
        "formats/netflix-kaggle-layout-from-100k.zip",
        Protocol(100, 3.5, 5),
    ),
]


@dataclass(frozen=True)
class Golden:
    """One set: its training users, its (fold-in, held-out) users by part, and expected results."""

    train: sp.csr_array
    parts: dict[str, tuple[sp.csr_array, sp.csr_array]]
    models: dict

    def settings(self, model):
        return self.models[model]["settings"]

    def expect(self, model, part, found, tolerance):
        """A table of `ranking.evaluation.summary` against the float64 results of that model."""
        for metric, wanted in self.models[model]["results"]["float64"][part].items():
            mean = wanted["nanmean"] if wanted["mean"] is None else wanted["mean"]
            assert found.loc[metric, "mean"] == pytest.approx(mean, abs=tolerance), (part, metric)
            assert found.loc[metric, "n_nan"] == wanted.get("n_nan", 0)


def read_golden(folder):
    items = len(gzip.decompress((folder / "unique_sid.txt.gz").read_bytes()).splitlines())
    table = {
        name: pd.read_csv(folder / f"{name}.csv.gz")
        for name in ("train", "validation_tr", "validation_te", "test_tr", "test_te")
    }

    def matrix(name, first, last):
        rows = table[name]
        places = (rows["uid"] - first, rows["sid"])
        return sp.csr_array((np.ones(len(rows)), places), shape=(last - first + 1, items))

    def part(name):
        users = pd.concat([table[f"{name}_{half}"]["uid"] for half in ("tr", "te")])
        return tuple(matrix(f"{name}_{half}", users.min(), users.max()) for half in ("tr", "te"))

    return Golden(
        train=matrix("train", 0, table["train"]["uid"].max()),
        parts={name: part(name) for name in ("validation", "test")},
        models=json.loads((folder / "metrics.json").read_text())["models"],
    )
