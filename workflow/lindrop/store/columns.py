"""Read and write a shard of a model on a pattern: consecutive columns of B, which one job solved.

indptr, indices, data   B in CSR form, with all of its rows and the entries of these columns alone
attributes  model (its name in the catalogue), parameters (JSON), split_sha256, first and stop (the
            range of columns), seconds and megabytes (what the job took)
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lindrop.base.errors import UserError
from lindrop.base.stopwatch import NO_COST, Cost
from lindrop.models.base import Fit, SparseItems
from lindrop.models.pattern.rows import Part, cut, cuts_of, joined
from lindrop.store.checks import within
from lindrop.store.hdf5 import StoredFile, create_file, open_file
from lindrop.store.model import read_sparse

KIND = "columns/1"


def write_columns(
    path: str | Path,
    name: str,
    block: SparseItems,
    columns: range,
    parameters: Mapping[str, Any],
    split_sha256: str,
    cost: Cost,
) -> None:
    """Write columns of B that a model has with these parameters on a split."""
    parts = {part: getattr(block, part) for part in ("indptr", "indices", "data")}
    with create_file(path, KIND, {}, parts.values()) as file:
        for part, values in parts.items():
            file.create_dataset(part, data=values)
        file.attrs["model"] = name
        file.attrs["parameters"] = json.dumps(dict(parameters))
        file.attrs["split_sha256"] = split_sha256
        file.attrs["first"], file.attrs["stop"] = columns.start, columns.stop
        file.attrs["seconds"], file.attrs["megabytes"] = cost.seconds, cost.megabytes


def join_columns(
    paths: Sequence[str | Path],
    name: str,
    items: int,
    parameters: Mapping[str, Any],
    split_sha256: str,
) -> Fit:
    """The fit whose columns are in these files, in their order, with the cost of all of them.

    UserError unless the files are of this model, with these parameters on this split, and have
    every column once.
    """
    parts: list[Part] = []
    cost, stop = NO_COST, 0
    expected = name, json.dumps(dict(parameters)), split_sha256
    for path in paths:
        with open_file(path, KIND) as file:
            found = tuple(file.attrs[key] for key in ("model", "parameters", "split_sha256"))
            if found != expected or file.attrs["first"] != stop:
                raise UserError(
                    f"{path}: is not column {stop:,} and those after it of {name} with "
                    f"{expected[1]}: delete it and run again; {file.maker} makes it anew"
                )
            stop = int(file.attrs["stop"])
            block = _read_block(file, items, range(int(file.attrs["first"]), stop))
            seconds, megabytes = float(file.attrs["seconds"]), float(file.attrs["megabytes"])
        parts.append(cut(block, parts[0].cuts if parts else cuts_of(block)))
        del block
        cost = Cost(cost.seconds + seconds, max(cost.megabytes, megabytes))
    if stop != items:
        raise UserError(
            f"{paths[-1]}: ends at column {stop:,} of {items:,}: delete it and run again"
        )
    return Fit(joined(parts), earlier=cost)


def _read_block(file: StoredFile, items: int, columns: range) -> SparseItems:
    """The columns of a file; Damaged if it has entries of others."""
    block = read_sparse(file, items)
    inside = within(block.indices - columns.start, len(columns))
    file.require(inside, "it holds other columns than it says")
    return block
