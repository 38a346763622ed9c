"""model.h5: a fitted model that can be used without its data.

items                    str      raw ids, by column
matrix                   float    B, of a full-rank model
encoder, decoder         float    U and V, items × rank
indptr, indices, data             B, of a sparse item-item model, in CSR form
item_factors, alpha, ridge        Y, α and λ of WMF
counts                   float    of popularity
weights_1, bias_1, …     float    layers of a perceptron, with
tanh, normalised         bool     which of them tanh follows, and whether rows enter with length 1
history                  float    one column per name in its attribute `columns` (iterative solvers)
attributes  model (its name in the catalogue), parameters (JSON), converged, split_sha256
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.sparse as sp

from lindrop.base.errors import UserError
from lindrop.data.interactions import Ids
from lindrop.linalg.kernels import Array
from lindrop.models.base import Fit, FullRank, LowRank, Popularity, SparseItems
from lindrop.models.torch.model import Perceptron
from lindrop.models.wmf.factors import WeightedFactors
from lindrop.ranking.evaluation import Model, top_items
from lindrop.store.hdf5 import create_file, open_file, read_ids, write_ids

KIND = "model/1"
PARTS: Mapping[type[Model], tuple[str, ...]] = {
    FullRank: ("matrix",),
    LowRank: ("encoder", "decoder"),
    SparseItems: ("indptr", "indices", "data"),
    WeightedFactors: ("item_factors", "alpha", "ridge"),
    Popularity: ("counts",),
}


@dataclass(frozen=True)
class SavedModel:
    """A fit with the ids of its items and where it came from."""

    name: str
    fit: Fit
    items: Ids
    parameters: dict[str, Any]
    split_sha256: str

    def recommend(self, history: Sequence[str], k: int = 10) -> list[str]:
        """The k best items for someone with this history, by raw id.

        Items that the model does not know are ignored; at least one must be known.
        """
        if isinstance(history, str):
            raise UserError(f"a history is a list of items, not the text {history!r}")
        position = {item: column for column, item in enumerate(self.items)}
        known = sorted({position[item] for item in map(str, history) if item in position})
        if not known:
            raise UserError("none of the history's items is known to the model")
        row = (np.ones(len(known), np.float32), (np.zeros(len(known), int), known))
        x = sp.csr_array(row, shape=(1, len(self.items)))
        best, _ = top_items(self.fit.model, x, k)
        return [str(self.items[column]) for column in best[0] if column >= 0]


def write_model(
    path: str | Path,
    name: str,
    fit: Fit,
    items: Ids,
    parameters: Mapping[str, Any] | None = None,
    split_sha256: str = "",
) -> None:
    parts = _parts(fit.model)
    with create_file(path, KIND, {}, [*parts.values(), items]) as file:
        write_ids(file, "items", items)
        for part, values in parts.items():
            file.create_dataset(part, data=values)
        file.attrs["model"] = name
        file.attrs["parameters"] = json.dumps(dict(parameters or {}))
        file.attrs["converged"] = fit.converged
        file.attrs["split_sha256"] = split_sha256
        write_history(file, fit)


def read_model(path: str | Path) -> SavedModel:
    with open_file(path, KIND) as file:
        return SavedModel(
            name=str(file.attrs["model"]),
            fit=Fit(_read_parts(file), read_history(file), bool(file.attrs["converged"])),
            items=read_ids(file, "items"),
            parameters=json.loads(file.attrs["parameters"]),
            split_sha256=str(file.attrs["split_sha256"]),
        )


def _parts(model: Model) -> dict[str, Array]:
    if isinstance(model, Perceptron):
        return model.parts()
    return {part: np.asarray(getattr(model, part)) for part in PARTS[type(model)]}


def _read_parts(file: h5py.File) -> Model:
    if "weights_1" in file:
        return Perceptron.of({name: file[name][()] for name in file if name != "items"})
    for kind, names in PARTS.items():
        if all(name in file for name in names):
            model: Model = kind(*(file[name][()] for name in names))
            return model
    raise UserError(f"{file.filename}: holds no model; delete it and rerun")


def write_history(group: h5py.Group, fit: Fit) -> None:
    if fit.history:
        columns = list(fit.history[0])
        rows = np.array([[row[column] for column in columns] for row in fit.history])
        group.create_dataset("history", data=rows).attrs["columns"] = columns


def read_history(group: h5py.Group) -> list[Mapping[str, float]]:
    if "history" not in group:
        return []
    columns = list(group["history"].attrs["columns"])
    return [dict(zip(columns, map(float, row), strict=True)) for row in group["history"][:]]
