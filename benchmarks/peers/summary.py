"""Results of the comparison as tables and as a figure."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter
from peers.libraries import LIBRARIES, OURS, REFERENCE

from lindrop.output.figures import COLOURS, FigureFiles, panels, save

MARKERS = "os^vDPX<>"
*OTHERS, BLACK = COLOURS
OTHERS += ["#999999", "#882255"]  # as many as there are other libraries


def time_table(results: pd.DataFrame) -> pd.DataFrame:
    """Table of seconds and peak memory by number of items; in brackets, relative to lindrop."""
    rows = []
    for (kernels, library), measured in results.groupby(["kernels", "library"], sort=False):
        row = {"kernels": kernels, "library": LIBRARIES[str(library)].title}
        for one in measured.itertuples():
            ours = results.query("kernels == @kernels and library == @OURS and items == @one.items")
            row[f"{one.items:,} items"] = cell(one, ours)
        rows.append(row)
    return pd.DataFrame(rows).fillna("")


def cell(one: Any, ours: pd.DataFrame) -> str:
    """Time and memory of one fit as text, with its ratios to lindrop's fit in `ours`."""
    if pd.isna(one.seconds):
        return f"did not finish: {one.did_not_finish}"
    if one.library == OURS or ours["seconds"].isna().all():
        return f"{one.seconds:.1f} s, {one.peak_gb:.2f} GB"
    seconds, memory = one.seconds / ours["seconds"].item(), one.peak_gb / ours["peak_gb"].item()
    return f"{one.seconds:.1f} s (× {seconds:.1f}), {one.peak_gb:.2f} GB (× {memory:.1f})"


def library_table(results: pd.DataFrame) -> pd.DataFrame:
    """Table of versions, growth of time and memory with m items, and error of B, by library."""
    rows = []
    for library, measured in results.dropna(subset="seconds").groupby("library", sort=False):
        far = measured["difference"].max()
        row = {
            "library": LIBRARIES[str(library)].title,
            "versions": measured["versions"].iloc[-1],
            "B held in": measured["holds"].iloc[-1],
            "largest difference": "" if library == REFERENCE else f"{far:.0e}",
        }
        last = measured[measured["kernels"] == measured["kernels"].iloc[-1]]
        for title, value in (("time", "seconds"), ("memory", "peak_gb")):
            row[f"{title} grows as"] = power(last, value)
        rows.append(row)
    return pd.DataFrame(rows)


def machine_table(results: pd.DataFrame) -> pd.DataFrame:
    """Table of the machine's rates just before the fits; a narrow range means an idle machine."""
    rows = [
        {
            "machine": machine,
            "kernels": kernels,
            "items": items,
            "float32 product, GFLOP/s": span(measured["product_gflops"]),
            "copy, GB/s": span(measured["copy_gbs"]),
        }
        for (machine, kernels, items), measured in results.groupby(
            ["machine", "kernels", "items"], sort=False
        )
    ]
    return pd.DataFrame(rows)


def span(values: pd.Series) -> str:
    """Range of values as text, such as `90 to 110`."""
    return f"{values.min():.0f} to {values.max():.0f}"


def power(measured: pd.DataFrame, value: str) -> str:
    """Growth with the number of items m, such as `m^2.7`: the slope of a line in logarithms."""
    if len(measured) < 2:
        return ""
    slope = np.polyfit(np.log(measured["items"]), np.log(measured[value]), 1)[0]
    return f"m^{slope:.1f}"


def draw(results: pd.DataFrame, files: FigureFiles) -> None:
    """Draw time (a panel for each of the kernels) and memory against the number of items."""
    kernels = list(dict.fromkeys(results["kernels"]))
    figure, axes = panels(len(kernels) + 1, height=3.8)
    for ax, kernel in zip(axes, kernels, strict=False):
        _lines(ax, results[results["kernels"] == kernel], "seconds")
        named = "" if kernel == "default" else f", {kernel} kernels"
        ax.set(title=f"time of a fit{named}", ylabel="seconds")
    _lines(axes[-1], results[results["kernels"] == kernels[-1]], "peak_gb")
    axes[-1].set(title="peak memory", ylabel="GB")
    save(figure, results, files)


def _lines(ax: Axes, results: pd.DataFrame, value: str) -> None:
    colours = iter(OTHERS)
    for (name, library), marker in zip(LIBRARIES.items(), MARKERS, strict=True):
        colour = BLACK if name == OURS else next(colours)
        measured = results[results["library"] == name].dropna(subset="seconds")
        if measured.empty:
            continue
        label = f"{library.title} {power(measured, value)}"
        style = {"color": colour, "marker": marker, "markersize": 3}
        ax.plot(measured["items"], measured[value], label=label, **style)
    ax.set(xscale="log", yscale="log", xlabel="items m")
    sizes = sorted(results["items"].unique())
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
    ax.set_xticks([], minor=True)
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2))


TABLES = (time_table, library_table, machine_table)
