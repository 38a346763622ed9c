"""Read and write metrics.h5: ranking metrics of a chosen model for every test user, at each rank.

There is one group per rank with `per_user` (float64, users × metrics, NaN where nothing was held
out) and, for iterative solvers, `history`. Its attributes are parameters (JSON), edge, converged,
the cost of the fit (seconds, megabytes), `model_megabytes`, `overall` (JSON), the metrics that only
the whole model has, such as coverage@100, and `groups` (JSON), metrics by groups of items and of
users. The file's attribute `metrics` names the columns of `per_user`; `state` is the fingerprint of
everything that a deep model was made from.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from lindrop.base.errors import UserError
from lindrop.base.stopwatch import Cost
from lindrop.models.base import Fit
from lindrop.models.tuning import Tested
from lindrop.store.hdf5 import StoredFile, create_file, open_file
from lindrop.store.model import write_history

KIND = "metrics/4"


def write_metrics(
    path: str | Path,
    dataset: str,
    model: str,
    results: Mapping[int, tuple[Tested, Fit]],
    state: str = "",
) -> None:
    """Write test metrics and solver history of a model; `results` is keyed by rank."""
    tables = [tested.per_user for tested, _ in results.values()]
    with create_file(path, KIND, {}, [table.to_numpy() for table in tables]) as file:
        file.attrs["dataset"], file.attrs["model"] = dataset, model
        file.attrs["metrics"], file.attrs["state"] = list(tables[0]), state
        for tested, fit in results.values():
            group = file.create_group(str(tested.rank))
            group.create_dataset("per_user", data=tested.per_user.to_numpy(np.float64))
            group.attrs["parameters"] = json.dumps(tested.parameters)
            group.attrs["overall"] = json.dumps(dict(tested.overall))
            group.attrs["groups"] = tested.groups.to_json(orient="split", double_precision=15)
            group.attrs["edge"] = tested.edge
            group.attrs["converged"] = tested.converged
            group.attrs["seconds"] = tested.cost.seconds
            group.attrs["megabytes"] = tested.cost.megabytes
            group.attrs["model_megabytes"] = tested.model_megabytes
            write_history(group, fit)


def read_state(path: str | Path) -> str:
    """Fingerprint of everything that a deep model was made from; empty for other models."""
    with open_file(path, KIND) as file:
        return str(file.attrs.get("state", ""))


def read_metrics(path: str | Path) -> dict[int, Tested]:
    """Test results of a model by rank, in ascending order."""
    with open_file(path, KIND) as file:
        return {rank: _tested(file, rank) for rank in sorted(map(int, file.names()))}


def read_metrics_of(path: str | Path) -> dict[int, Tested]:
    """Test results of the dataset and model that the file `<dataset>/<model>.h5` is named after.

    UserError if it holds those of another model or dataset.
    """
    path = Path(path)
    with open_file(path, KIND) as file:
        found = str(file.attrs["dataset"]), str(file.attrs["model"])
        if found != (path.parent.name, path.stem):
            raise UserError(
                f"{path}: holds the metrics of {found[1]} on the dataset {found[0]}: delete it and "
                f"run again; {file.maker} makes it anew"
            )
    return read_metrics(path)


def _tested(file: StoredFile, rank: int) -> Tested:
    """Test result of one rank."""
    attributes = file.attributes_of(str(rank))
    names = [str(name) for name in file.attrs["metrics"]]
    per_user = file.array(f"{rank}/per_user", "f", (None, len(names)))
    overall = dict(json.loads(attributes["overall"]))
    for values in (per_user, np.array([*overall.values()], np.float64)):
        file.require(not np.isinf(values).any(), "a metric is infinite")
    return Tested(
        rank=rank,
        parameters=json.loads(attributes["parameters"]),
        edge=str(attributes["edge"]),
        converged=bool(attributes["converged"]),
        per_user=pd.DataFrame(per_user, columns=names),
        overall=overall,
        groups=_groups(attributes["groups"]),
        cost=Cost(*(float(attributes[name]) for name in ("seconds", "megabytes"))),
        model_megabytes=float(attributes["model_megabytes"]),
    )


def _groups(text: str) -> pd.DataFrame:
    """Metrics by groups; JSON holds null where a group has no users, or only one and no error."""
    found = pd.DataFrame(**json.loads(text))
    return found.astype({name: float for name in ("mean", "stderr") if name in found})
