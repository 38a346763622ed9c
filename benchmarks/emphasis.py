"""Whether weights b above 0 are worth tuning: a section of docs/results.md.

`benchmarks/real_data.py` takes the numbers of a run, draws the picture and writes the page.
"""

import pandas as pd
from attribution import SIGNIFICANT, signed
from real_claims import EMPHASIS, TITLES

from lindrop.papers.steck2020.figures.emphasis import CHOSEN, draw
from lindrop.papers.steck2020.partial_emphasis import INSIDE
from lindrop.papers.steck2020.section_6 import LARGE

__all__ = ["FILE", "draw", "section", "sentences"]
FILE = EMPHASIS
LARGE_NAME = "2 per cent"  # `LARGE`, the smallest gain that the paper calls large, rounded
INTRODUCTION = """\
Steck 2020 trains with full emphasis, b = 0: errors on kept inputs do not count. A later paper
(DEQL, arXiv 2603.07402) has closed forms for b > 0 and recommends it. At full rank one inverse
serves every b (`workflow/lindrop/papers/steck2020/partial_emphasis.py`), so p and λ are tuned for
each b alike. With λ‖B‖² beside the loss, every column of the model is that of Eq. 8 at another λ
times a factor; where the diagonal is to be zero, the factor is 1 and b is nothing but another name
of λ. The run checks both to rounding. λ was searched in quarter decades."""


def sentences(found: pd.DataFrame) -> str:
    """What follows, in two sentences with the numbers of the csv."""
    chosen, best = [], []
    for name, of in found.groupby("dataset", sort=False):
        title = TITLES.get(str(name), str(name))
        line = of[of["quantity"] == CHOSEN].iloc[0]
        full = of.loc[(of["quantity"] == "gain") & (of["b"] == 0), "mean"].iloc[0]
        told = worth(line["value"] / full, line["low"] > 0, line["high"] < 0)
        interval = f"95 % interval {signed(line['low'])} to {signed(line['high'])}"
        chosen.append(f"{signed(line['value'])} on {title} ({interval}), {told}")
        gains = of[(of["quantity"] == "gain") & (of["b"] > 0)]
        top = gains.loc[gains["value"].idxmax()]
        clear = "differs" if top["holm"] < SIGNIFICANT else "does not differ"
        best.append(
            f"{signed(top['value'])} ± {top['stderr']:.4f} on {title} (b = {top['b']:g}), which "
            f"{clear} from zero"
        )
    return (
        "Letting the validation users choose b, besides p and λ, changes nDCG@100 over full "
        f"emphasis by {'; '.join(chosen)}. The b that is best for the test users, in hindsight, "
        f"gains {'; '.join(best)} after Holm's correction."
    )


def worth(relative: float, gains: bool, loses: bool) -> str:
    """What a relative gain is worth, whose interval is above or below zero or holds it."""
    if not gains and not loses:
        return "which cannot be told from nothing"
    size = "less" if abs(relative) < LARGE else "more"
    kind = "gain" if gains else "loss"
    return f"a {kind} of {size} than the {LARGE_NAME} that the paper calls large"


def section(found: pd.DataFrame) -> list[str]:
    """Lines of docs/results.md."""
    text = [
        "## Is a weight b above 0 worth tuning?",
        "",
        *INTRODUCTION.splitlines(),
        "",
        sentences(found),
        "",
        "![Gain in nDCG@100 over b = 0 by the weight b, on each set](emphasis.png)",
        "",
        "Gains in nDCG@100 over b = 0 with paired standard errors, p and λ tuned for each b on the",
        "validation users of each split; p-values corrected by Holm's method:",
        "",
        "| set | test users, splits | nDCG@100 at b = 0 | where λ stands | b | gain | p |",
        "|---|---|---|---|---|---|---|",
    ]
    gains = found[found["quantity"] == "gain"]
    for name, of in gains.groupby("dataset", sort=False):
        full = of[of["b"] == 0].iloc[0]
        facts = [
            TITLES.get(str(name), str(name)),
            f"{full['users']:,.0f}, {full['splits']:.0f}",
            f"{full['mean']:.4f} ± {full['mean_stderr']:.4f}",
        ]
        for line in of[of["b"] > 0].to_dict("records"):
            where = "in Eq. 6" if line["ridge"] == INSIDE else "beside the loss"
            cells = [*facts, where, f"{line['b']:g}"]
            gain = f"{signed(line['value'])} ± {line['stderr']:.4f}"
            cells += [gain, f"{line['holm']:.2g}"]
            text.append(f"| {' | '.join(cells)} |")
            facts = ["", "", ""]
    return text
