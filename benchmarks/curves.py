"""Figure 1 (left) of Steck 2020 on real data, trained as published: a section of docs/results.md.

`benchmarks/real_data.py` takes the numbers of a run, draws the picture and writes the page.
"""

import pandas as pd
from real_claims import CURVES, TITLES

from lindrop.papers.steck2020.figures.fig1_as_published import draw
from lindrop.papers.steck2020.figures.fig1_left import STYLES

__all__ = ["FILE", "draw", "section"]
FILE = CURVES
INTRODUCTION = """\
The three curves of the paper's figure, each point trained by the published procedure for as many
epochs as printed, p and λ tuned at every rank on the validation users of the configured split. The
last rank is full rank, in closed form. The claims on the figure are in the first section, in the
rows that name trainings."""


def section(found: pd.DataFrame) -> list[str]:
    """Lines of docs/results.md."""
    text = [
        "## Figure 1 (left), trained as published",
        "",
        *INTRODUCTION.splitlines(),
        "",
        "![nDCG@100 by rank of the three curves, trained as published](fig1_as_published.png)",
    ]
    for name, of in found.groupby("dataset", sort=False):
        curves = [curve for curve in STYLES if curve in set(of["curve"])]
        labels = [STYLES[curve]["label"].replace("$\\lambda$", "λ") for curve in curves]
        text += [
            "",
            f"nDCG@100 on {TITLES.get(str(name), str(name))}, {of['users'].min():,.0f} test users:",
            "",
            f"| rank | {' | '.join(labels)} |",
            f"|---|{'---|' * len(curves)}",
        ]
        for rank, at in of.groupby("rank"):
            lines = at.set_index("curve").loc[curves].to_dict("records")
            cells = [f"{line['mean']:.4f} ± {line['stderr']:.4f}" for line in lines]
            text.append(f"| {rank} | {' | '.join(cells)} |")
    return text
