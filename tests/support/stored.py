"""One small file of every kind that lindrop stores, with the function that reads it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lindrop.base.stopwatch import Cost
from lindrop.claims.check_files import read_checks, write_checks
from lindrop.claims.checks import at_most, equal
from lindrop.data.interactions import Interactions, RawCounts
from lindrop.dropout.autoencoders.training import Run
from lindrop.dropout.autoencoders.weights import Weights
from lindrop.linalg.triangle import Triangle
from lindrop.models.base import Fit, FullRank, LowRank, Popularity, ScaledSymmetric, SparseItems
from lindrop.models.pattern.hybrid import Hybrid
from lindrop.models.torch.model import Perceptron
from lindrop.models.tuning import Tested
from lindrop.models.wmf import WeightedFactors
from lindrop.papers.pretorius2018.image_sets import read_image_set, synthetic_set, write_image_set
from lindrop.ranking.metrics import DEFAULT as METRICS
from lindrop.store.columns import join_columns, write_columns
from lindrop.store.curves import read_curves, write_curves
from lindrop.store.gram import Provenance, read_gram, write_gram
from lindrop.store.images import read_images, write_images
from lindrop.store.interactions import read_interactions, write_interactions
from lindrop.store.metrics import read_metrics, read_state, write_metrics
from lindrop.store.model import read_model, write_model
from lindrop.store.receipt import read_receipt, write_receipt
from lindrop.store.spectrum import read_spectrum, write_spectrum
from lindrop.store.split import (
    read_items,
    read_split,
    read_split_facts,
    read_split_matrix,
    read_split_sha256,
    write_split,
)
from lindrop.store.training_run import read_run, write_run
from lindrop.store.trials import read_trials, write_trials
from support.splits import random_split

SHA256 = "5" * 64
ITEMS = np.array([f"item {number}" for number in range(12)], object)
OPTIONS = {"p": [0.1, 0.3], "lambda": [1, 1 / 3], "iterations": 7}


class Stored(NamedTuple):
    """A kind of file: its name, and functions of a path that write and read it."""

    name: str
    write: Callable[[Any], None]
    read: Callable[[Any], Any]


def _interactions(path: Any) -> None:
    codes = np.random.default_rng(0).integers(0, 12, (2, 40), np.int32)
    write_interactions(path, Interactions(*codes, ITEMS, ITEMS, 3.5, RawCounts(50, 12, 12)), {})


def _gram(path: Any) -> None:
    x = np.random.default_rng(1).integers(0, 2, (30, 12)).astype(np.float32)
    write_gram(path, Triangle.of(x.T @ x), Provenance("demo", SHA256, 0, 29, int(x.sum())))


def _spectrum(path: Any) -> None:
    vectors = np.linalg.qr(np.random.default_rng(2).normal(size=(12, 4)))[0]
    write_spectrum(path, (np.array([4.0, 3.0, 2.0, 2.0]), vectors), SHA256)


def _metrics(path: Any) -> None:
    per_user = np.random.default_rng(3).uniform(size=(20, len(METRICS)))
    per_user[4] = np.nan
    fit = Fit(LowRank(per_user, per_user), [{"objective": 2.0}, {"objective": 1.0}])
    table, overall = pd.DataFrame(per_user, columns=METRICS), {"coverage@20": 0.5}
    tested = {
        rank: (Tested(rank, {"p": 0.3}, "", True, table, Cost(1, 2), overall), fit)
        for rank in (5, 7)
    }
    write_metrics(path, "demo", "edlae", tested, "state")


def _images(path: Any) -> None:
    images = np.random.default_rng(4).integers(0, 256, (10, 6, 6), np.uint8)
    write_images(path, images, np.arange(10, dtype=np.uint8), {"sha256": SHA256})


def _run(path: Any) -> None:
    w1 = np.random.default_rng(5).normal(size=(3, 8)).astype(np.float32)
    write_run(path, Run(2, Weights(w1, w1.T.copy()), [[0.0, 1.0], [1.0, 0.5]]), {"code": "1"})


def _trials(path: Any) -> None:
    points = [{"p": p, "lambda": value} for p in OPTIONS["p"] for value in OPTIONS["lambda"]]
    rows = [
        {"model": "edlae", "rank": 5, **point, **dict.fromkeys(METRICS, 0.5)} for point in points
    ]
    write_trials(path, pd.DataFrame(rows), "edlae", SHA256)


def _curves(path: Any) -> None:
    values = np.random.default_rng(6).normal(size=30)
    write_curves(path, pd.DataFrame({"run": np.arange(30), "objective": values}))


def _checks(path: Any) -> None:
    write_checks(path, [equal("a", "Λ", 1 / 3, 1, 0.1), at_most("b", "two", 1, 2)])


def _receipt(path: Any) -> None:
    write_receipt(
        path, {"file": "ratings.csv", "bytes": 12345, "sha256": SHA256, "verified_by": None}
    )


def _model(model: Any) -> Callable[[Any], None]:
    history = [{"objective": 2.0, "change": 0.1}]
    return lambda path: write_model(path, "m", Fit(model, history), ITEMS, {"rank": 4}, SHA256)


def _models() -> dict[str, Any]:
    rng = np.random.default_rng(7)
    wide = rng.normal(size=(12, 12)).astype(np.float32)
    narrow = np.ascontiguousarray(wide[:, :4])
    indptr = np.arange(0, 26, 2, dtype=np.int32)
    indices = np.array([column for row in range(12) for column in (row % 6, 6 + row % 5)], np.int32)
    weights, biases = (narrow, np.ascontiguousarray(narrow.T)), (narrow[0], wide[0])
    sparse = indptr, indices, wide.ravel()[:24].copy()
    return {
        "full rank": ScaledSymmetric(wide[0], wide[1], wide.ravel().copy()),
        "any matrix": FullRank(wide),
        "low rank": LowRank(narrow, narrow + 1),
        "sparse": SparseItems(*sparse),
        "low rank and sparse": Hybrid(narrow, narrow + 1, *sparse),
        "popularity": Popularity(np.arange(12.0)),
        "factors": WeightedFactors(narrow, 2.0, 3.0),
        "perceptron": Perceptron(weights, biases, (True, False), True),
    }


def _columns(path: Any) -> None:
    block = _models()["sparse"]
    write_columns(path, "sparse_edlae", block, range(12), OPTIONS, SHA256, Cost(1, 2))


def _read_whole_split(path: Any) -> Any:
    return (
        read_split(path),
        [read_split_matrix(path, part) for part in ("train", "test/fold_in")],
        read_split_facts(path),
        read_split_sha256(path),
        read_items(path),
    )


HDF5 = [
    Stored("interactions", _interactions, read_interactions),
    Stored("split", lambda path: write_split(path, random_split(), {}), _read_whole_split),
    Stored("gram", _gram, lambda path: read_gram(path, SHA256)),
    Stored("spectrum", _spectrum, lambda path: read_spectrum(path, SHA256)),
    Stored("metrics", _metrics, lambda path: (read_metrics(path), read_state(path))),
    Stored("images", _images, read_images),
    Stored("image set", lambda path: write_image_set(path, synthetic_set(8, 5, 1)), read_image_set),
    Stored("run", _run, read_run),
    Stored(
        "columns",
        _columns,
        lambda path: join_columns([path], "sparse_edlae", 12, OPTIONS, SHA256),
    ),
    *(Stored(f"model: {name}", _model(model), read_model) for name, model in _models().items()),
]
TEXT = [
    Stored("trials", _trials, lambda path: read_trials([path], OPTIONS, METRICS, "edlae", SHA256)),
    Stored("curves", _curves, read_curves),
    Stored("checks", _checks, read_checks),
    Stored("receipt", _receipt, read_receipt),
]
