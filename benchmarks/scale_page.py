"""The figure and tables of docs/scale.md, and tables of other documents, from the measurements.

    python benchmarks/scale_page.py

The measurements are those of folder_at_scale.py, pattern_growth.py, sparse_models.py,
sparse_peers.py and pattern_variants.py in benchmarks/results, and what published.py found of dense
models on Gowalla. Every table stands between a line `<!-- table: NAME -->` and a line
`<!-- end -->`, and is replaced there. The exponent of a series is the slope of a least-squares line
through the logarithms of the processor seconds.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import folder_at_scale
import numpy as np
import pandas as pd
import pattern_growth
from matplotlib.ticker import NullFormatter
from pattern_growth import BASE, SERIES
from pattern_variants import WAYS

from lindrop.models.memory import (
    MARGIN,
    Size,
    full_rank,
    interactions_bytes,
    pattern,
    pattern_columns,
    pattern_joined,
)
from lindrop.output.figures import COLOURS, key, page, panels

ROOT = Path(__file__).resolve().parents[1]
FIGURE = ROOT / "docs" / "scale.png"
MODELS = ROOT / "docs" / "models_by_size.png"
PAGES = [ROOT / "docs" / f"{name}.md" for name in ("scale", "cluster", "benchmarks")]
PARTS = ("choice", "columns", "seconds")
CHOICE = [50_000, 200_000, 1_000_000, 10_000_000, 100_000_000]  # items, and users
PER_USER, NEIGHBOURS, CORES = 40, 100, 16
TABLE = re.compile(r"(<!-- table: ([\w -]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def growth() -> pd.DataFrame:
    """All points of the series of growth, and of the cap on heavy users."""
    return pd.read_csv(pattern_growth.OUTPUT)


def exponent(rows: pd.DataFrame, of: str, what: str) -> float:
    """Slope of a line through the logarithms of a cost by the logarithms of what grows."""
    x, y = np.log(rows[of].astype(float)), np.log(rows[what].astype(float))
    return float(np.polyfit(x, y, 1)[0])


def exponents() -> pd.DataFrame:
    """How the processor seconds of a fit and of its two steps grow with each number."""
    rows = []
    for series, values in SERIES.items():
        own = growth().query("series == @series").sort_values(series)
        if len(own):
            parts = {part: f"{exponent(own, series, part):.2f}" for part in PARTS}
            span = {"from": f"{min(values):,}", "to": f"{max(values):,}"}
            rows.append({"what grows": series, **span, **parts})
    return pd.DataFrame(rows).rename(columns={"seconds": "whole fit"})


def large() -> pd.DataFrame:
    """The measured steps from a folder to a model, by size."""
    rows = steps()
    return rows[rows["step"].isin(["read", "split", "fit", "shard", "evaluate", "recommend"])].drop(
        columns="bytes each"
    )


def steps() -> pd.DataFrame:
    """All measured steps on generated folders."""
    return folder_at_scale.shown(pd.read_csv(folder_at_scale.OUTPUT, dtype=str).fillna(""))


def caps() -> pd.DataFrame:
    """Accuracy for the validation users, and processor seconds, by set and cap."""
    rows = growth()
    rows = rows[rows["series"].str.startswith("cap:")]
    cells = [
        f"{row['ndcg@100']:.4f} ± {row['stderr']:.4f}, {row['seconds']:.1f} s"
        for _, row in rows.iterrows()
    ]
    rows = rows.assign(cell=cells, set=rows["series"].str.removeprefix("cap:"))
    wide = rows.pivot(index="set", columns="user cap", values="cell")
    return wide.reset_index()


def measured_fits() -> pd.DataFrame:
    """Items and processor seconds of the fits from folders."""
    rows = pd.read_csv(folder_at_scale.OUTPUT)
    rows = rows[rows["step"] == "fit"]
    items = rows["set"].map({name: size[1] for name, size in folder_at_scale.SETS.items()})
    return pd.DataFrame({"items": items, "seconds": rows["processor seconds"]})


def told(hours: float) -> str:
    """A time in its own unit, with two digits."""
    for unit, each in (("h", 1), ("min", 60), ("s", 3600)):
        if hours * each >= 1:
            return f"{float(f'{hours * each:.2g}'):g} {unit}"
    return "below 1 s"


@patch("os.cpu_count", lambda: CORES)
def choice() -> pd.DataFrame:
    """What a machine or a cluster needs for dense models and for models on a pattern."""
    fits = measured_fits().sort_values("items")
    slope = exponent(fits, "items", "seconds")
    rows = []
    for items in CHOICE:
        size = Size(items, items, PER_USER * items, tested=10_000)
        options = {"neighbours": NEIGHBOURS}
        light = interactions_bytes(replace(size, entries=size.entries // 2))  # indices alone
        shards = max(1, items // 500_000)
        dense, *parts = (
            MARGIN * bytes_ / 1e9
            for bytes_ in (
                interactions_bytes(size) + full_rank(size, [], {}),
                light + pattern(size, [], options),
                light + pattern_columns(size, items // shards, options),
                light + pattern_joined(size, [], options),
            )
        )
        hours = fits["seconds"].iloc[-1] * (items / fits["items"].iloc[-1]) ** slope / 3600
        rows.append(
            {
                "items": f"{items:,}",
                "dense, GB": f"{dense:,.0f}",
                "one job, GB": f"{parts[0]:,.1f}",
                "shards": shards,
                "a shard, GB": f"{parts[1]:,.1f}",
                "joining, GB": f"{parts[2]:,.1f}",
                "processor time": told(hours),
                f"on {CORES} cores": told(hours / CORES),
            }
        )
    return pd.DataFrame(rows)


def csv(name: str) -> pd.DataFrame:
    """Results of a benchmark as they are."""
    return pd.read_csv(ROOT / "benchmarks" / "results" / f"{name}.csv", dtype=str).fillna("")


METRIC, RECALL = "ndcg@100", "plain_recall@20"  # Gowalla's published numbers are of the latter
FAMILIES = {  # how titles begin, their name in the figure, and its marker
    "sparse_edlae by users": ("pattern, k by users", "^-"),
    "sparse_edlae,": ("EDLAE on a pattern", "o-"),
    "edlae, rank": ("low-rank EDLAE", "s-"),
    "hybrid_edlae": ("low rank + pattern", "P-"),
    "SANSA CHOLMOD": ("SANSA, CHOLMOD", "v"),
    "slim": ("SLIM", "D"),
    "ease": ("EASE, dense", "x"),
    "full_edlae": ("EDLAE, dense", "*"),
}
HUES = [*COLOURS, "#8C564B"]  # of the families: one more than a figure of the papers has
HEAVY = "heavy-users"  # the set of the figure's curve by cap: it changes the time of this set alone
GOWALLA_ITEMS = 40_981
DRAWN = ("gowalla", "lastfm", "ml-1m", "generated", "ml-20m-size")
LARGEST = 100  # weights of an item that the published SLIM keeps


def peers() -> pd.DataFrame:
    """Measured models of sparse_peers.py."""
    return pd.read_csv(ROOT / "benchmarks" / "results" / "sparse_peers.csv").assign(
        model=lambda rows: rows["model"].astype(str)
    )


def published() -> pd.DataFrame:
    """Dense models and SLIM on Gowalla, as published.py computed them; their times are not kept."""
    rows = pd.read_csv(ROOT / "benchmarks" / "results" / "published.csv")
    rows = rows[(rows["dataset"] == "gowalla") & (rows["metric"] == RECALL)]
    sizes = {"slim": 8 * LARGEST * GOWALLA_ITEMS}
    found = {"set": "gowalla", "items": GOWALLA_ITEMS, "model": rows["model"]}
    found |= {RECALL: rows["ours"]}
    return pd.DataFrame(found).assign(
        bytes=[sizes.get(model, 2 * GOWALLA_ITEMS**2) for model in rows["model"]]
    )


def patterns_on_gowalla() -> pd.DataFrame:
    """Models on a pattern on Gowalla, as sparse_models.py measured them."""
    rows = pd.read_csv(ROOT / "benchmarks" / "results" / "sparse_models.csv")
    rows = rows[rows["set"] == "gowalla"]
    titles = rows["model"] + np.where(rows["spread"] > 0, " by users, ", ", ")
    titles += rows["neighbours"].astype(str)
    return rows.assign(bytes=8 * rows["neighbours"] * GOWALLA_ITEMS, model=titles)


def models() -> pd.DataFrame:
    """All models that the figure shows."""
    found = pd.concat([peers(), published(), patterns_on_gowalla()], ignore_index=True)
    return found.drop_duplicates(["set", "bytes", "model"])


def side_by_side(name: str, metric: str = METRIC, title: str = "nDCG@100") -> pd.DataFrame:
    """The models of one set."""
    rows = peers().query("set == @name")
    shown_rows = []
    for _, row in rows.iterrows():
        cells = {"model": row["model"], "options": row["options"]}
        if isinstance(row.get("note"), str):
            shown_rows.append(cells | {title: row["note"]})
            continue
        cells |= {"MB": f"{row['bytes'] / 1e6:,.1f}", "seconds": f"{row['seconds']:.2f}"}
        cells["processor seconds"] = f"{row['processor seconds']:.2f}"
        cells |= {"peak GB": f"{row['peak GB']:.2f}", title: f"{row[metric]:.4f}"}
        if not pd.isna(apart := row["standard errors"]):
            cells["standard errors"] = f"{apart:+.1f}"
        shown_rows.append(cells)
    return pd.DataFrame(shown_rows).fillna("")


def variants() -> pd.DataFrame:
    """What pattern_variants.py tried, with the difference from the pattern of the score."""
    rows = pd.read_csv(ROOT / "benchmarks" / "results" / "pattern_variants.csv")
    rows = rows.assign(way=rows["model"].map(WAYS.index)).sort_values(
        ["set", "way"], ascending=[False, True]
    )
    apart = [
        f"{row['apart']:+.4f} ± {row['stderr']:.4f}" if row["stderr"] > 0 else ""
        for _, row in rows.iterrows()
    ]
    options = [f"p {row['p']:g}, ridge {row['ridge']:g}" for _, row in rows.iterrows()]
    metric = rows[METRIC].map("{:.4f}".format)
    columns = {"set": rows["set"], "model": rows["model"], "options": options}
    columns["processor seconds"] = rows["processor seconds"]
    return pd.DataFrame(columns | {"nDCG@100": metric, "apart from the score": apart})


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "models": lambda: csv("sparse_models"),
    "exponents": exponents,
    "caps": caps,
    "folders": large,
    "steps": steps,
    "choice": choice,
    "generated": lambda: side_by_side("generated"),
    "ml-20m-size": lambda: side_by_side("ml-20m-size"),
    "ml-1m": lambda: side_by_side("ml-1m"),
    "lastfm": lambda: side_by_side("lastfm"),
    "gowalla": lambda: side_by_side("gowalla", RECALL, "Recall@20"),
    "variants": variants,
}


def shown(name: str) -> str:
    """A table as it stands in the documents."""
    return TABLES[name]().to_markdown(index=False, disable_numparse=True)


def draw() -> None:
    """Draw growth of the cost by each number, up to millions of items, and accuracy by the cap."""
    found = growth()
    figure, (grown, millions, capped) = panels(3)
    for series in SERIES:
        own = found[found["series"] == series].sort_values(series)
        label = f"{series} (slope {exponent(own, series, 'seconds'):.2f})"
        grown.loglog(own[series] / BASE[series], own["seconds"], ".-", label=label)
    grown.set(xlabel="times the base", title="One number grows")
    grown.set_xticks([0.25, 1, 4], ["¼", "1", "4"])
    items = found[found["series"] == "items"].sort_values("items")
    millions.loglog(items["items"], items["seconds"], ".-", label="50 neighbours")
    folders = measured_fits().sort_values("items")
    label = f"100 neighbours (slope {exponent(folders, 'items', 'seconds'):.2f})"
    millions.loglog(folders["items"], folders["seconds"], "s-", markersize=4, label=label)
    millions.set(xlabel="items", title="Items, up to millions")
    for axes, room in ((grown, 30), (millions, 50)):
        axes.set_ylabel("processor seconds")
        axes.set_ylim(top=room * axes.get_ylim()[1])  # for the legend
    own = found[found["series"] == f"cap:{HEAVY}"].sort_values("user cap")
    metric, style = own["ndcg@100"], {"linewidth": 1, "capsize": 2}
    capped.errorbar(own["seconds"], metric, own["stderr"], fmt=".-", **style)
    for cap, place in zip(own["user cap"], zip(own["seconds"], metric, strict=True), strict=True):
        capped.annotate(f"{cap:.0f}", place, (4, 4), textcoords="offset points", fontsize=8)
    capped.set(xlabel="processor seconds", ylabel="nDCG@100", title=f"The cap, {HEAVY}")
    capped.set_xlim(0, 1.15 * own["seconds"].max())
    for axes in (grown, millions):
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.legend()
    figure.savefig(FIGURE, metadata={"Software": None})


def draw_models() -> None:
    """Draw accuracy by the bytes of a model, in axes for each set (SANSA's ICF is far below)."""
    found = models()
    names = [name for name in DRAWN if name in set(found.set)]
    figure = page(4.2)
    grid = figure.subplots(2, -(-len(names) // 2)).ravel()
    for axes, name in zip(grid, names, strict=False):
        own = found[found["set"] == name]
        metric = RECALL if name == "gowalla" else METRIC
        for colour, (begin, (label, marker)) in zip(HUES, FAMILIES.items(), strict=True):
            rows = own[own["model"].str.startswith(begin)].dropna(subset=[metric])
            rows = rows.sort_values("bytes")
            if len(rows):
                style = {"color": colour, "markersize": 5, "linewidth": 1, "label": label}
                axes.semilogx(rows["bytes"] / 1e6, rows[metric], marker, **style)
        axes.set_title(name)
        axes.set(xlabel="MB", ylabel="Recall@20" if name == "gowalla" else "nDCG@100")
        axes.xaxis.set_minor_formatter(NullFormatter())
    for axes in grid[len(names) :]:
        axes.axis("off")
    key(figure, sorted(grid, key=lambda axes: -len(axes.lines)), 4)
    figure.savefig(MODELS, metadata={"Software": None})


def main() -> None:
    draw()
    draw_models()
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        text = TABLE.sub(lambda found: f"{found[1]}{shown(found[2])}\n{found[4]}", text)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
