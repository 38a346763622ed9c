"""Steck 2020, Section 6: claims on datasets, Table 1 and Figure 1, checked on every dataset run."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from lindrop.base.yaml_files import read_yaml
from lindrop.claims.checks import Check, at_least, equal
from lindrop.models.tuning import Tested
from lindrop.papers.steck2020.datasets import (
    Dataset,
    dataset_checks,
    published_sets,
    shared_entries,
)
from lindrop.papers.steck2020.figures.fig1_center import cosine_checks
from lindrop.papers.steck2020.figures.fig1_left import rank_checks
from lindrop.papers.steck2020.models import DEEP
from lindrop.papers.steck2020.tables.table1 import PRINTED
from lindrop.ranking.evaluation import paired
from lindrop.ranking.grids import rank_of_table
from lindrop.ranking.metrics import CRITERION, METRICS
from lindrop.store.metrics import read_metrics_of
from lindrop.store.split import read_split_facts, read_split_matrix

ROWS = ["weight_decay", "product_l2", "dropout_l2", "sampled_dropout", "edlae"]  # rows 1 to 5
# gains, in standard errors, that we take the paper's words huge, large and significant to mean
HUGE, LARGE, SIGNIFICANT = 5, 3, 2
AGREEING = 0.006  # largest difference between rows 3 and 4 as printed
ROUNDING = 0.0005  # largest rounding error of a printed number
ERROR = 0.001  # tolerance of printed standard errors: rounded, one for all three metrics
# largest shortfall in the metric from the best deep model that counts as competitive
COMPETITIVE = 0.01
METRIC = METRICS[CRITERION].title


def checks(
    metrics: Sequence[str],
    splits: Sequence[str],
    properties: str,
    table: str,
    left: str,
    center: str,
    right: str,
    datasets: str,
    printed: str,
    rank: int,
    columns: Mapping[str, str | None],
) -> list[Check]:
    """Checks of Section 6, from the files of metrics, splits, tables and figures.

    `datasets` and `printed` are files with what the paper prints. `columns` maps the name of a
    dataset to its name in the paper.
    """
    published, numbers = read_yaml(datasets), read_yaml(printed)
    found = []
    sets = []
    for (name, column), split in zip(columns.items(), splits, strict=True):
        dataset = Dataset.of(name, read_split_facts(split), column, published)
        stderr = numbers["columns"][dataset.paper]["stderr"] if dataset.paper else None
        history, held_out = (
            read_split_matrix(split, f"test/{part}") for part in ("fold_in", "held_out")
        )
        rows = {file: rows_of(file, name) for file in (properties, table, left, center, right)}
        (facts,) = rows[properties].to_dict("records")
        row = {str(key): value for key, value in facts.items()}
        found += [
            *dataset_checks(dataset, row, shared_entries(history, held_out)),
            *table1_checks(dataset, rows[table], _tested(metrics, name, rank), stderr),
            *rank_checks(dataset, rows[left]),
            *cosine_checks(dataset, rows[center], rows[right]),
        ]
        sets.append(dataset)
    return [*found, published_sets(sets, len(published))]


def _tested(metrics: Sequence[str], dataset: str, rank: int) -> dict[str, Tested]:
    """Test results of a dataset's models at the rank of Table 1, by model."""
    found: dict[str, Tested] = {}
    for file in map(Path, metrics):
        if file.parent.name == dataset:
            results = read_metrics_of(file)
            found[file.stem] = results[rank_of_table(rank, list(results))]
    return found


def rows_of(file: str, dataset: str) -> pd.DataFrame:
    """Lines of a csv file that belong to a dataset."""
    frame = pd.read_csv(file)
    return frame.loc[frame["dataset"] == dataset]


def table1_checks(
    dataset: Dataset, table: pd.DataFrame, tested: Mapping[str, Tested], stderr: float | None
) -> list[Check]:
    """Checks of Table 1 on one dataset.

    `table` holds the dataset's lines of the csv, `tested` its models at the table's rank, and
    `stderr` the printed standard error, or None if the paper has none for this dataset.
    """
    lines = table[table["metric"].isin(PRINTED)].set_index(["model", "metric"])
    rows = lines.loc[ROWS]
    return [
        *_values(dataset, rows, stderr),
        *_regularisers(dataset, rows),
        *_emphasis(dataset, tested),
        *_deep_models(dataset, lines, rows),
    ]


def _values(dataset: Dataset, rows: pd.DataFrame, stderr: float | None) -> list[Check]:
    """Checks of the order of rows 1 to 5, and of printed numbers where comparable."""
    name, check = dataset.name, partial(equal, data=dataset.data)
    ordered = _scores(rows)[["weight_decay", "product_l2", "dropout_l2", "edlae"]]
    what = f"{name}: least gain in {METRIC} from row 1 to 2, 2 to 3, 3 to 5"
    order = at_least("table1", what, ordered.diff().min(), 0, data=dataset.data)
    if stderr is None:
        return [order, dataset.incomparable("table1_errors")]
    apart = (rows["mean"] - rows["paper"]).abs().groupby(level="model").max()
    what, within = "largest distance to the printed metrics", 2 * stderr + ROUNDING
    of_rows = [
        check("table1", f"{name}, row {row}: {what}", apart[model], 0, within)
        for row, model in enumerate(ROWS, 1)
    ]
    what, errors = "largest distance to the printed standard error", rows["stderr"] - stderr
    of_errors = check("table1_errors", f"{name}: {what}", errors.abs().max(), 0, ERROR)
    return [order, *of_rows, of_errors]


def _regularisers(dataset: Dataset, rows: pd.DataFrame) -> list[Check]:
    """Checks of gains between rows 1 to 4, in standard errors of a mean over users."""
    score, error = _scores(rows), rows["stderr"].xs(CRITERION, level="metric").max()
    decay, product, dropout = (score[model] for model in ROWS[:3])
    lead = score.drop("weight_decay").min() - decay
    means = rows["mean"].unstack().loc[ROWS].to_numpy(float)
    apart = abs(means[2] - means[3]).max()
    gain = f"{dataset.name}: gain in {METRIC}, in standard errors, of"
    differ = f"{dataset.name}: largest difference of rows 3 and 4"
    more = partial(at_least, data=dataset.data)
    return [
        more("table1_row_1", f"{gain} the next lowest row over row 1", lead / error, HUGE),
        more("table1_row_2", f"{gain} row 2 over row 1", (product - decay) / error, HUGE),
        more("table1_row_3", f"{gain} row 3 over row 2", (dropout - product) / error, LARGE),
        equal("table1_row_4", differ, apart, 0, AGREEING, data=dataset.data),
    ]


def _emphasis(dataset: Dataset, tested: Mapping[str, Tested]) -> list[Check]:
    """Checks of the gain of row 5 over both kinds of DLAE (rows 3 and 4).

    Errors are paired by user, because users differ more than models do.
    """
    checks = []
    for model in ("dropout_l2", "sampled_dropout"):
        gains = paired(tested["edlae"].per_user, tested[model].per_user).loc[list(PRINTED)]
        what = f"{dataset.name}: gain of row 5 over row {ROWS.index(model) + 1}"
        significance = (gains["mean"] / gains["stderr"])[CRITERION]
        check = partial(at_least, "table1_row_5", data=dataset.data)
        checks += [
            check(f"{what} in {METRIC}, in paired standard errors", significance, SIGNIFICANT),
            check(f"{what}, least of the three metrics", gains["mean"].min(), 0),
        ]
    return checks


def _deep_models(dataset: Dataset, lines: pd.DataFrame, rows: pd.DataFrame) -> list[Check]:
    """Checks of row 5 against the best deep model, with the metrics that the paper reprints."""
    claims = "table1_competitive", "table1_regularisation"
    deep = lines.loc[lines.index.isin(DEEP, level="model"), "paper"].dropna()
    if deep.empty:
        return [dataset.incomparable(claim) for claim in claims]
    ours, best = _scores(rows), deep.xs(CRITERION, level="metric").max()
    lead = ours["edlae"] - best
    substantial = ours.max() - ours.min() - abs(lead)
    what = (
        f"{dataset.name}: {METRIC} of row 5 less that of the best deep model",
        f"{dataset.name}: range of {METRIC} over rows 1 to 5 less the size of that difference",
    )
    return [
        at_least(claims[0], what[0], lead, -COMPETITIVE, data=dataset.data),
        at_least(claims[1], what[1], substantial, 0, data=dataset.data),
    ]


def _scores(rows: pd.DataFrame) -> pd.Series:
    """The metric `CRITERION` of rows 1 to 5."""
    return rows["mean"].xs(CRITERION, level="metric")[ROWS]
