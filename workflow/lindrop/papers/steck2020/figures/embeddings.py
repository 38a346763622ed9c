"""Embeddings under Steck 2020's constraint, three other penalties and Eq. 10, on popular items."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lindrop.output.figures import COLOURS, WIDTH
from lindrop.papers.steck2020.popular import EMPHASISED, PLAIN, experiments

BLUE, RED, *_ = COLOURS
PARTS = {"encoder": (BLUE, "o", "encoder U"), "decoder": (RED, "s", "decoder V")}
OWN = {
    EMPHASISED: (BLUE, "o-", "full emphasis (Eq. 10)"),
    PLAIN: (RED, "s--", "no emphasis (DLAE)"),
}


def data(splits: Sequence[str], names: Sequence[str]) -> pd.DataFrame:
    """Numbers of the small experiments on every dataset, from the files of its splits."""
    found = [experiments(name, split) for name, split in zip(names, splits, strict=True)]
    return pd.concat(found)


def draw(data: pd.DataFrame) -> Figure:
    """Left: cosines of similar items by penalty. Right: dot products U_i·V_i by rank."""
    datasets = list(data.groupby("dataset", sort=False))
    figure = Figure(figsize=(WIDTH, 0.5 + 2.3 * len(datasets)))
    axes = figure.subplots(len(datasets), 2, squeeze=False, width_ratios=(3, 2))
    for (left, right), (name, numbers) in zip(axes, datasets, strict=True):
        _draw_similar(left, numbers)
        _draw_own(right, numbers)
        items = int(numbers["items"].iloc[0])
        left.set_title(f"{name}, {items} items: penalties", loc="left")
        right.set_title(f"{name}: $U_i \\cdot V_i$", loc="left")
    return figure


def _draw_similar(axis: Axes, numbers: pd.DataFrame) -> None:
    """Draw medians over the items, with bars from the lower to the upper quartile."""
    similar = numbers[numbers["quantity"] == "similar items"]
    models = list(similar["model"].unique())
    for shift, (part, (colour, marker, label)) in zip((-0.12, 0.12), PARTS.items(), strict=True):
        of = similar[similar["part"] == part].set_index("model").loc[models]
        bars = (of["value"] - of["low"], of["high"] - of["value"])
        place = [number + shift for number in range(len(models))]
        style: dict[str, Any] = {"color": colour, "ms": 4, "capsize": 2.5, "label": label}
        axis.errorbar(place, of["value"], bars, fmt=marker, **style)
    axis.axhline(float(similar["value"].iloc[0]), color="k", lw=0.6, ls=":", zorder=0)
    axis.set_xticks(range(len(models)), models, fontsize=7)
    axis.set_ylabel("cosine of 10 similar items")
    axis.set_ylim(0, 1)
    axis.legend(loc="upper left", ncols=2)


def _draw_own(axis: Axes, numbers: pd.DataFrame) -> None:
    items = numbers["items"].iloc[0]
    for model, (colour, style, label) in OWN.items():
        of = numbers[(numbers["quantity"] == "diagonal") & (numbers["model"] == model)]
        axis.plot(of["rank"] / items, of["value"], style, color=colour, ms=4, label=label)
    axis.set(xlabel="rank / number of items", ylabel="mean size of the diagonal of UV'")
    axis.set_ylim(0, None)
    axis.legend(loc="upper left")
