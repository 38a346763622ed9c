"""Table 1 of Steck 2020 on real data, as published and exact: a section of docs/results.md.

`benchmarks/real_data.py` takes the numbers of a run, draws the picture and writes the page.
"""

from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from real_claims import TITLES

from lindrop.output.figures import COLOURS, WIDTH
from lindrop.papers.steck2020.attribution import EXACT, PUBLISHED, SAME, column
from lindrop.papers.steck2020.figures.attribution import GAINS, NAMES, ROWS, STEPS, draw

__all__ = ["FILE", "draw", "draw_gains", "section", "sentences"]
ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "benchmarks" / "results" / "attribution.csv"
TRAINING = (
    "Weight decay and sampled dropout rank low because training leaves them far from their optima"
)
FAR = 0.01  # of the objective above its minimum, relative to it
SIGNIFICANT = 0.05  # corrected p-value below which a gain differs from zero
Line = dict[str, Any]
Lines = dict[tuple[str, str, str, str], Line]


def draw_gains(found: pd.DataFrame) -> Figure:
    """What each step of Table 1 gains as trained and between optima, for each dataset."""
    figure = Figure(figsize=(WIDTH, 2.3))
    datasets = list(found.groupby("dataset", sort=False))
    axes = figure.subplots(1, len(datasets), squeeze=False, sharey=True)[0]
    kinds = {PUBLISHED: ("as published", COLOURS[1], "white"), EXACT: ("optima", "k", "k")}
    for axis, (name, _) in zip(axes, datasets, strict=True):
        lines = by_name(found)
        for shift, (kind, (label, colour, fill)) in zip((0.13, -0.13), kinds.items(), strict=True):
            for place, (high, low) in enumerate(reversed(STEPS)):
                line = lines.get((str(name), "gain", column(high, kind), column(low, kind)))
                if line is None:  # row 4 has the optimum of row 3
                    axis.plot(0, place + shift, "o", ms=4.5, color=colour)
                    continue
                bars = [[line["value"] - line["low"]], [line["high"] - line["value"]]]
                style: dict[str, Any] = {"ms": 4.5, "elinewidth": 0.9, "capsize": 2, "mfc": fill}
                known = {} if place else {"label": label}
                axis.errorbar(
                    line["value"], place + shift, xerr=bars, fmt="o", color=colour, **style, **known
                )
        axis.axvline(0, color="k", lw=0.7, ls=":")
        axis.set_title(TITLES.get(str(name), str(name)), loc="left")
        axis.set_xlabel("gain in nDCG@100")
        names = [f"{NAMES[high]}\nover {NAMES[low]}" for high, low in reversed(STEPS)]
        axis.set_yticks(range(len(STEPS)), names)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    return figure


def by_name(found: pd.DataFrame) -> Lines:
    """Lines of the csv by dataset, quantity, and what they are of and less."""
    lines = found.fillna({"less": ""}).to_dict("records")
    return {(line["dataset"], line["quantity"], line["of"], line["less"]): line for line in lines}


def gain(line: Line) -> str:
    """A difference with its paired standard error."""
    return f"{signed(line['value'])} ± {line['stderr']:.4f}"


def signed(value: float) -> str:
    """A difference with its sign, to four decimals."""
    return f"{value:+.4f}".replace("-", "−")


def splits(number: float) -> str:
    """A number of splits in words."""
    return "one split" if number == 1 else f"{number:.0f} splits"


def told(line: Line) -> str:
    """Whether a gain differs from zero, by its corrected p-value."""
    if line["holm"] >= SIGNIFICANT:
        return "cannot be told from zero"
    return "holds" if line["value"] > 0 else "is a loss"


def undertrained(lines: Lines, name: str, row: int) -> bool:
    """Whether training leaves a row far above its minimum, and solving it is a gain."""
    more = lines[name, "gain", column(row, EXACT), column(row, PUBLISHED)]
    above = lines[name, "criterion", column(row, PUBLISHED), ""]["gap"]
    return bool(more["value"] > 0 and more["holm"] < SIGNIFICANT and above > FAR)


def sentences(found: pd.DataFrame) -> list[str]:
    """What follows, in a few sentences with the numbers of the csv.

    A test compares their words with the numbers.
    """
    lines = by_name(found)
    trained, but, solved = [], [], []
    for name in found["dataset"].unique():

        def of(high: int, low: int, kind: str, name: str = name) -> Line:
            return lines[name, "gain", column(high, kind), column(low, kind)]

        second = (
            f"row 2 beside row 1 gains {gain(of(2, 1, PUBLISHED))} as published and "
            f"{gain(of(2, 1, EXACT))} between optima"
        )
        fourth = f"row 4 beside row 3, whose optimum it shares, {gain(of(4, 3, PUBLISHED))}"
        if undertrained(lines, name, 1):
            trained.append(f"on {name}, {second}, and {fourth}")
        else:
            change = lines[name, "gain", column(1, EXACT), column(1, PUBLISHED)]
            but.append(
                f"On {name}, the same is true of sampled dropout ({fourth} as published), but not "
                f"of weight decay: its optimum is {gain(change)} beside its training, which "
                f"{told(change)}, and {second}, which {told(of(2, 1, EXACT))}. "
            )
        third, fifth = of(3, 2, EXACT), of(5, 3, EXACT)
        solved.append(
            f"on {name}, the gain of dropout's penalty over λ‖UV'‖² ({gain(third)}; "
            f"{gain(of(3, 2, PUBLISHED))} as published) {told(third)}, and that of EDLAE over "
            f"dropout's penalty ({gain(fifth)}; {gain(of(5, 3, PUBLISHED))} as published) "
            f"{told(fifth)}"
        )
    return [
        f"{TRAINING}: {'; '.join(trained)}. {''.join(but)}"
        f"Between optima, after Holm's correction, {'; '.join(solved)}."
    ]


def own_penalty(found: pd.DataFrame) -> list[str]:
    """A paragraph on sets where row 1 is less accurate at its optimum than trained, at one λ."""
    lines, worse = by_name(found), []
    for name in found["dataset"].unique():
        same, trained = (
            lines[name, "criterion", column(1, kind), ""]["value"] for kind in (SAME, PUBLISHED)
        )
        if same < trained:
            worse.append(f"on {name} ({same:.4f}, trained {trained:.4f})")
    if not worse:
        return []
    return [
        "At the λ that was tuned for its training, the optimum of row 1 has a lower mean than the "
        f"training {' and '.join(worse)}: an optimum needs a λ of its own.",
        "",
    ]


def section(found: pd.DataFrame) -> list[str]:
    """Lines of docs/results.md."""
    text = [
        "## Table 1 of Steck 2020, as published and exact",
        "",
        "The paper's five linear models were trained in different ways, some for five epochs. For",
        "those who ask whether their order is one of regularisation or of training: each row as",
        "the published procedure trains it, the optimum of the same objective at the same λ and p,",
        "and the optimum at the λ and p that are tuned for it in the same way. The rule for data",
        "that the paper does not have is in `workflow/lindrop/papers/steck2020/procedures.py`;",
        "`benchmarks/real_data.py` names the commands.",
        "",
        *sentences(found),
        "",
        *own_penalty(found),
        "![Rows 1 to 5 as published and exact, and what more epochs give](attribution.png)",
        "",
        "On the left are the means of the tables below. The middle and the right show the",
        "configured split alone, with more and more epochs of the same training; a triangle marks",
        "one that has diverged, whose accuracy is left out.",
    ]
    lines = by_name(found)
    for dataset, of in found.groupby("dataset"):
        facts = of[of["quantity"] == "gain"].iloc[0]
        text += [
            "",
            f"### {dataset}, rank {facts['rank']}",
            "",
            f"nDCG@100 of {facts['users']:,.0f} test users of {splits(facts['splits'])}; how",
            "far the objective after training is above its minimum, as a mean over the splits; and",
            "the standard deviation of nDCG@100 over three random starts.",
            "",
            "| row | as published | above minimum | starts | optimum, same λ, p | optimum, tuned |",
            "|---|---|---|---|---|---|",
        ]
        for row in ROWS:
            published, same, exact = (
                lines[dataset, "criterion", column(row, kind), ""]
                for kind in (PUBLISHED, SAME, EXACT)
            )
            starts = lines[dataset, "starts", column(row, PUBLISHED), ""]["value"]
            cells = [
                f"{row}: {NAMES[row]}",
                f"{published['value']:.4f} ± {published['stderr']:.4f}",
                f"{100 * published['gap']:.2g} %",
                f"{starts:.4f}",
                f"{same['value']:.4f}",
                f"{exact['value']:.4f} ± {exact['stderr']:.4f}",
            ]
            text.append(f"| {' | '.join(cells)} |")
        text += [
            "",
            "Differences in nDCG@100 with paired standard errors, 95 % intervals of a bootstrap by",
            f"user, p-values corrected by Holm's method for these {len(GAINS)}:",
            "",
            "| difference | gain | interval | p |",
            "|---|---|---|---|",
        ]
        for of_gain in GAINS:
            line = lines[dataset, "gain", *of_gain]
            interval = f"{signed(line['low'])} to {signed(line['high'])}"
            cells = [f"row {of_gain.of} − row {of_gain.less}", gain(line), interval]
            text.append(f"| {' | '.join(cells)} | {line['holm']:.2g} |")
    return text
