"""Data of Figure 2 of Pal 2020: DropBlock before the last layer of a ResNet-50, and Theorem 2.7.

The theorem is applied as in Section 3: a network of sufficient capacity can have any g(X), so Y
itself is shrunk. Nothing here needs the network, which `lindrop.dropout.deep` trains.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import Data
from lindrop.dropout.dropblock import beta_at, optimum
from lindrop.dropout.samplers import dropblock

CLASSES = 10
HIDDEN, BLOCK = 80, 5
KEEP = 0.5  # our choice: the paper names no θ
SCHEME = dropblock(HIDDEN, KEEP, BLOCK)

UNVERIFIED = " (unverified)"
SYNTHETIC = "synthetic"  # first word of the name of a generated set
OBJECTIVE, SPECTRUM = "objective", "singular values"


def targets(labels: Vector) -> Matrix:
    """Y: indicators of the classes, with samples as columns."""
    return np.asarray(np.arange(CLASSES)[:, None] == labels, dtype=float)


def shown_name(name: str, files: Mapping[str, Mapping[str, Any]]) -> str:
    """Name of a dataset, marked as unverified unless its files are proven to be published."""
    proven = all(receipt["verified_by"] for receipt in files.values())
    return name if proven else f"{name}{UNVERIFIED}"


def data_of(shown: str) -> Data:
    """Kind of data behind a panel with the given name."""
    if shown.startswith(SYNTHETIC):
        return "synthetic"
    return "other" if shown.endswith(UNVERIFIED) else "published"


def deep_table(dataset: str, losses: Matrix, predictions: Matrix, y: Matrix) -> pd.DataFrame:
    """Trained losses and singular values beside those of the theory, by iteration and by rank.

    `losses` and `predictions` are the fields of `training.Trained`.
    """
    best = optimum(y, BLOCK, beta_at(KEEP, BLOCK, HIDDEN))
    sampled, expected = losses.T
    spectrum = np.linalg.svd(predictions, compute_uv=False)
    columns: dict[str, dict[str, object]] = {
        OBJECTIVE: {"sampled": sampled, "trained": expected, "theory": best.value},
        SPECTRUM: {"trained": spectrum, "theory": best.values},
    }
    panels = [
        pd.DataFrame(values).rename_axis("number").reset_index().assign(panel=panel)
        for panel, values in columns.items()
    ]
    table = pd.concat(panels, ignore_index=True).assign(dataset=dataset)
    return table[["dataset", "panel", "number", "sampled", "trained", "theory"]]
