"""Read and write model.h5: a fitted model that can be used without its training data.

items                    str      raw item ids, in the order of X's columns (int64: see Ids)
scale, diagonal          float    s and d of a full-rank model B = A dMat(s) + dMat(d)
triangle                 float    its symmetric A of zero diagonal (see lindrop.linalg.triangle)
matrix                   float    B of another full-rank model, or of an earlier version
encoder, decoder         float    U and V of a low-rank model, items × rank
indptr, indices, data             B of a sparse item-item model, in CSR form; beside U and V, S
item_factors, alpha, ridge        Y, α and λ of WMF
counts                   float    training users of each item, for the popularity model
weights_1, bias_1, …     float    layers of a perceptron
tanh                     bool     whether tanh follows each of these layers
normalised               bool     whether the perceptron's input rows are scaled to length 1
shares                   float64  share of the training users who have each item
history                  float    one column per name in its attribute `columns` (iterative solvers)
attributes  model (its name in the catalogue), parameters (JSON), converged, split_sha256, and
            source (JSON): the columns of the table that its interactions are from, and what its
            protocol made of ratings and repeats
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.sparse as sp

from lindrop.base.arrays import Vector
from lindrop.base.errors import UserError
from lindrop.data.interactions import Ids, Places, are_numbers, listed
from lindrop.linalg.kernels import Array
from lindrop.linalg.triangle import entries
from lindrop.models.base import Fit, FullRank, LowRank, Popularity, ScaledSymmetric, SparseItems
from lindrop.ranking.evaluation import Model, places, top_items
from lindrop.store.checks import ascending_in_rows, divides, within
from lindrop.store.hdf5 import StoredFile, create_file, open_file, write_ids

KIND = "model/1"
ONCE = "drop"  # of the values of `protocol.repeats` the one by which a repeated pair counts once
# Datasets of the file by the name of the model's class. A class that belongs to one model alone is
# imported when it is read: an import here would put its code into the hash of every model's jobs.
PARTS: Mapping[str, tuple[str, ...]] = {
    "ScaledSymmetric": ("scale", "diagonal", "triangle"),
    "FullRank": ("matrix",),
    "Hybrid": ("encoder", "decoder", "indptr", "indices", "data"),
    "LowRank": ("encoder", "decoder"),
    "SparseItems": ("indptr", "indices", "data"),
    "WeightedFactors": ("item_factors", "alpha", "ridge"),
    "Popularity": ("counts",),
}
BESIDE = {"items", "shares", "history"}  # what a file may hold beside them


@dataclass(frozen=True)
class SavedModel:
    """A fitted model with its name, item ids, parameters and the fingerprint of its split."""

    name: str
    fit: Fit
    items: Ids
    parameters: dict[str, Any]
    split_sha256: str
    shares: Vector | None = None  # of the training users, who have each item
    source: Mapping[str, Any] = field(default_factory=dict)  # how its interactions were read

    @property
    def weighted(self) -> bool:
        """Whether an item that a user has repeatedly weighs more, as in the training data."""
        return str(self.source.get("repeats", ONCE)) != ONCE

    def popularity(self) -> Vector:
        """Share of the training users who have each item; UserError if the model has none."""
        if self.shares is None:
            raise UserError(
                f"{self.name}: the model holds no shares of users, so it has nothing to recommend "
                "to a user without known items; fit it again, or leave these users out"
            )
        return self.shares

    @cached_property
    def _places(self) -> Places:
        return Places(self.items)

    def recommend(self, history: Sequence[str], k: int = 10) -> list[str]:
        """Raw ids of the k best items for a user with this history of raw ids, best first.

        Items that the model does not know are ignored; UserError if it knows none.
        """
        had = Counter(listed(history, "history").to_pylist())
        known = self._places.of(had)
        if not known:
            raise UserError("none of the history's items is known to the model")
        entries = np.ones(len(known), np.float32)
        if self.weighted:
            entries[:] = [had[str(self.items[column])] for column in known]
        row = (entries, (np.zeros(len(known), int), known))
        x = sp.csr_array(row, shape=(1, len(self.items)))
        best, _ = top_items(self.fit.model, x, places(k, len(self.items)))
        return [str(self.items[column]) for column in best[0] if column >= 0]


def write_model(
    path: str | Path,
    name: str,
    fit: Fit,
    items: Ids,
    parameters: Mapping[str, Any] | None = None,
    split_sha256: str = "",
    shares: Vector | None = None,
    source: Mapping[str, Any] | None = None,
) -> None:
    """Write a fitted model with the raw ids of its items.

    `shares`, which `Training.shares` gives, are recommended to users without known items.
    `source` says how the file of interactions was read, such as the names of its columns.
    """
    parts = _parts(fit.model)
    if isinstance(items, np.ndarray) and are_numbers(items):
        good = len(np.unique(items)) == len(items)
    else:
        items = np.array(list(items), object)
        good = all(isinstance(item, str) for item in items) and len(set(items)) == len(items)
    if not good:
        raise UserError("the items of a model must be texts, each of which occurs once")
    if len(items) != _items_of(parts):
        raise UserError(f"{len(items):,} items are named, the model has {_items_of(parts):,}")
    if shares is not None:
        if np.shape(shares) != (len(items),) or not np.isfinite(shares).all():
            raise UserError(f"shares must be one finite number for each of {len(items):,} items")
        parts["shares"] = shares
    with create_file(path, KIND, dict(source or {}), [*parts.values(), items]) as file:
        write_ids(file, "items", items)
        for part, values in parts.items():
            file.create_dataset(part, data=values)
        file.attrs["model"] = name
        file.attrs["parameters"] = json.dumps(dict(parameters or {}), default=_plain)
        file.attrs["converged"] = fit.converged
        file.attrs["split_sha256"] = split_sha256
        write_history(file, fit)


def read_model(path: str | Path) -> SavedModel:
    """Read a model written by `write_model`."""
    with open_file(path, KIND) as file:
        items, converged = file.ids("items"), bool(file.attrs["converged"])
        return SavedModel(
            name=str(file.attrs["model"]),
            fit=Fit(_read_parts(file, len(items)), read_history(file), converged),
            items=items,
            parameters=json.loads(file.attrs["parameters"]),
            split_sha256=str(file.attrs["split_sha256"]),
            shares=file.finite("shares", (len(items),)) if "shares" in file else None,
            source=file.source(),
        )


def _parts(model: Model) -> dict[str, Array]:
    """Arrays and numbers that define a model, by their names in the file."""
    name = type(model).__name__
    if name == "Perceptron":
        parts: dict[str, Array] = model.parts()  # type: ignore[attr-defined]
        return parts
    return {part: np.asarray(getattr(model, part)) for part in PARTS[name]}


def _plain(value: Any) -> Any:
    """A number of NumPy as one of Python, for JSON; UserError for anything else."""
    if isinstance(value, np.generic):
        return value.item()
    raise UserError(f"a parameter of a model must be a number or a text, not {value!r}")


def _items_of(parts: Mapping[str, Array]) -> int:
    """Number of items of the model with these parts: the rows of its first matrix."""
    if "indptr" in parts:
        return len(parts["indptr"]) - 1
    return len(parts.get("weights_1", next(iter(parts.values()))))


def _read_parts(file: StoredFile, items: int) -> Model:
    """The model for this number of items that the datasets of a file define.

    Damaged if there is none, or if its arrays are not finite or do not fit together. UserError if a
    part is one that this version does not know, as it would be left out.
    """
    if "weights_1" in file:
        return _read_perceptron(file, items)
    parts = {*file.names()} - BESIDE
    for kind, names in PARTS.items():
        if parts == {*names}:
            return READERS[kind](file, items)
    if unknown := sorted(parts - {name for names in PARTS.values() for name in names}):
        raise UserError(
            f"{file.path}: holds {', '.join(unknown)}, which this version of lindrop does not "
            "know: read it with the version that wrote it, or fit it again"
        )
    raise file.damaged("it holds no model")


def _read_low_rank(file: StoredFile, items: int) -> LowRank:
    encoder = file.finite("encoder", (items, None))
    return LowRank(encoder, file.finite("decoder", encoder.shape))


def read_sparse(file: StoredFile, items: int) -> SparseItems:
    """B of a sparse item-item model, with as many rows and at most as many columns as `items`."""
    indptr = file.array("indptr", "i", (items + 1,))
    indices = file.array("indices", "i", (None,))
    data = file.finite("data", (len(indices),))
    file.require(divides(indptr, len(indices)), "indptr does not divide the entries into rows")
    file.require(within(indices, items), "indices leaves the list of items")
    file.require(ascending_in_rows(indices, indptr), "the indices of a row do not rise")
    return SparseItems(indptr, indices, data)


def _read_hybrid(file: StoredFile, items: int) -> Model:
    low_rank, sparse = _read_low_rank(file, items), read_sparse(file, items)
    both: Model = import_module("lindrop.models.pattern.hybrid").Hybrid(
        low_rank.encoder, low_rank.decoder, sparse.indptr, sparse.indices, sparse.data
    )
    return both


def _read_factors(file: StoredFile, items: int) -> Model:
    alpha, ridge = (file.array(name, "fiu", ())[()] for name in ("alpha", "ridge"))
    for value in (alpha, ridge):
        file.require(0 <= value < np.inf, "alpha or ridge is negative or not finite")
    y = file.finite("item_factors", (items, None))
    factors: Model = import_module("lindrop.models.wmf").WeightedFactors(y, alpha, ridge)
    return factors


def _read_perceptron(file: StoredFile, items: int) -> Model:
    (layers,) = file.shape("tanh")
    parts = {
        "tanh": file.array("tanh", "b", (layers,)),
        "normalised": file.array("normalised", "b", ()),
    }
    inputs = items
    for number in range(1, layers + 1):
        outputs = items if number == layers else None
        weights = file.finite(f"weights_{number}", (inputs, outputs))
        inputs = weights.shape[1]
        parts[f"weights_{number}"] = weights
        parts[f"bias_{number}"] = file.finite(f"bias_{number}", (inputs,))
    perceptron: Model = import_module("lindrop.models.torch.model").Perceptron.of(parts)
    return perceptron


def _read_symmetric(file: StoredFile, items: int) -> ScaledSymmetric:
    scale, diagonal = (file.finite(name, (items,)) for name in ("scale", "diagonal"))
    return ScaledSymmetric(scale, diagonal, file.finite("triangle", (entries(items),)))


READERS: Mapping[str, Callable[[StoredFile, int], Model]] = {
    "ScaledSymmetric": _read_symmetric,
    "FullRank": lambda file, items: FullRank(file.finite("matrix", (items, items))),
    "Hybrid": _read_hybrid,
    "LowRank": _read_low_rank,
    "SparseItems": read_sparse,
    "WeightedFactors": _read_factors,
    "Popularity": lambda file, items: Popularity(file.finite("counts", (items,))),
}


def write_history(group: h5py.Group, fit: Fit) -> None:
    """Write the solver's history, one row per iteration, if the fit has one."""
    if fit.history:
        columns = list(fit.history[0])
        rows = np.array([[row[column] for column in columns] for row in fit.history])
        group.create_dataset("history", data=rows).attrs["columns"] = columns


def read_history(file: StoredFile) -> list[Mapping[str, float]]:
    """Solver history, one mapping per iteration; empty if the file has none."""
    if "history" not in file:
        return []
    columns = list(file.attributes_of("history")["columns"])
    rows = file.array("history", "fiu", (None, len(columns)))
    return [dict(zip(columns, map(float, row), strict=True)) for row in rows]
