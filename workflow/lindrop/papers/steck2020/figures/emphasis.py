"""Steck 2020, Section 4: accuracy of the full-rank EDLAE by the weight b, tuned at each b."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lindrop.base.errors import UserError
from lindrop.claims.checks import CHARITABLE, EXTENSION, PRINTED, Check, Data, at_most, equal
from lindrop.output.figures import COLOURS, WIDTH
from lindrop.papers.steck2020.figures.attribution import pooled
from lindrop.papers.steck2020.partial_emphasis import BESIDE, INSIDE, KINDS, column
from lindrop.papers.steck2020.problems import EXACT
from lindrop.papers.steck2020.section_6 import LARGE
from lindrop.ranking.differences import holm
from lindrop.ranking.metrics import CRITERION, title
from lindrop.store.csv_files import read_csv

FULL = (INSIDE, 0.0)  # full emphasis: Eq. 8, wherever λ stands
CHOSEN = "chosen b"
IDENTITIES = {
    "equation_6": "minimum of the emphasised loss with weights a², b² beside Eq. 6 over q",
    "beside": "minimum with λ‖B‖² beside the loss, off its diagonal, beside columns of Eq. 8",
    "zero": "minimum with λ‖B‖² beside the loss and a zero diagonal beside Eq. 8 over q",
}


def data(splits: Sequence[str], users: Sequence[str]) -> pd.DataFrame:
    """Numbers of the figure, one per line, from the files of `steck2020_emphasis_split`."""
    if not splits:
        raise UserError(
            "weights b are tuned on several splits by users, but no dataset of the configuration "
            "has `split: users`"
        )
    maker = "the rule steck2020_emphasis_split"
    models, of_users = (
        pd.concat([read_csv(file, maker) for file in files], ignore_index=True)
        for files in (splits, users)
    )
    lines = []
    for name, of in models.groupby("dataset", sort=False):
        facts = {"dataset": name, "data": of["data"].iloc[0]}
        tested = of_users[of_users["dataset"] == name].dropna(subset=[column(FULL)])
        found = (*_gains(of, tested), _chosen(of, tested), *_identities(of))
        lines += [facts | line for line in found]
    return pd.DataFrame(lines)


def _gains(models: pd.DataFrame, users: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The criterion of every b and its gain over b = 0, p-values corrected by Holm's method."""
    gains = [pooled(users, users[column(kind)] - users[column(FULL)]) for kind in KINDS]
    corrected = holm([gain["p_value"] for gain in gains[1:]])
    for kind, gain, p_value in zip(KINDS, gains, (1.0, *corrected), strict=True):
        of = models[(models["ridge"] == kind[0]) & (models["b"] == kind[1])]
        points = "; ".join(f"p={one.p:.3g} λ={one.ridge:.3g}" for one in of.rename(
            columns={"ridge": "where", "lambda": "ridge"}).itertuples())  # fmt: skip
        known = {"quantity": "gain", "ridge": kind[0], "b": kind[1], "holm": p_value}
        score = pooled(users, users[column(kind)])
        mean = {"mean": score["value"], "mean_stderr": score["stderr"]}
        yield known | gain | mean | {"points": points}


def _chosen(models: pd.DataFrame, users: pd.DataFrame) -> dict[str, Any]:
    """Gain over b = 0 of what the validation users of each split choose among all b."""
    best = models.loc[models.groupby("split")["validation"].idxmax()].set_index("split")
    kinds = {split: (str(line["ridge"]), float(line["b"])) for split, line in best.iterrows()}
    gains = pd.concat(
        of[column(kinds[split])] - of[column(FULL)] for split, of in users.groupby("split")
    )
    points = "; ".join(column(kind) for kind in kinds.values())
    return {"quantity": CHOSEN, **pooled(users, gains.reindex(users.index)), "points": points}


def _identities(models: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for name in IDENTITIES:
        yield {"quantity": "identity", "points": name, "value": models[name].max()}


def checks(data: pd.DataFrame) -> list[Check]:
    """Checks that b > 0 gains nothing, or nothing large, and of the identities for b > 0."""
    found = []
    for name, of in data.groupby("dataset", sort=False):
        label: Data = str(of["data"].iloc[0])  # type: ignore[assignment]
        chosen = of[of["quantity"] == CHOSEN].iloc[0]
        full = float(of.loc[(of["quantity"] == "gain") & (of["b"] == 0), "mean"].iloc[0])
        gain, stderr, users = (float(chosen[key]) for key in ("value", "stderr", "users"))
        what = f"{name}: relative gain in {title(CRITERION)} of the b that validation users choose"
        for form, most in ((PRINTED, 0.0), (CHARITABLE, LARGE)):
            check = at_most("emphasis", f"{what} over b = 0", gain / full, most, 0.0, form, label)
            found.append(replace(check, stderr=stderr / full, users=int(users)))
        for line in of[of["quantity"] == "identity"].itertuples():
            what = f"{name}, most popular items: {IDENTITIES[str(line.points)]}, relative error"
            error = float(str(line.value))
            found.append(equal("emphasis", what, error, 0.0, EXACT, EXTENSION, label))
    return found


def draw(data: pd.DataFrame) -> Figure:
    """For each dataset: the gain over b = 0 by b, with 95 % intervals."""
    datasets = list(data.groupby("dataset", sort=False))
    figure = Figure(figsize=(WIDTH, 2.6))
    axes = figure.subplots(1, max(len(datasets), 2), squeeze=False, sharey=True)[0]
    for axis, (name, of) in zip(axes, datasets, strict=False):
        _draw(axis, of)
        axis.set_title(str(name), loc="left")
    for axis in axes[len(datasets) :]:
        axis.set_axis_off()
    axes[0].set_ylabel(f"gain in {title(CRITERION)} over b = 0")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=3)
    return figure


def _draw(axis: Axes, of: pd.DataFrame) -> None:
    gains = of[of["quantity"] == "gain"]
    marks = {INSIDE: ("o", -0.008), BESIDE: ("s", 0.008)}
    for (where, (marker, shift)), colour in zip(marks.items(), COLOURS, strict=False):
        line = gains[(gains["ridge"] == where) | (gains["b"] == 0)].sort_values("b")
        bars = line["value"] - line["low"], line["high"] - line["value"]
        style: dict[str, Any] = {"ms": 3.5, "color": colour, "elinewidth": 0.7, "capsize": 1.5}
        axis.errorbar(line["b"] + shift, line["value"], bars, marker=marker, label=where, **style)
    axis.axhline(0, color="k", lw=0.8, ls=":", label="zero diagonal: b = 0 at another λ")
    axis.set_xlabel("weight b, at a = 1")
