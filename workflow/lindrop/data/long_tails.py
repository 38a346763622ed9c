"""How unevenly interactions are spread over items and users."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lindrop.data.split import Split
from lindrop.figures import panels

POINTS = 60  # per curve, evenly spaced on a logarithmic axis
SIDES = {"items": "items, by popularity", "users": "users, by activity"}


def long_tails(name: str, split: Split) -> pd.DataFrame:
    """Interactions of the k-th most popular item and the k-th most active user, all parts."""
    parts = split.parts().values()
    counts = {
        "items": np.bincount(np.concatenate([part.sid for part in parts])),
        "users": np.bincount(np.concatenate([part.uid for part in parts])),
    }
    return pd.concat([_curve(name, side, count) for side, count in counts.items()])


def _curve(name: str, side: str, count: np.ndarray) -> pd.DataFrame:
    falling = np.sort(count)[::-1]
    rank = np.unique(np.geomspace(1, len(falling), POINTS).round().astype(int))
    frame = {"dataset": name, "of": side, "rank": rank, "interactions": falling[rank - 1]}
    return pd.DataFrame(frame)


def draw_long_tails(data: pd.DataFrame) -> Figure:
    """Rank against interactions, both logarithmic: items on the left, users on the right."""
    figure, axes = panels(2)
    for axis, (side, title) in zip(axes, SIDES.items(), strict=True):
        for name, curve in data[data["of"] == side].groupby("dataset", sort=False):
            axis.loglog(curve["rank"], curve["interactions"], label=name)
        axis.set(xlabel=f"rank of {title}", ylabel="interactions")
    axes[0].legend()
    return figure
