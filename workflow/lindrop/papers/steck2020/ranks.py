"""Figure 1 (left) of Steck 2020: nDCG@100 of the test users against the rank of the model."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator

from lindrop.models.tuning import Tested
from lindrop.output.figures import COLOURS, WIDTH
from lindrop.papers.steck2020.models import CURVES
from lindrop.papers.steck2020.table1 import parameters_text
from lindrop.ranking.evaluation import summary
from lindrop.ranking.metrics import CRITERION

PER_ROW = 3  # panels
BLUE, _, GREEN, _, _, _, BLACK = COLOURS


def _style(label: str, colour: str, marker: str, line: str) -> dict[str, Any]:
    size = 3.5 if marker == "o" else 5.0
    style = {"label": label, "color": colour, "marker": marker, "linestyle": line}
    return style | {"ms": size, "mec": colour, "mew": 0.6, "lw": 1.0}


# the paper's signs; those of × and + that can be hollow
STYLES = {
    "edlae": _style("EDLAE (Eq. 10)", BLACK, "o", "-"),
    "zero_diagonal": _style(r"Eq. 11, $\tilde{\Lambda}$", GREEN, "X", "-"),
    "zero_diagonal_l2": _style(r"Eq. 11, $\lambda$I", GREEN, "X", "--"),
    "dropout_l2": _style(r"unconstrained, $\tilde{\Lambda}$", BLUE, "P", "-"),
    "product_l2": _style(r"unconstrained, $\lambda$I", BLUE, "P", "--"),
}


def curves(dataset: str, results: Mapping[str, Mapping[int, Tested]]) -> pd.DataFrame:
    """Each model's points by rank; the last is that of the full-rank model it tends to."""
    rows = []
    for name, full in CURVES.items():
        points = [(name, tested) for tested in results[name].values()]
        points += [(full, tested) for tested in results[full].values()]
        for model, tested in points:
            measured = summary(tested.per_user).loc[CRITERION]
            rows.append(
                {
                    "dataset": dataset,
                    "curve": name,
                    "model": model,
                    "rank": tested.rank,
                    "full_rank": model == full,
                    "mean": measured["mean"],
                    "stderr": measured["stderr"],
                    "converged": tested.converged,
                    "params": parameters_text(model, tested),
                }
            )
    return pd.DataFrame(rows)


def draw_ranks(data: pd.DataFrame) -> Figure:
    """A panel per dataset."""
    datasets = list(data.groupby("dataset", sort=False))
    columns = min(PER_ROW, len(datasets))
    n_rows = -(-len(datasets) // columns)
    figure = Figure(figsize=(max(WIDTH * columns / PER_ROW, WIDTH / 2), 0.5 + 2.3 * n_rows))
    axes = figure.subplots(n_rows, columns, squeeze=False).ravel()
    for axis, (name, points) in zip(axes, datasets, strict=False):
        _draw_dataset(axis, points)
        axis.set_title(str(name), loc="left")
    for axis in axes[len(datasets) :]:
        axis.set_axis_off()
    for axis in axes[::columns]:
        axis.set_ylabel("nDCG@100")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3 if columns > 1 else 2)
    return figure


def _draw_dataset(axis: Axes, points: pd.DataFrame) -> None:
    bars: dict[str, Any] = {"elinewidth": 0.8, "capsize": 1.5}
    for depth, (name, style) in enumerate(STYLES.items()):
        line = points[points["curve"] == name]
        style = style | {"zorder": 10 - depth}  # EDLAE on top
        axis.errorbar(line["rank"], line["mean"], line["stderr"], **style, **bars)
        hollow = line[~line["converged"]]
        style |= {"label": None, "linestyle": "", "mfc": "white", "zorder": 10.5 - depth}
        axis.plot(hollow["rank"], hollow["mean"], **style)
    _rank_ticks(axis, points)
    axis.set_xlabel("rank")


def _rank_ticks(axis: Axes, points: pd.DataFrame) -> None:
    """Logarithmic, labelled at 1 and 3 times the powers of ten and at the full rank."""
    full = int(points.loc[points["full_rank"], "rank"].max())
    lowest = int(points["rank"].min())
    steps = [step * 10**power for power in range(7) for step in (1, 3)]
    nearest = full / (full / lowest) ** 0.12  # of an axis, for the labels not to touch
    ticks = [tick for tick in steps if lowest <= tick <= nearest]
    axis.set_xscale("log")
    axis.set_xticks([*ticks, full], [*(f"{tick:,}" for tick in ticks), "full"])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set_xlim(lowest / 1.15, full * 1.15)
