"""Models that Table 1 and Figure 1 (left) of Steck 2020 show; the rules import this module."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lindrop.models.catalogue import CATALOGUE, TORCH


class Row(NamedTuple):
    """Row of Table 1: its number or group, and the model over which its gain is shown."""

    label: str
    baseline: str | None = None


TABLE: Mapping[str, Row] = {  # rows of the paper's table in its order, then full-rank models
    "weight_decay": Row("1"),
    "product_l2": Row("2", "weight_decay"),
    "dropout_l2": Row("3", "product_l2"),
    "sampled_dropout": Row("4", "dropout_l2"),
    "edlae": Row("5", "dropout_l2"),
    "slim": Row("baseline"),
    "wmf": Row("baseline"),
    "cdae": Row("baseline"),
    "mult_vae": Row("baseline"),
    "mult_dae": Row("baseline"),
    "full_l2": Row("full rank"),
    "full_dlae": Row("full rank"),
    "ease": Row("full rank"),
    "full_edlae": Row("full rank", "full_dlae"),
    "popularity": Row("floor"),
}
DEEP = TORCH  # models that only `make deep` fits
GAUGE_ITEMS = 21_000  # with more, the updates of Figure 1 take hours; Netflix has 17,769 items

# each curve of Figure 1 (left) with the full-rank model at its end
CURVES = {
    "edlae": "full_edlae",
    "zero_diagonal": "full_edlae",
    "zero_diagonal_l2": "ease",
    "dropout_l2": "full_dlae",
    "product_l2": "full_l2",
}
FIGURE_MODELS = sorted({*CURVES, *CURVES.values()})


def figure_models(curves: Iterable[str]) -> list[str]:
    """Models of some of the curves: low-rank ones, and those that they tend to."""
    return sorted({model for curve in curves for model in (curve, CURVES[curve])})


# Models of the catalogue that the paper does not show, such as a new one, follow the others.
# Those that take part only where they are named are not among them.
ADDED = {
    model: Row("added")
    for model, entry in CATALOGUE.items()
    if model not in TABLE and model not in CURVES and not entry.asked
}
ROWS: Mapping[str, Row] = {**TABLE, **ADDED}
FITTED = [model for model in ROWS if model not in DEEP]
