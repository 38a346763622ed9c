"""Results of the comparison as tables and as a figure."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter
from peers.libraries import LIBRARIES, OURS, REFERENCE
from peers.models import MODELS

from lindrop.output.figures import COLOURS, FigureFiles, key, panels, save

MARKERS = "os^vDPX<>*hp"
*OTHERS, BLACK = COLOURS
OTHERS += ["#999999", "#882255", "#44AA99", "#332288", "#DDCC77"]  # enough for the other libraries
PANELS = [("ease", "seconds"), ("slim", "cpu_seconds"), ("ease", "peak_gb")]
TITLES = {
    "seconds": ("time", "seconds"),
    "cpu_seconds": ("processor time", "processor seconds"),
    "peak_gb": ("peak memory", "GB"),
}


def time_table(results: pd.DataFrame) -> pd.DataFrame:
    """Table of the time and peak memory of each fit; in brackets, relative to lindrop's."""
    rows = []
    ours = results[results["library"] == OURS].set_index(["model", "kernels", "items"])
    for (model, kernels, name), measured in results.groupby(
        ["model", "kernels", "library"], sort=False
    ):
        row = {"model": MODELS[str(model)].title, "library": LIBRARIES[str(name)].title}
        row |= {"kernels": kernels} if results["kernels"].nunique() > 1 else {}
        for one in measured.itertuples():
            same = (MODELS[str(model)].like or model, kernels, one.items)
            row[f"{one.items:,} items"] = cell(one, ours.loc[same] if same in ours.index else None)
        rows.append(row)
    sizes = [f"{items:,} items" for items in sorted(results["items"].unique())]
    table = pd.DataFrame(rows)
    return table[[name for name in table if name not in sizes] + sizes].fillna("")


def cell(one: Any, ours: Any) -> str:
    """Seconds by the clock and of the processors and memory of a fit, with their ratios to ours.

    With one thread only the processor's seconds are shown.
    """
    if pd.isna(one.seconds):
        return str(one.did_not_finish)
    kinds = ["cpu_seconds"] if one.threads == 1 else ["seconds", "cpu_seconds"]
    times = " / ".join(seconds(getattr(one, kind)) for kind in kinds)
    if one.library == OURS or ours is None or pd.isna(ours.seconds):
        return f"{times} s, {one.peak_gb:.2f} GB"
    ratios = " / ".join(f"{getattr(one, kind) / ours[kind]:.1f}" for kind in kinds)
    memory = f"{one.peak_gb:.2f} GB (× {one.peak_gb / ours.peak_gb:.1f})"
    return f"{times} s (× {ratios}), {memory}"


def seconds(value: float) -> str:
    """Seconds as text, with two places below 1."""
    return f"{value:.2f}" if value < 1 else f"{value:.1f}"


def best_table(results: pd.DataFrame) -> pd.DataFrame:
    """Table of docs/performance.md: our fit of each model and the fastest of other libraries.

    With one thread the processor time counts, so that other work on the machine does not; a model
    that a library stops as shipped stands beside ours.
    """
    like = results["model"].map({name: model.like or name for name, model in MODELS.items()})
    rows = []
    for (model, items), measured in results.assign(model=like).groupby(
        ["model", "items"], sort=False
    ):
        by = "cpu_seconds" if measured["threads"].iloc[0] == 1 else "seconds"
        others = measured[~measured["library"].isin([OURS, REFERENCE])].dropna(subset=by)
        ours = measured[measured["library"] == OURS].dropna(subset=by)
        if ours.empty or others.empty:
            continue
        best, own = others.loc[others[by].idxmin()], ours.iloc[0]
        rows.append(
            {
                "model": MODELS[str(model)].title,
                "items": f"{items:,}",
                "timed by": "processor, one thread" if by == "cpu_seconds" else "clock, all cores",
                "lindrop": f"{seconds(own[by])} s, {own['peak_gb']:.2f} GB",
                "best other": f"{LIBRARIES[best['library']].title}: "
                f"{seconds(best[by])} s, {best['peak_gb']:.2f} GB",
                "time": f"× {best[by] / own[by]:.1f}",
                "memory": f"× {best['peak_gb'] / own['peak_gb']:.1f}",
            }
        )
    return pd.DataFrame(rows)


def library_table(results: pd.DataFrame) -> pd.DataFrame:
    """Table of versions, growth of time and memory with m items, and error of B, by library."""
    rows = []
    for (model, name), measured in results.dropna(subset="seconds").groupby(
        ["model", "library"], sort=False
    ):
        far = measured["difference"].max()
        row = {
            "model": MODELS[str(model)].title,
            "library": LIBRARIES[str(name)].title,
            "versions": measured["versions"].iloc[-1],
            "B held in": measured["holds"].iloc[-1],
            "largest difference": "" if name == REFERENCE else f"{far:.0e}",
        }
        last = measured[measured["kernels"] == measured["kernels"].iloc[-1]]
        for title, value in (("time", "cpu_seconds"), ("memory", "peak_gb")):
            row[f"{title} grows as"] = power(last, value)
        rows.append(row)
    return pd.DataFrame(rows)


def machine_table(results: pd.DataFrame) -> pd.DataFrame:
    """Table of the machine's rates just before the fits; a narrow range means an idle machine."""
    rows = [
        {
            "model": MODELS[str(model)].title,
            "items": items,
            "machine": machine,
            "kernels": kernels,
            "float32 product, GFLOP/s": span(measured["product_gflops"]),
            "copy, GB/s": span(measured["copy_gbs"]),
        }
        for (model, items, machine, kernels), measured in results.groupby(
            ["model", "items", "machine", "kernels"], sort=False
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
    """Draw the time of EASE and of SLIM and the memory of EASE against the number of items."""
    last = results[results["kernels"] == results["kernels"].iloc[-1]].dropna(subset="seconds")
    shown = [panel for panel in PANELS if panel[0] in set(last["model"])]
    figure, axes = panels(len(shown), height=3.0)
    for ax, (model, value) in zip(axes, shown, strict=True):
        _lines(ax, last[last["model"] == model], value)
        title, unit = TITLES[value]
        ax.set(title=f"{MODELS[model].title}, {title} of a fit", ylabel=unit)
    key(figure, axes, 5)
    save(figure, results, files)


def _lines(ax: Axes, results: pd.DataFrame, value: str) -> None:
    colours = iter(OTHERS)
    for (name, library), marker in zip(LIBRARIES.items(), MARKERS, strict=False):
        colour = BLACK if name == OURS else next(colours)
        measured = results[results["library"] == name]
        if measured.empty:
            continue
        style = {"color": colour, "marker": marker, "markersize": 3}
        ax.plot(measured["items"], measured[value], label=library.title, **style)
    ax.set(xscale="log", yscale="log", xlabel="items m")
    sizes = sorted(results["items"].unique())
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
    ax.set_xticks([], minor=True)
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())


TABLES = {
    "time": time_table,
    "libraries": library_table,
    "machine": machine_table,
    "best": best_table,
}
