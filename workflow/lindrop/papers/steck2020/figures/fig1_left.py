"""Figure 1 (left) of Steck 2020: nDCG@100 of the test users by rank of the model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter, NullLocator

from lindrop.base.arrays import Vector
from lindrop.base.yaml_files import read_yaml
from lindrop.claims.checks import CHARITABLE, Check, at_least, at_most, equal
from lindrop.data.provenance import comparable
from lindrop.models.tuning import Tested
from lindrop.output.figures import COLOURS, WIDTH
from lindrop.papers.steck2020.datasets import FIGURE_SET, OTHER_SETS, Dataset
from lindrop.papers.steck2020.models import CURVES
from lindrop.papers.steck2020.tables.table1 import PRINTED, Paper, parameters_text
from lindrop.ranking.evaluation import paired, summary
from lindrop.ranking.metrics import CRITERION, title
from lindrop.store.metrics import read_metrics_of
from lindrop.store.split import read_split_facts

PER_ROW = 3  # panels in a row
EDLAE, CONSTRAINED, FREE = "edlae", "zero_diagonal_l2", "product_l2"
NOTEBOOK_SET = "MSD"  # the dataset of the authors' notebook
OF_FIGURE = (
    "fig1_large_ranks",
    "fig1_full_rank",
    "fig1_values",
)  # claims about the figure's set alone
OF_NOTEBOOK = ("fig1_values_msd",)
OF_CURVES = "fig1_highest", "fig1_small_ranks", "fig1_capacity", "fig1_crossing"
LARGE_RANK = 1_000  # the rank that the text calls large
NOTEBOOK = {
    "edlae": 0.319,
    "zero_diagonal_l2": 0.302,
}  # printed by the notebook for MSD, rank 1,000
NOTEBOOK_FULL = 0.392  # the same of its full-rank EDLAE
NEAR = 0.0025  # two of the printed standard errors, and what rounding to three digits hides
NETFLIX_CROSSING = 100  # the text says "about 100"
SIGNIFICANT = 2  # standard errors of a significant difference
SMALL_RANK = 0.1  # share of the full rank that is "small"; the paper's is 100 of 17,769
BLUE, _, GREEN, _, _, _, BLACK = COLOURS


def _style(label: str, colour: str, marker: str, line: str) -> dict[str, Any]:
    """Keyword arguments of matplotlib for one curve."""
    size = 3.5 if marker == "o" else 5.0
    style = {"label": label, "color": colour, "marker": marker, "linestyle": line}
    return style | {"ms": size, "mec": colour, "mew": 0.6, "lw": 1.0}


# the paper's markers; × and + in the form that can be drawn hollow
STYLES = {
    "edlae": _style("EDLAE (Eq. 10)", BLACK, "o", "-"),
    "zero_diagonal": _style(r"Eq. 11, $\tilde{\Lambda}$", GREEN, "X", "-"),
    "zero_diagonal_l2": _style(r"Eq. 11, $\lambda$I", GREEN, "X", "--"),
    "dropout_l2": _style(r"unconstrained, $\tilde{\Lambda}$", BLUE, "P", "-"),
    "product_l2": _style(r"unconstrained, $\lambda$I", BLUE, "P", "--"),
}


def data(
    metrics: Sequence[str],
    splits: Sequence[str],
    datasets: str,
    printed: str,
    columns: Mapping[str, str | None],
) -> pd.DataFrame:
    """Curves of every dataset, from the files of its models' metrics and of its split.

    `datasets` and `printed` hold what the paper prints, `columns` the paper's name of each dataset.
    """
    found: dict[str, dict[str, Mapping[int, Tested]]] = {}
    for file in map(Path, metrics):
        found.setdefault(file.parent.name, {})[file.stem] = read_metrics_of(file)
    known, numbers = read_yaml(datasets), read_yaml(printed)
    frames = []
    for (name, column), split in zip(columns.items(), splits, strict=True):
        same = column and comparable(read_split_facts(split), known[column])
        paper = Paper.of(numbers, column) if column and same else None
        frames.append(curves(name, found[name], paper))
    return pd.concat(frames)


def curves(
    dataset: str, results: Mapping[str, Mapping[int, Tested]], paper: Paper | None = None
) -> pd.DataFrame:
    """nDCG@100 of every curve by rank, ending with the full-rank model that it tends to.

    `paper` has what Table 1 prints for this dataset at one of the ranks.
    """
    rows = []
    for name, full in CURVES.items():
        if name not in results:
            continue  # its curve is not asked for
        points = [(name, tested) for tested in results[name].values()]
        points += [(full, tested) for tested in results[full].values()]
        for model, tested in points:
            measured = summary(tested.per_user).loc[CRITERION]
            best = results[EDLAE if model == name else CURVES[EDLAE]].get(tested.rank, tested)
            lead = paired(best.per_user, tested.per_user).loc[CRITERION]
            free = results[FREE if model == name else CURVES[FREE]].get(tested.rank, tested)
            gap = paired(tested.per_user, free.per_user).loc[CRITERION]
            in_table = paper is not None and model == name and tested.rank == paper.rank
            printed = paper.printed(name)[PRINTED.index(CRITERION)] if paper and in_table else None
            rows.append(
                {
                    "dataset": dataset,
                    "curve": name,
                    "model": model,
                    "rank": tested.rank,
                    "full_rank": model == full,
                    "mean": measured["mean"],
                    "stderr": measured["stderr"],
                    "lead_stderr": lead["stderr"],
                    "free_stderr": gap["stderr"],
                    "users": measured["n_users"] - measured["n_nan"],
                    "paper": nan if printed is None else printed,
                    "converged": tested.converged,
                    "params": parameters_text(model, tested),
                }
            )
    return pd.DataFrame(rows)


def draw(data: pd.DataFrame) -> Figure:
    """Panels of nDCG@100 by rank, one for each dataset."""
    datasets = list(data.groupby("dataset", sort=False))
    columns = min(PER_ROW, len(datasets))
    n_rows = -(-len(datasets) // columns)
    figure = Figure(figsize=(max(WIDTH * columns / PER_ROW, WIDTH / 2), 0.5 + 2.3 * n_rows))
    axes = figure.subplots(n_rows, columns, squeeze=False).ravel()
    for axis, (name, points) in zip(axes, datasets, strict=False):
        _draw_dataset(axis, points)
        axis.set_title(str(name), loc="left")
    for axis in axes[len(datasets) :]:
        axis.set_axis_off()
    for axis in axes[::columns]:
        axis.set_ylabel(title(CRITERION))
    handles, labels = axes[0].get_legend_handles_labels()
    if data["paper"].notna().any():
        style: dict[str, Any] = {"ls": "", "mfc": "none", "mec": BLACK, "ms": 9}
        handles, labels = [*handles, Line2D([], [], marker="*", **style)], [*labels, "as printed"]
    figure.legend(handles, labels, loc="outside upper center", ncols=3 if columns > 1 else 2)
    return figure


def _draw_dataset(axis: Axes, points: pd.DataFrame) -> None:
    bars: dict[str, Any] = {"elinewidth": 0.8, "capsize": 1.5}
    for depth, (name, style) in enumerate(STYLES.items()):
        line = points[points["curve"] == name]
        if line.empty:
            continue
        style = style | {"zorder": 10 - depth}  # EDLAE on top
        axis.errorbar(line["rank"], line["mean"], line["stderr"], **style, **bars)
        hollow = line[~line["converged"]]
        style |= {"label": None, "linestyle": "", "mfc": "white", "zorder": 10.5 - depth}
        axis.plot(hollow["rank"], hollow["mean"], **style)
        _draw_printed(axis, line, style["color"])
    _rank_ticks(axis, points)
    axis.set_xlabel("rank")


def _draw_printed(axis: Axes, line: pd.DataFrame, colour: str) -> None:
    """Draw a star for the paper's own value, where the dataset is the paper's."""
    known = line[line["paper"].notna()]
    style: dict[str, Any] = {"ms": 9, "mec": colour, "mfc": "none", "zorder": 12}
    axis.plot(known["rank"], known["paper"], "*", **style)


def _rank_ticks(axis: Axes, points: pd.DataFrame) -> None:
    """Set a logarithmic axis labelled at 1 and 3 times powers of ten and at the full rank."""
    full = int(points.loc[points["full_rank"], "rank"].max())
    lowest = int(points["rank"].min())
    steps = [step * 10**power for power in range(7) for step in (1, 3)]
    nearest = full / (full / lowest) ** 0.12  # labels must not touch
    ticks = [tick for tick in steps if lowest <= tick <= nearest]
    axis.set_xscale("log")
    axis.set_xticks([*ticks, full], [*(f"{tick:,}" for tick in ticks), "full"])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set_xlim(lowest / 1.15, full * 1.15)


class Curves:
    """nDCG@100 of the three curves of a dataset by rank, ending with the full-rank model."""

    def __init__(self, data: pd.DataFrame):
        means = data.pivot(index="rank", columns="curve", values="mean")
        self.edlae, self.constrained, self.free = (
            means[curve].to_numpy(float) for curve in (EDLAE, CONSTRAINED, FREE)
        )
        self.ranks = means.index.to_numpy(int)
        errors = data.pivot(index="rank", columns="curve", values="stderr")
        self.error = errors[EDLAE].to_numpy(float)
        paired_errors = data.pivot(index="rank", columns="curve", values="lead_stderr")
        self.lead_errors = paired_errors[[CONSTRAINED, FREE]].to_numpy(float)
        of_free = data.pivot(index="rank", columns="curve", values="free_stderr")
        self.gap_errors = of_free[CONSTRAINED].to_numpy(float)
        self.users = int(data["users"].min())

    @property
    def full(self) -> int:
        """Full rank: the number of items."""
        return int(self.ranks[-1])

    @property
    def large(self) -> int:
        """Index of the low rank whose ratio to the paper's rank 1,000 is nearest to 1."""
        return int(np.argmin(np.abs(np.log(self.ranks[:-1] / LARGE_RANK))))

    @property
    def crossing(self) -> float:
        """Smallest rank from which on Eq. 11 stays better than the unconstrained model.

        Between two ranks, the lead is interpolated linearly in the logarithm of the rank.
        """
        return self._crossing(self.constrained - self.free)

    @property
    def crossing_error(self) -> float:
        """Half of how far `crossing` moves, up or down, with every lead by two standard errors."""
        lead, two = self.constrained - self.free, SIGNIFICANT * self.gap_errors
        at, late, early = (self._crossing(lead + shift) for shift in (0 * two, -two, two))
        return max(late - at, at - early) / SIGNIFICANT

    def _crossing(self, lead: Vector) -> float:
        behind = np.flatnonzero(lead <= 0)
        if not behind.size:
            return float(self.ranks[0])
        last = behind[-1]
        if last == len(lead) - 1:
            return float(self.full)
        low, high = np.log(self.ranks[last : last + 2])
        share = lead[last] / (lead[last] - lead[last + 1])
        return float(np.exp(low + (high - low) * share))


def rank_checks(
    dataset: Dataset, data: pd.DataFrame, printed: Mapping[str, float] | None = None
) -> list[Check]:
    """Checks of Figure 1 (left) on one dataset; `data` holds its lines of the csv.

    None of them decides anything while a fit of the three curves is not at rest.

    The paper shows Netflix and says that its other datasets are similar: what is seen on those
    counts for that sentence alone. Numbers of the text are compared on Netflix only, where
    `printed` has the metric of Table 1 by model.
    """
    resting = bool(data.loc[data["curve"].isin([EDLAE, CONSTRAINED, FREE]), "converged"].all())
    found = _rank_checks(dataset, data, printed)
    return [replace(check, at_rest=resting) for check in found]


def _rank_checks(
    dataset: Dataset, data: pd.DataFrame, printed: Mapping[str, float] | None
) -> list[Check]:
    curves = Curves(data)
    if len(curves.ranks) < 3:
        return []  # without two low ranks, none is small or large
    shape = [
        *_best_everywhere(dataset, curves),
        *_small_ranks(dataset, curves),
        *_crossing(dataset, curves),
    ]
    if dataset.paper == FIGURE_SET:
        return [*shape, *_large_ranks(dataset, curves), *_values(dataset, data, printed or {})]
    if dataset.paper is None:
        return shape
    others = [replace(check, claim=OTHER_SETS) for check in shape]
    if dataset.paper == NOTEBOOK_SET:
        others += _notebook_values(dataset, data)
    return others


def undecided(datasets: Sequence[Dataset], found: Sequence[Check]) -> list[Check]:
    """Checks with the value NaN, for claims on datasets or curves that were not computed."""
    papers, decided = {dataset.paper for dataset in datasets}, {check.claim for check in found}
    what = "datasets with two low ranks or more (`ranks`)"
    curves = [
        equal(claim, what, nan, 0, 0, data=datasets[0].data)
        for claim in OF_CURVES
        if claim not in decided
    ]
    return curves + [
        datasets[0].incomparable(claim)
        for paper, claims in ((FIGURE_SET, OF_FIGURE), (NOTEBOOK_SET, OF_NOTEBOOK))
        for claim in claims
        if paper not in papers
    ]


def _values(dataset: Dataset, data: pd.DataFrame, printed: Mapping[str, float]) -> list[Check]:
    """Checks of two points of the figure: Table 1 prints rows 5 and 2 at the same rank."""
    points = _at_large_rank(data)
    return [
        equal(
            "fig1_values",
            f"{dataset.name}, rank {LARGE_RANK:,}: {title(CRITERION)} of {curve}",
            points.get(curve, nan),
            printed.get(curve, nan),
            NEAR,
            data=dataset.data,
        )
        for curve in (EDLAE, FREE)
    ]


def _notebook_values(dataset: Dataset, data: pd.DataFrame) -> list[Check]:
    """Checks of three points that the authors' notebook prints for MSD."""
    points = _at_large_rank(data)
    full = data[data["full_rank"] & (data["curve"] == EDLAE)]["mean"]
    what = f"{dataset.name}: {title(CRITERION)} of"
    check = partial(equal, "fig1_values_msd", tolerance=NEAR, data=dataset.data)
    return [
        *(
            check(f"{what} {curve}, rank {LARGE_RANK:,}", points.get(curve, nan), value)
            for curve, value in NOTEBOOK.items()
        ),
        check(f"{what} full-rank EDLAE", full.iloc[0] if len(full) else nan, NOTEBOOK_FULL),
    ]


def _at_large_rank(data: pd.DataFrame) -> dict[str, float]:
    low = data[(data["rank"] == LARGE_RANK) & ~data["full_rank"]]
    return dict(zip(low["curve"], low["mean"], strict=True))


def _best_everywhere(dataset: Dataset, curves: Curves) -> list[Check]:
    """Checks that EDLAE is highest at every rank; charitably, up to a standard error.

    Whether there are enough users to tell depends on the error of the difference, paired by user.
    """
    others = np.stack([curves.constrained, curves.free], axis=1)
    leads = (curves.edlae[:, None] - others) / curves.error[:, None]
    rank, other = np.unravel_index(leads.argmin(), leads.shape)
    stderr = float(curves.lead_errors[rank, other] / curves.error[rank])
    what = f"{dataset.name}: least lead of EDLAE at any rank, in standard errors"
    check = partial(at_least, "fig1_highest", what, leads.min(), data=dataset.data)
    found = [check(0), check(-1, form=CHARITABLE)]
    return [replace(one, stderr=stderr, users=curves.users) for one in found]


def _large_ranks(dataset: Dataset, curves: Curves) -> list[Check]:
    at = curves.large
    best, constrained, error = (
        values[at] for values in (curves.edlae, curves.constrained, curves.error)
    )
    apart, fall = abs(best - constrained) / error, (curves.edlae[-1] - best) / error
    rank = f"{dataset.name}, rank {curves.ranks[at]} of {curves.full}"
    what = f"{rank}: in standard errors, EDLAE's"
    check = partial(at_most, data=dataset.data)
    return [
        check("fig1_large_ranks", f"{what} distance to Eq. 11", apart, 1),
        check("fig1_full_rank", f"{what} fall from full rank", fall, SIGNIFICANT),
    ]


def _small_ranks(dataset: Dataset, curves: Curves) -> list[Check]:
    best, constrained, free = curves.edlae[0], curves.constrained[0], curves.free[0]
    what = f"{dataset.name}, rank {curves.ranks[0]}: {title(CRITERION)} of"
    small = partial(at_least, "fig1_small_ranks", data=dataset.data)
    low = partial(at_least, "fig1_capacity", data=dataset.data)
    at = curves.large
    farther = abs(curves.edlae[at] - curves.free[at]) - abs(best - free)
    apart_error = float(np.hypot(curves.lead_errors[at, 1], curves.lead_errors[0, 1]))
    gap_error = float(curves.gap_errors[0])
    of_large = (
        f"{dataset.name}, rank {curves.ranks[at]}: distance of the unconstrained model to EDLAE"
    )
    fall = (curves.edlae[-1] - best) / curves.error[0]
    lower = low(f"{what} EDLAE below full rank, in standard errors", fall, SIGNIFICANT)
    by_users = partial(replace, users=curves.users)
    nearer = small(f"{of_large}, less that at rank {curves.ranks[0]}", farther, 0)
    better = small(f"{what} the unconstrained model less Eq. 11", free - constrained, 0)
    return [
        by_users(nearer, stderr=apart_error),
        by_users(better, stderr=gap_error),
        by_users(lower, stderr=1.0),  # of EDLAE's mean: that of the fall, paired, is not larger
    ]


def _crossing(dataset: Dataset, curves: Curves) -> list[Check]:
    """Checks of the rank at which Eq. 11 overtakes; on Netflix, it is about 100 in the paper.

    Where the users are too few to tell at which rank the curves cross, they decide nothing.
    """
    what = f"{dataset.name}: rank from which on Eq. 11 is better"
    check = partial(at_most, "fig1_crossing", data=dataset.data)
    share = check(f"{what}, over the full rank", curves.crossing / curves.full, SMALL_RANK)
    error = curves.crossing_error
    found = [replace(share, stderr=error / curves.full, users=curves.users)]
    if dataset.paper == FIGURE_SET:
        factor = max(curves.crossing / NETFLIX_CROSSING, NETFLIX_CROSSING / curves.crossing)
        about = check(f"{what}: its factor from 100, either way", factor, 3)
        found.append(replace(about, stderr=factor * error / curves.crossing, users=curves.users))
    return found
