"""The theorem (Eq. 6) of Steck 2020 by sampled masks, and dropout in several layers (E6)."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lindrop.output.figures import COLOURS, panels
from lindrop.papers.steck2020.sampling import deep_dropout_table, theorem_curves

Tables = tuple[pd.DataFrame, pd.DataFrame]  # the tables `convergence` and `layers`


def data(seed: int) -> Tables:
    """Distances of sampled minimisers to the theorem's, and objectives of random deep networks."""
    return theorem_curves(seed), deep_dropout_table(seed)


def table(data: Tables) -> pd.DataFrame:
    """Both tables as one, with a column that names the panel."""
    panels = dict(zip(("convergence", "layers"), data, strict=True))
    return pd.concat(panels, names=["panel"]).reset_index("panel").convert_dtypes()


def draw(data: Tables) -> Figure:
    """Left: sampled minimisers approach the theorem's. Right: the noise in deep second moments."""
    curves, deep = data
    figure, (left, right) = panels(2, height=2.6)
    _draw_convergence(left, curves)
    _draw_layers(right, deep)
    return figure


def _draw_convergence(axis: Axes, curves: pd.DataFrame) -> None:
    """Draw medians over the runs, and bands from the 10 % to the 90 % quantile."""
    for (p, a, b), case in curves.groupby(["p", "a", "b"]):
        error = case.groupby("epochs")["error"]
        low, middle, high = (error.quantile(share) for share in (0.1, 0.5, 0.9))
        (line,) = axis.loglog(middle.index, middle, label=f"{a:g}, {b:g}, {p:g}")
        axis.fill_between(middle.index, low, high, color=line.get_color(), alpha=0.2, lw=0)
    epochs = np.unique(curves["epochs"])
    above = 1.3 * curves.loc[curves["epochs"] == epochs[0], "error"].max()
    axis.loglog(epochs, above * np.sqrt(epochs[0] / epochs), "k--", lw=0.8, label="∝ 1/√epochs")
    axis.set_title("the theorem of EDLAE", loc="left")
    axis.set(xlabel="epochs, each with new masks", ylabel="relative distance to the closed form")
    axis.legend(title="a, b, p", title_fontsize=7, alignment="left", loc="lower left")


def _draw_layers(axis: Axes, deep: pd.DataFrame) -> None:
    """Draw objectives over that with the moments in training, by number of layers."""
    axis.axhline(1, color="k", lw=0.8, label="moments in training")
    by_dropout = deep.groupby("p")
    for number, (p, case) in enumerate(by_dropout):
        place = case["layers"] + 0.16 * (number - (len(by_dropout) - 1) / 2)
        sampled, two_sigma = (
            factor * case[column] / case["exact"]
            for factor, column in ((1, "sampled"), (2, "sampled_stderr"))
        )
        style: dict[str, Any] = {"color": COLOURS[number], "ms": 4}
        label = f"sampled, p = {p:g}"
        axis.errorbar(place, sampled, two_sigma, fmt="o", capsize=2.5, label=label, **style)
        label = f"without noise, p = {p:g}"
        axis.plot(place, case["printed/exact"], "x:", lw=0.8, label=label, **style)
    axis.set_title("dropout in several layers", loc="left")
    axis.set(xlabel="layers, each with dropout", ylabel="objective, relative")
    axis.set_xticks(np.unique(deep["layers"]))
    axis.legend(loc="lower left")
