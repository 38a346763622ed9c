"""Which model is best on a dataset, and how sure that is: paired differences, and words."""

from collections.abc import Iterator, Mapping, Sequence
from math import nan
from typing import Any, NamedTuple

import pandas as pd

from lindrop.models.catalogue import CATALOGUE
from lindrop.models.tuning import Tested
from lindrop.ranking.differences import holm, paired_to
from lindrop.ranking.metrics import title

Row = Mapping[Any, Any]  # of the table for programs

ALPHA = 0.05  # models whose corrected p-value is at least this cannot be told apart
BASELINE = "popularity"


class Placed(NamedTuple):
    """A metric of a model less that of the best model, over the same users.

    The interval is the bootstrap's; `holm` is the p-value corrected for the models compared.
    """

    difference: float = 0.0
    low: float = nan
    high: float = nan
    p_value: float = nan
    holm: float = nan


def place(
    tested: Mapping[str, Tested], shown: Sequence[str], criterion: str
) -> dict[str, dict[str, Placed]]:
    """For each model of a dataset, best first by the criterion, each metric beside the best's."""
    order = sorted(tested, key=lambda model: -_criterion(tested[model], criterion))
    best, others = tested[order[0]], order[1:]
    placed = {order[0]: dict.fromkeys(shown, Placed()), **{model: {} for model in others}}
    for name in shown if others else ():
        if name in best.overall:
            for model in others:
                less = tested[model].overall[name] - best.overall[name]
                placed[model][name] = Placed(less)
            continue
        values = pd.DataFrame({model: tested[model].per_user[name] for model in others})
        found = paired_to(best.per_user[name], values)
        corrected = holm([mean.p_value for mean in found])
        for model, mean, p_value in zip(others, found, corrected, strict=True):
            placed[model][name] = Placed(
                mean.value, mean.low, mean.high, mean.p_value, float(p_value)
            )
    return placed


def _criterion(tested: Tested, criterion: str) -> float:
    """The mean by which models are placed; those without one come last."""
    mean = float(tested.per_user[criterion].mean())
    return mean if mean == mean else -1.0


def words(rows: pd.DataFrame, criterion: str) -> list[str]:
    """Sentences on the best model of a dataset, from its lines of the table for programs."""
    lines = rows[rows["metric"] == criterion].to_dict("records")
    best, *others = lines
    name, users = title(criterion), int(best["n_users"])
    mean = "–" if pd.isna(best["mean"]) else f"{best['mean']:.4f}"
    if not others:
        return [f"{_begun(best)} alone was tested: {name} {mean} on {users:,} test users."]
    said = [f"{_begun(best)} is best: {name} {mean} on {users:,} test users."]
    if users < 2:
        return [*said, "So few users tell nothing about the others."]
    second = others[0]
    if popular := [line for line in others[1:] if line["model"] == BASELINE]:
        said.append(f"Over popularity it gains {gain(popular[0])}.")
    close = [line for line in others if not told_apart(line)]
    verdict = "the two cannot be told apart on these users" if second in close else "it is better"
    said.append(f"Over the second, {_title(second)}, it gains {gain(second)}: {verdict}.")
    if more := [_title(line) for line in close if line is not second]:
        said.append(f"Nor can {_listed(more)} be told apart from it.")
    fastest = min([best, *close], key=lambda line: line["seconds"])
    if fastest is not best:
        said.append(
            f"Of these, {_title(fastest)} was fitted fastest, in {seconds(fastest)} instead of "
            f"{seconds(best)}."
        )
    return said


def told_apart(line: Row) -> bool:
    """Whether a model's line differs from the best one's beyond chance, after correction."""
    return bool(line["holm"] < ALPHA)


def gain(line: Row) -> str:
    """How much better the best model is, with the interval and the corrected p-value."""
    between = f"{signed(-line['high'])} to {signed(-line['low'])}"
    return f"{signed(-line['difference'])} (95 % interval {between}, {p_text(line['holm'])})"


def signed(value: float) -> str:
    """A number of four decimals with a proper minus sign, and a zero without one."""
    return f"{value:z.4f}".replace("-", "−")


def p_text(p_value: float) -> str:
    """A p-value in words, such as `p < 0.001`."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def seconds(line: Row) -> str:
    """The time of a model's fit."""
    return f"{line['seconds']:,.1f} s" if line["seconds"] >= 1 else f"{line['seconds']:.2g} s"


def _title(line: Row) -> str:
    return CATALOGUE[str(line["model"])].title


def _begun(line: Row) -> str:
    """A title at the beginning of a sentence."""
    name = _title(line)
    return name[0].upper() + name[1:]


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def notes(rows: pd.DataFrame, criterion: str) -> Iterator[str]:
    """What to do about models whose grid ended or whose solver did not, one line each."""
    lines = rows[rows["metric"] == criterion].to_dict("records")
    edges = [f"{_title(line)} ({line['edge']})" for line in lines if line["edge"]]
    if edges:
        yield (
            f"⚠ {_listed(edges)}: the best value is at an end of its list, so a longer list may "
            "give a better model; extend it, or write tuning: search, which continues lists itself."
        )
    if late := [_title(line) for line in lines if not line["converged"]]:
        yield (
            f"◌ {_listed(late)}: not converged, so more iterations or epochs may change the model; "
            "raise them under models."
        )
