"""Style of all figures, and writing them with their data, which the claims are checked on."""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

import matplotlib
import pandas as pd

matplotlib.use("Agg")  # figures are only written to files, so no display is needed

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lindrop.base.atomic import atomic

WIDTH = 6.75  # inches, the text width of a two-column paper
# Okabe and Ito's palette, distinguishable by colour-blind readers and in grey
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
STYLE: Any = {
    "figure.constrained_layout.use": True,
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.prop_cycle": matplotlib.rcsetup.cycler("color", COLOURS),
    "grid.alpha": 0.25,
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "legend.fontsize": 7,
    "lines.linewidth": 1.25,
    "pdf.fonttype": 42,
}
plt.rcParams.update(STYLE)


class FigureFiles(Protocol):
    """Paths of the files of a figure and of its data."""

    pdf: str
    png: str
    csv: str


def panels(columns: int, height: float = 2.4) -> tuple[Figure, list[Axes]]:
    """A row of axes in the project's style, as wide as a page."""
    figure, axes = plt.subplots(1, columns, figsize=(WIDTH, height), squeeze=False)
    return figure, list(axes[0])


def stacked(rows: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Axes of this size below each other, which a narrow screen shows as well as a wide one."""
    figure, axes = plt.subplots(rows, 1, figsize=(width, height * rows), squeeze=False)
    return figure, list(axes[:, 0])


def page(height: float) -> Figure:
    """An empty figure in the project's style, as wide as a page."""
    return plt.figure(figsize=(WIDTH, height))


def key(figure: Figure, axes: Iterable[Axes], columns: int) -> None:
    """One legend below all axes, with every label of theirs once."""
    found = {
        label: handle
        for axis in axes
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend(found.values(), found.keys(), loc="outside lower center", ncols=columns)


def save(figure: Figure, data: pd.DataFrame, files: FigureFiles) -> None:
    """Write a figure as pdf and png and its data as csv; the files contain no date or version."""
    with atomic(files.csv) as partial:
        data.to_csv(partial, index=False, lineterminator="\n")
    for path, metadata in (
        (files.pdf, {"CreationDate": None, "Producer": None, "Creator": None}),
        (files.png, {"Software": None}),
    ):
        image = io.BytesIO()  # drawn in memory first: matplotlib can crash when the disk fills up
        figure.savefig(image, format=Path(path).suffix[1:], metadata=metadata)
        with atomic(path) as partial:
            partial.write_bytes(image.getvalue())
    plt.close(figure)
