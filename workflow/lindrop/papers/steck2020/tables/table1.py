"""Table 1 of Steck 2020: accuracies by regularisation, measured here and printed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from lindrop.base.reporting import logger
from lindrop.base.stopwatch import Cost
from lindrop.base.yaml_files import read_yaml
from lindrop.data.provenance import comparable
from lindrop.models.catalogue import CATALOGUE
from lindrop.models.tuning import Tested, chosen_text
from lindrop.papers.steck2020.models import ROWS
from lindrop.ranking.evaluation import paired, summary
from lindrop.ranking.grids import rank_of_table
from lindrop.ranking.metrics import CRITERION, title
from lindrop.store.metrics import read_metrics_of, read_state
from lindrop.store.split import read_split_facts

CAPTION = "Accuracy of linear autoencoders on the test users, as in Table 1 of Steck 2020"
PRINTED = ("recall@20", "recall@50", "ndcg@100")  # the paper's metrics, in the order of its columns
COLUMNS = ["dataset", "model", "row", "metric", "mean", "stderr", "n_users", "paper", "params"]
COLUMNS += ["seconds", "megabytes"]
NOT_FITTED = "not fitted: make deep"
UNKNOWN = (None,) * len(PRINTED)

Numbers = Sequence[float | None]


@dataclass(frozen=True)
class Paper:
    """Metrics that the paper prints for one dataset, by model.

    `stated` holds the known hyper-parameters of the models whose metrics the paper reprints.
    """

    rank: int
    stated: Mapping[str, str]
    stderr: float
    rows: Mapping[str, Numbers]
    reprinted: Mapping[str, Numbers]

    @classmethod
    def of(cls, published: Mapping[str, Any], column: str) -> "Paper":
        """Printed metrics of one column of the table."""
        assert published["metrics"] == list(PRINTED)
        return cls(published["rank"], published["stated"], **published["columns"][column])

    def printed(self, model: str) -> Numbers:
        """Printed metrics of a model."""
        return {**self.rows, **self.reprinted}.get(model, UNKNOWN)


@dataclass(frozen=True)
class Column:
    """Measured results on a dataset, by model; `paper` is None unless it is the paper's dataset."""

    dataset: str
    tested: Mapping[str, Tested]
    paper: Paper | None = None
    criterion: str = CRITERION  # the metric by which tuning chose

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics, those that the paper prints first."""
        measured = (name for tested in self.tested.values() for name in tested.per_user)
        return [*dict.fromkeys([*PRINTED, *map(str, measured)])]


def data(
    metrics: Sequence[str],
    splits: Sequence[str],
    datasets: str,
    printed: str,
    rank: int,
    deep: Mapping[str, Mapping[str, Any]],
    columns: Mapping[str, str | None],
    criterion: str = CRITERION,
) -> list[Column]:
    """Columns of the table, from the files of metrics and splits.

    `datasets` and `printed` hold what the paper prints, `columns` the paper's name of each dataset.
    `deep` has the metrics that `make deep` made; those of another configuration are left out.
    """
    known, published = read_yaml(datasets), read_yaml(printed)
    current = [file for file, of in deep.items() if read_state(file) == of["state"]]
    found = []
    for (name, column), split in zip(columns.items(), splits, strict=True):
        same = column and comparable(read_split_facts(split), known[column])
        paper = Paper.of(published, column) if column and same else None
        found.append(Column(name, _tested([*metrics, *current], name, rank), paper, criterion))
    warn_of_edges(found)
    return found


def _tested(metrics: Sequence[str], dataset: str, rank: int) -> dict[str, Tested]:
    """Tested models of a dataset at the rank of the table, by name."""
    files = [file for file in map(Path, metrics) if file.parent.name == dataset]
    results = {file.stem: read_metrics_of(file) for file in files}
    return {model: ranks[rank_of_table(rank, list(ranks))] for model, ranks in results.items()}


@dataclass(frozen=True)
class Line:
    """A model in the table; `measured` summarises its metrics, or is None if it is not fitted."""

    dataset: str
    model: str
    row: str
    printed: Numbers
    metrics: Sequence[str]
    criterion: str
    params: str = ""
    edge: str = ""
    measured: pd.DataFrame | None = None
    users: int | None = None
    gain: str = ""
    cost: Cost | None = None


def lines(columns: Sequence[Column]) -> list[Line]:
    """Lines in order: rows 1 to 5, reprinted, full-rank models, popularity, added models."""
    return [line for column in columns for line in _lines(column)]


def _lines(column: Column) -> Iterator[Line]:
    paper, tested = column.paper, column.tested
    judged = column.metrics, column.criterion
    for model, (label, baseline) in ROWS.items():
        printed = paper.printed(model) if paper else UNKNOWN
        if model not in tested:
            yield Line(column.dataset, model, label, printed, *judged, NOT_FITTED)
            continue
        result = tested[model]
        yield Line(
            column.dataset,
            model,
            label,
            printed,
            *judged,
            parameters_text(model, result, paper),
            result.edge,
            summary(result.per_user),
            len(result.per_user) - without_held_out(result),
            _gain(result, tested[baseline], baseline, column.criterion) if baseline else "",
            result.cost,
        )


def parameters_text(model: str, result: Tested, paper: Paper | None = None) -> str:
    """Chosen parameters and warnings, such as `rank=150 p=0.35 λ=100 (edge: λ)`."""
    parts = [text] if (text := chosen_text(model, result)) else []
    if paper and model in paper.rows and result.rank != paper.rank:
        parts.append(f"(paper: rank={paper.rank})")
    if paper and model in paper.stated:
        parts.append(f"(paper: {paper.stated[model]})")
    if empty := without_held_out(result):
        parts.append(f"({empty} users with nothing held out)")
    return " ".join(parts)


def without_held_out(result: Tested) -> int:
    """Number of users without a held-out item, whose metrics are all NaN."""
    return int(result.per_user[PRINTED[0]].isna().sum())


def _gain(result: Tested, other: Tested, baseline: str, criterion: str) -> str:
    """Mean over users of the difference in the criterion, with its standard error, as text."""
    mean, stderr = _mean(paired(result.per_user, other.per_user), criterion)
    label = ROWS[baseline].label
    over = f"row {label}" if label.isdecimal() else CATALOGUE[baseline].title
    return f"{_signed(mean)} ± {stderr:.4f} over {over}"


def table(columns: Sequence[Column]) -> pd.DataFrame:
    """Table for programs, with one line per dataset, model and metric."""
    rows = [row for line in lines(columns) for row in _long(line)]
    return pd.DataFrame(rows, columns=COLUMNS).astype({"n_users": "Int64"})


def _long(line: Line) -> Iterator[dict[str, Any]]:
    common: dict[str, Any] = {"dataset": line.dataset, "model": line.model}
    common |= {"row": line.row, "params": line.params}
    if line.cost:
        common |= {"seconds": line.cost.seconds, "megabytes": line.cost.megabytes}
    printed = dict(zip(PRINTED, line.printed, strict=True))
    for metric in line.metrics:
        row = common | {"metric": metric, "paper": printed.get(metric)}
        if line.measured is not None:
            row["mean"], row["stderr"] = _mean(line.measured, metric)
            row["n_users"] = line.users
        yield row


def shown(columns: Sequence[Column]) -> pd.DataFrame:
    """Table for readers, with one line per dataset and model.

    In brackets: the paper's value, and the measured value less the paper's.
    """
    return pd.DataFrame([_wide(line) for line in lines(columns)])


def _wide(line: Line) -> dict[str, str]:
    printed = dict(zip(PRINTED, line.printed, strict=True))
    cells = {
        title(metric): _cell(line.measured, metric, printed.get(metric)) for metric in line.metrics
    }
    return {
        "dataset": line.dataset,
        "row": line.row,
        "model": CATALOGUE[line.model].title,
        **cells,
        f"gain in {title(line.criterion)}": line.gain,
        "fit, s": f"{line.cost.seconds:,.1f}" if line.cost else "",
        "peak, MB": f"{line.cost.megabytes:,.0f}" if line.cost else "",
        "parameters": f"⚠ {line.params}" if line.edge else line.params,
    }


def _cell(measured: pd.DataFrame | None, metric: str, printed: float | None) -> str:
    if measured is None:
        return "" if printed is None else f"[{printed:.3f}]"
    mean, stderr = _mean(measured, metric)
    beside = "" if printed is None else f" [{printed:.3f}; {_signed(mean - printed)}]"
    return f"{mean:.4f} ± {stderr:.4f}{beside}"


def _mean(measured: pd.DataFrame, metric: str) -> tuple[float, float]:
    """Mean of a metric over the users, and its standard error."""
    mean, stderr = measured.loc[metric, ["mean", "stderr"]].to_numpy(float)
    return float(mean), float(stderr)


def _signed(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−")


def warn_of_edges(columns: Sequence[Column]) -> None:
    """Warn of parameters that were chosen at an end of their grid."""
    for line in lines(columns):
        if line.edge:
            logger.warning(
                "%s, %s: the chosen %s is on the edge of its grid (%s): widen the grid",
                *(line.dataset, line.model, line.edge, line.params),
            )
