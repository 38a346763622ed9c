"""Table and figure of how unevenly interactions are spread over items and users."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lindrop.data.split import Split
from lindrop.output.figures import COLOURS, panels
from lindrop.store.split import read_split

POINTS = 60  # per curve, evenly spaced on a logarithmic axis
SIDES = {
    "items": ("items, most popular first", "interactions of the item"),
    "users": ("users, most active first", "interactions of the user"),
}
STYLES = ["-", "--", ":", "-."]


def data(splits: Sequence[str], names: Sequence[str]) -> pd.DataFrame:
    """Curves of all datasets, from the paths of their split.h5 files and their names."""
    datasets = zip(names, splits, strict=True)
    return pd.concat([curves(name, read_split(file)) for name, file in datasets])


def curves(name: str, split: Split) -> pd.DataFrame:
    """Interactions of the k-th most popular item and the k-th most active user, whole split."""
    parts = split.disjoint()
    counts = {
        "items": np.bincount(np.concatenate([part.sid for part in parts])),
        "users": np.bincount(np.concatenate([part.uid for part in parts])),
    }
    return pd.concat([_curve(name, side, count) for side, count in counts.items()])


def _curve(name: str, side: str, count: np.ndarray) -> pd.DataFrame:
    """Rows of one curve: about POINTS ranks and the interactions at each."""
    falling = np.sort(count[count > 0])[::-1]
    rank = np.unique(np.geomspace(1, len(falling), POINTS).round().astype(int))
    frame = {"dataset": name, "of": side, "rank": rank, "interactions": falling[rank - 1]}
    return pd.DataFrame(frame)


def draw(data: pd.DataFrame) -> Figure:
    """Interactions against rank, both logarithmic: items on the left, users on the right."""
    figure, axes = panels(2)
    for axis, (side, (rank, height)) in zip(axes, SIDES.items(), strict=True):
        curves = data[data["of"] == side].groupby("dataset", sort=False)
        for number, (name, curve) in enumerate(curves):
            style = STYLES[number // len(COLOURS) % len(STYLES)]
            axis.loglog(curve["rank"], curve["interactions"], style, label=name)
        axis.set(xlabel=f"rank of {rank}", ylabel=height)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper")
    return figure
