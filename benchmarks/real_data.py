"""Steck 2020 on real data: docs/results.md, its pictures and the numbers behind them.

    snakemake --cores 2 all fig1_as_published --configfile config/ml-1m.yaml
    snakemake --cores 2 attribution emphasis --configfile config/ml-1m.yaml benchmarks/splits.yaml
    python benchmarks/real_data.py results

The first two commands run the workflow. For MovieLens 100K, run both with config/ml-100k.yaml. For
Last.fm, run the targets `all fig1_as_published emphasis` with benchmarks/lastfm.yaml. For Gowalla,
run the targets `all fig1_as_published attribution emphasis` with config/gowalla-users.yaml, which
has its own numbers of splits and epochs.

The third command copies the results of these runs into the csv files in benchmarks/results, where
they replace earlier rows of the same datasets, draws the pictures of docs/ and writes
docs/results.md. Without a folder, it only draws and writes.
"""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import attribution
import emphasis
import pandas as pd
import published
import real_claims
from matplotlib.figure import Figure
from PIL import Image

from lindrop.papers.steck2020.figures import fig1_as_published

ROOT = Path(__file__).resolve().parents[1]
DOCS, NUMBERS = ROOT / "docs", ROOT / "benchmarks" / "results"
PAGE = DOCS / "results.md"
COLOURS = 64


def draw_curves(found: pd.DataFrame) -> Figure:
    """Panels of nDCG@100 by rank of the models that are trained as published."""
    titles = found["dataset"].replace(real_claims.TITLES)
    return fig1_as_published.draw(found.assign(dataset=titles))


FIGURES: dict[str, Callable[[pd.DataFrame], Figure]] = {
    "attribution": attribution.draw,
    "emphasis": emphasis.draw,
}
PICTURES = FIGURES | {"gains": attribution.draw_gains, "fig1_as_published": draw_curves}
FROM = {"gains": "attribution"}  # the csv of a picture, where its name is another
CURVES = """\
## Figure 1 of Steck 2020, trained as published

The models of the figure's left panel, trained on each set by the published procedures with the λ
and p that the validation users choose; the claims above say what follows. Bars are standard errors
over the test users, of whom MovieLens 100K has 100.

![nDCG@100 by rank of the models of Figure 1, on four real sets](fig1_as_published.png)
"""
HEAD = """\
# Results on real data

<!-- Made by `python benchmarks/real_data.py` from benchmarks/results/real_claims.csv,
attribution.csv, emphasis.csv, fig1_as_published.csv and published.csv. -->

For those who ask what of Steck 2020 is true of data that they know: its empirical claims on other
sets than the paper's, its Table 1 trained as published and solved exactly, the weight b that it
leaves at 0, and numbers that others published beside ours.
`benchmarks/real_data.py` names the commands that compute everything here; the csv files are in
`benchmarks/results`.
"""


def add(folder: Path) -> None:
    """Replace the lines of the datasets of a run, but not those of more splits than it has."""
    for name in FIGURES:
        file, kept = folder / "figures" / f"steck2020_{name}.csv", NUMBERS / f"{name}.csv"
        if file.exists():
            new = pd.read_csv(file)
            earlier = _splits(pd.read_csv(kept)) if kept.exists() else {}
            fewer = {set_ for set_, number in _splits(new).items() if number < earlier.get(set_, 0)}
            _replace(kept, new[~new["dataset"].isin(fewer)])
    curves = folder / "figures" / "steck2020_fig1_as_published.csv"
    if curves.exists():
        _replace(real_claims.CURVES, pd.read_csv(curves))
    checks = folder / "experiments" / "steck2020" / "experiments.json"
    if checks.exists():
        _replace(real_claims.FILE, real_claims.lines(checks, folder / "tables"))


def _splits(found: pd.DataFrame) -> dict[str, float]:
    """Number of splits by dataset."""
    most = found.groupby("dataset")["splits"].max()
    return {str(name): float(number) for name, number in most.items()}


def _replace(kept: Path, new: pd.DataFrame) -> None:
    earlier = pd.read_csv(kept) if kept.exists() else new.iloc[:0]
    others = earlier[~earlier["dataset"].isin(set(new["dataset"]))]
    together = pd.concat([others, new]) if len(others) else new
    order = together["dataset"].map(real_claims.place)
    together = together.iloc[order.argsort(kind="stable")]
    together.to_csv(kept, index=False, float_format="%.5g", lineterminator="\n")


def picture(name: str) -> None:
    """Draw a picture of docs/ from its csv, with few colours."""
    image = io.BytesIO()
    drawn = PICTURES[name](pd.read_csv(NUMBERS / f"{FROM.get(name, name)}.csv"))
    drawn.savefig(image, format="png", metadata={"Software": None})
    few = Image.open(image).convert("RGB").quantize(COLOURS)
    few.save(DOCS / f"{name}.png", optimize=True)


def page() -> str:
    """Text of docs/results.md."""
    parts = [
        real_claims.section(),
        CURVES.splitlines(),
        attribution.section(pd.read_csv(attribution.FILE)),
        emphasis.section(pd.read_csv(emphasis.FILE)),
        published.section(pd.read_csv(published.FILE)),
    ]
    return "\n\n".join([HEAD.rstrip(), *("\n".join(part) for part in parts)]) + "\n"


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        add(Path(argument))
    for name in PICTURES:
        picture(name)
    PAGE.write_text(page(), encoding="utf-8")
