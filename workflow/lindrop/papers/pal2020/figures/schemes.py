"""Characteristic matrices C̄ of four schemes of Pal 2020, exact and of sampled masks."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lindrop.base.arrays import Matrix
from lindrop.dropout.samplers import (
    dropblock,
    dropout,
    gaussian_noise,
    overlapping_dropblock,
    seed_keep_of,
)
from lindrop.output.figures import page
from lindrop.papers.pal2020.synthetic import Noise


def data(
    seed: int, *, nodes: int = 20, block: int = 5, keep: float = 0.5, draws: int = 20_000
) -> pd.DataFrame:
    """C̄ of four schemes, exact and of sampled z/μ, entry by entry.

    The fourth scheme is Gaussian noise, whose correlation falls with the distance of two nodes.
    """
    place = np.arange(nodes)
    decay = (1 - keep) / keep * 0.8 ** np.abs(place[:, None] - place)
    of_nodes = {
        "dropout": dropout(nodes, keep),
        "DropBlock": dropblock(nodes, keep, block),
        "overlapping DropBlock": overlapping_dropblock(nodes, seed_keep_of(keep, block), block),
    }
    laws: dict[str, tuple[Noise, Matrix]] = {
        name: (scheme.noise, scheme.characteristic) for name, scheme in of_nodes.items()
    } | {"Gaussian noise": (partial(gaussian_noise, decay), decay)}
    row, column = np.indices(decay.shape)
    found = []
    streams = np.random.default_rng(seed).spawn(len(laws))
    for (name, (noise, exact)), rng in zip(laws.items(), streams, strict=True):
        entries = {"i": row, "j": column, "exact": exact, "sampled": np.cov(noise(draws, rng).T)}
        table = pd.DataFrame({key: values.ravel() for key, values in entries.items()})
        found.append(table.assign(scheme=name))
    return pd.concat(found, ignore_index=True)


def draw(matrices: pd.DataFrame) -> Figure:
    """Characteristic matrices: exact on and above the diagonal, of sampled masks below it."""
    schemes = list(matrices.groupby("scheme", sort=False))
    figure = page(2.1)
    axes = figure.subplots(1, len(schemes), sharey=True)
    upper = matrices["i"] <= matrices["j"]
    shown = matrices["exact"].where(upper, matrices["sampled"])
    colours: dict[str, Any] = {"vmin": shown.min(), "vmax": shown.max(), "cmap": "viridis"}
    for axis, (name, matrix) in zip(axes, schemes, strict=True):
        image = shown[matrix.index].to_numpy().reshape(matrix["i"].nunique(), -1)
        nodes = (0.5, len(image) + 0.5)
        drawn = axis.imshow(image, extent=nodes + nodes[::-1], **colours)
        corner: dict[str, Any] = {"transform": axis.transAxes, "color": "white", "size": 7}
        axis.text(0.95, 0.95, "exact", ha="right", va="top", **corner)
        axis.text(0.05, 0.05, "sampled", ha="left", va="bottom", **corner)
        axis.set_title(name, loc="left")
        axis.set_xlabel("hidden node")
        axis.grid(False)
    axes[0].set_ylabel("hidden node")
    figure.colorbar(drawn, ax=axes, label="entry of C̄", shrink=0.8)
    return figure
