"""Steck 2020, Table 1: rows 1 to 5 trained as published, beside the optima of their objectives."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from math import nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from lindrop.base.errors import UserError
from lindrop.base.yaml_files import read_yaml
from lindrop.claims.checks import Check, Data, at_least, equal
from lindrop.output.figures import COLOURS, WIDTH
from lindrop.papers.steck2020.attribution import EXACT, PUBLISHED, SAME, column
from lindrop.papers.steck2020.procedures import ROWS as TRAINED
from lindrop.papers.steck2020.tables.table1 import PRINTED
from lindrop.ranking.differences import holm, means
from lindrop.ranking.metrics import CRITERION, title
from lindrop.store.csv_files import read_csv

BAR = ("low", "value", "high")
LEAST, TOP = 1e-6, 2.0  # ends of the axis of gaps
ROUNDING = 0.0005  # largest rounding error of a printed number
STEPS = ((2, 1), (3, 2), (4, 3), (5, 3))  # gains that the paper reads from Table 1
ROWS = range(1, 6)
NAMES = {1: "weight decay", 2: "‖UV'‖²", 3: "dropout's L2", 4: "sampled dropout", 5: "EDLAE"}


class Gain(NamedTuple):
    """Comparison of two rows, or of two procedures of a row."""

    of: str
    less: str


GAINS = (  # row 4 has no optimum of its own: that of row 3 is the same
    *(Gain(column(row, EXACT), column(row, PUBLISHED)) for row in ROWS),
    *(Gain(column(high, PUBLISHED), column(low, PUBLISHED)) for high, low in STEPS),
    *(Gain(column(high, EXACT), column(low, EXACT)) for high, low in STEPS if high != 4),
)


def data(
    splits: Sequence[str], users: Sequence[str], rows: Sequence[str], printed: str
) -> pd.DataFrame:
    """Numbers of the figure, one per line, from the files of `steck2020_attribution_*`.

    `printed` is the file with what the paper prints.
    """
    if not splits:
        raise UserError(
            "rows 1 to 5 are compared on several splits by users, but no dataset of the "
            "configuration has `split: users`"
        )
    models, of_users, longer = (_together(files) for files in (splits, users, rows))
    columns = read_yaml(printed)["columns"]
    lines = []
    for name, of in models.groupby("dataset", sort=False):
        facts = {"dataset": name, "data": of["data"].iloc[0], "rank": of["rank"].iloc[0]}
        paper = of["paper"].iloc[0]
        known = columns.get(paper, {}) if isinstance(paper, str) else {}
        own_users = of_users[of_users["dataset"] == name].dropna(subset=[column(5, EXACT)])
        own_rows = longer[longer["dataset"] == name]
        found = (*_means(of, own_users, known), *_gains(own_users), *_epochs(own_rows))
        lines += [facts | line for line in found]
    return pd.DataFrame(lines)


def _together(files: Sequence[str]) -> pd.DataFrame:
    maker = "the rules steck2020_attribution_split and _row"
    return pd.concat([read_csv(file, maker) for file in files], ignore_index=True)


def _means(
    models: pd.DataFrame, users: pd.DataFrame, printed: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """The criterion of every row and procedure, and how far its training is from the optimum."""
    paper_rows = [*printed.get("rows", {}).values()]
    made = models[["row", "procedure"]].drop_duplicates().itertuples(index=False)
    for row, procedure in made:
        of = models[(models["row"] == row) & (models["procedure"] == procedure)]
        found = pooled(users, users[column(row, procedure)])
        del found["p_value"]  # that the mean is not zero is no question
        known = paper_rows and procedure == PUBLISHED
        paper = paper_rows[row - 1][PRINTED.index(CRITERION)] if known else nan
        yield {
            "quantity": "criterion",
            "of": column(row, procedure),
            **found,
            "gap": of["gap"].mean(),
            "largest_gap": of["gap"].max(),
            "at_rest": bool(of["converged"].all()),
            "points": "; ".join(_point(point) for point in of.to_dict("records")),
            "paper": paper,
            "paper_stderr": printed.get("stderr", nan),
        }


def _point(line: Mapping[Any, Any]) -> str:
    """The hyper-parameters of a row, as text; rows 1 and 2 have no p."""
    p = f"p={line['p']:.3g} " if TRAINED[line["row"] - 1].p is not None else ""
    epochs = f" {line['epochs']} epochs" if line["epochs"] else ""
    return f"{p}λ={line['lambda']:.3g}{epochs}"


def _gains(users: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Paired differences, with p-values corrected for their number by Holm's method."""
    found = [pooled(users, users[gain.of] - users[gain.less]) for gain in GAINS]
    corrected = holm([line["p_value"] for line in found])
    for gain, line, p_value in zip(GAINS, found, corrected, strict=True):
        yield {"quantity": "gain", **gain._asdict(), **line, "holm": p_value}


def _epochs(longer: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The criterion and gap of the first split after more epochs, and their spread over starts."""
    trained = longer[longer["procedure"] == PUBLISHED]
    for row, of in trained.groupby("row"):
        starts = of[of["times"] == 1]
        name = {"of": column(int(str(row)), PUBLISHED)}
        spread = {"quantity": "starts", "value": starts[CRITERION].std()}
        yield spread | name | {"users": len(starts), "gap": starts["gap"].std()}
        for line in of[of["seed"] == 0].to_dict("records"):
            facts = {key: line[key] for key in ("times", "gap")}
            yield {"quantity": "epochs", **name, "value": line[CRITERION], **facts}


def pooled(users: pd.DataFrame, values: pd.Series) -> dict[str, Any]:
    """Mean over all splits and test users, with its error and interval.

    A user may be tested on several splits. So the standard error is that of sums by user, and the
    bootstrap draws users with all their values. `between` is the standard deviation of the splits'
    means. If any value is NaN, as after a training that diverged, so are all of these.
    """
    of_user = values.groupby(users["user"])
    (found,) = means(of_user.sum(skipna=False).to_numpy()[:, None], of_user.size())
    by_split = values.groupby(users["split"]).mean(skipna=False)
    facts = asdict(found)
    of_users = facts.pop("users")
    return {
        **facts,
        "splits": len(by_split),
        "between": float(by_split.std(skipna=False)),
        "users": of_users,
    }


def checks(data: pd.DataFrame) -> list[Check]:
    """Checks of the order of rows 1, 2, 3 and 5, as published and exact, and of printed numbers."""
    found = []
    for name, of in data.groupby("dataset", sort=False):
        label: Data = str(of["data"].iloc[0])  # type: ignore[assignment]
        lines = _by_name(of)
        for claim, procedure in (("attribution", PUBLISHED), ("attribution_exact", EXACT)):
            for high, low in ((2, 1), (3, 2), (5, 3)):
                gain = lines["gain", column(high, procedure), column(low, procedure)]
                what = (
                    f"{name}, {procedure}: gain in {title(CRITERION)} of row {high} over row {low}"
                )
                check = at_least(claim, what, gain["value"], 0.0, data=label)
                users = int(gain["users"])
                found.append(replace(check, stderr=float(gain["stderr"]), users=users))
        for row in ROWS:
            line = lines["criterion", column(row, PUBLISHED), ""]
            what = f"{name}, row {row} as published: {title(CRITERION)}"
            value, paper, within = line["value"], line["paper"], line["paper_stderr"]
            if not np.isfinite(paper):
                value, paper, within = nan, 0.0, 0.0
            within = 2 * within + ROUNDING
            found.append(equal("attribution_printed", what, value, paper, within, data=label))
    return found


def _by_name(of: pd.DataFrame) -> dict[tuple[str, str, str], dict[Any, Any]]:
    """Lines by quantity and by what they are of and less."""
    lines = of.fillna({"less": ""}).to_dict("records")
    return {(line["quantity"], line["of"], line["less"]): line for line in lines}


KINDS: Mapping[str, Mapping[str, Any]] = {
    PUBLISHED: {"marker": "o", "mfc": "white", "label": "trained as published"},
    SAME: {"marker": "D", "mfc": "0.7", "ms": 3.5, "label": "optimum at the same λ and p"},
    EXACT: {"marker": "o", "label": "optimum, λ and p tuned for it"},
}


def draw(data: pd.DataFrame) -> Figure:
    """For each dataset: the rows as published and exact, and what more epochs give."""
    datasets = list(data.groupby("dataset", sort=False))
    figure = Figure(figsize=(WIDTH, 0.6 + 2.2 * len(datasets)))
    axes = figure.subplots(len(datasets), 3, squeeze=False, width_ratios=(1.35, 1, 1))
    for (left, middle, right), (name, of) in zip(axes, datasets, strict=True):
        _draw_rows(left, of)
        epochs = of[of["quantity"] == "epochs"]
        _draw_epochs(middle, epochs, "gap")
        _draw_epochs(right, epochs, "value")
        left.set_title(f"{name}, rank {of['rank'].iloc[0]}", loc="left")
        middle.set_title("above the optimum", loc="left")
        right.set_title(title(CRITERION), loc="left")
        left.set_ylabel(title(CRITERION))
    handles, labels = axes[0, 0].get_legend_handles_labels()
    more, names = axes[0, 1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=1)
    figure.legend(more, names, loc="outside upper right", ncols=3)
    return figure


def _draw_rows(axis: Axes, of: pd.DataFrame) -> None:
    lines = _by_name(of)
    common: dict[str, Any] = {"ms": 4.5, "ls": "", "color": "k", "elinewidth": 0.7, "capsize": 1.5}
    for shift, (procedure, style) in zip((-0.2, 0.0, 0.2), KINDS.items(), strict=True):
        shown = [lines["criterion", column(row, procedure), ""] for row in ROWS]
        low, value, high = np.array([[line[key] for key in BAR] for line in shown]).T
        place = [row + shift for row in ROWS]
        axis.errorbar(place, value, (value - low, high - value), **(common | dict(style)))
    paper = [lines["criterion", column(row, PUBLISHED), ""]["paper"] for row in ROWS]
    axis.plot([*ROWS], paper, "*", ms=8, mfc="none", mec=COLOURS[1])
    axis.set_xticks([*ROWS], [f"row {row}" for row in ROWS])


def _draw_epochs(axis: Axes, epochs: pd.DataFrame, shown: str) -> None:
    """Draw a quantity by epochs; a training that leaves the axis is marked at its edge."""
    for row, colour in zip(ROWS, COLOURS, strict=False):
        line = epochs[epochs["of"] == column(row, PUBLISHED)]
        values = line[shown].where(line["gap"].abs() < TOP)
        if shown == "gap":
            values = values.abs().clip(lower=LEAST)
        label = f"row {row}: {NAMES[row]}"
        axis.plot(line["times"], values, "o-", ms=3, color=colour, label=label)
        gone = line[~(line["gap"].abs() < TOP)]
        if shown == "gap" and len(gone):
            axis.plot(gone["times"], [TOP] * len(gone), "^", ms=4, color=colour, clip_on=False)
    times = sorted(set(epochs["times"].astype(int)))
    axis.set_xscale("log")
    axis.set_xticks(times, [f"{count}×" for count in times])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xlabel("published number of epochs")
    if shown == "gap":
        axis.set_yscale("log")
        axis.set_ylim(LEAST, TOP)
