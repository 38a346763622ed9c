"""Differences of ranking metrics between fits in float32 and in float64.

    python benchmarks/precision.py [ml-100k.zip]

Compares every model that is fitted from X'X, at the middle of its default grid, on the demo set and
on MovieLens 100K if its file is given. Then EASE with λ → 0 on data with a singular G, where
float32 alone fails and the library switches to float64. Writes benchmarks/results/precision.csv and
precision_sweep.csv and prints both.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from lindrop.base.errors import Unsolvable
from lindrop.configuration.config import checked
from lindrop.configuration.schema import load_schema
from lindrop.data.formats import read_interactions
from lindrop.data.split import Protocol, Split, split
from lindrop.data.synthetic.generator import synthetic_interactions
from lindrop.data.synthetic.recipe import PRESETS, recipe_of
from lindrop.models.base import Fit, FullRank, Training
from lindrop.models.catalogue import CATALOGUE, TORCH, fit
from lindrop.models.tuning import parameters, solver_options
from lindrop.ranking.evaluation import Model, evaluate
from lindrop.ranking.grids import axes
from lindrop.ranking.metrics import CRITERION

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
# models with a single precision: popularity only counts, the others support float32 only
SINGLE = {"popularity", "sampled_dropout", "slim", "wmf"}
COMPARED = [name for name in CATALOGUE if name not in (*SINGLE, *TORCH)]
RANK = 100
LAMBDAS = [100.0, 10.0, 1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-6]


def default_options(root: Path) -> dict[str, dict[str, Any]]:
    """Grids and solver options of all models in the default configuration."""
    config = yaml.safe_load((root / "config" / "config.yaml").read_text())
    models: dict[str, dict[str, Any]] = checked(config, load_schema())["models"]
    return models


def middle(
    name: str, models: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, float], dict[str, Any]]:
    """Middle point of a model's grid, and the options of its solver."""
    options = models[name]
    point = {axis: values[len(values) // 2] for axis, values in axes(options).items()}
    return point, solver_options(options)


def metrics(parts: Split, model: Model) -> np.ndarray:
    """Test metrics of every user, users × metrics."""
    found = evaluate(model, parts.matrix("test/fold_in"), parts.matrix("test/held_out"))
    return found.per_user


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """Largest absolute difference of any metric's mean over the users."""
    return float(np.max(np.abs(np.nanmean(one - other, axis=0))))


def compared(
    parts: Split,
    name: str,
    point: Mapping[str, float],
    options: Mapping[str, Any],
    rank: int = RANK,
) -> dict[str, Any]:
    """Row of results for a model: differences between its fits in float32 and in float64.

    `difference` is that after equal numbers of iterations, `difference, own stop` that if both fits
    stop by their tolerance.
    """
    narrow, wide = (Training.of(parts.matrix("train"), dtype=t) for t in (np.float32, np.float64))
    chosen = rank if CATALOGUE[name].low_rank else None
    given = parameters(point, options)
    found, own = (fit(name, data, chosen, **given) for data in (narrow, wide))
    steps = len(found.history)
    if steps != len(own.history):
        same = fit(name, wide, chosen, **given | {"iterations": steps, "tolerance": 0.0})
    else:
        same = own
    of_found, of_own, of_same = (metrics(parts, each.model) for each in (found, own, same))
    return {
        "model": name,
        **point,
        "precision": found.precision,
        "iterations": " / ".join(str(len(each.history)) for each in (found, own)) if steps else "",
        "difference": difference(of_found, of_same),
        "difference, own stop": difference(of_found, of_own),
        "users who differ": int(np.sum(np.any(np.nan_to_num(of_found - of_same) != 0, axis=1))),
        "users": len(of_found),
    }


def float32_alone(data: Training, ridge: float) -> tuple[float, Fit]:
    """Estimated error of C, and EASE, both in float32 whatever the error is."""
    gram = data.packed(np.float32)
    gram.invert(np.full(data.items, ridge), np.inf)
    error, scale = gram.error, -1 / gram.inverse_diagonal
    matrix = gram.take_inverse()
    matrix *= scale
    np.fill_diagonal(matrix, 0.0)
    return error, Fit(FullRank(matrix))


def sweep(parts: Split) -> Iterator[dict[str, Any]]:
    """Yield rows for EASE with λ → 0: float32 alone, and the library's choice, against float64."""
    narrow, wide = (Training.of(parts.matrix("train"), dtype=t) for t in (np.float32, np.float64))
    for ridge in LAMBDAS:
        expected = metrics(parts, fit("ease", wide, ridge=ridge).model)
        found = fit("ease", narrow, ridge=ridge)
        row = {"lambda": ridge, CRITERION: expected[CRITERION].mean()}
        try:
            row["error"], alone = float32_alone(narrow, ridge)
            row["float32 alone"] = difference(metrics(parts, alone.model), expected)
        except Unsolvable:  # the factorisation met a pivot that is not positive
            row["error"] = row["float32 alone"] = np.nan
        yield row | {
            "used": found.precision,
            "difference": difference(metrics(parts, found.model), expected),
        }


def movielens(path: str) -> Split:
    """Split of MovieLens 100K, with 150 held-out users."""
    ratings = read_interactions(path, "movielens", min_rating=3.5)
    return split(ratings, Protocol(150, 3.5, 5))


def generated(heldout: int, **sizes: int) -> Split:
    """Split of a generated demo set of the given sizes."""
    return split(synthetic_interactions(recipe_of("demo", **sizes), 1), Protocol(heldout))


def written(name: str, rows: list[dict[str, Any]]) -> None:
    """Write rows to a csv file of benchmarks/results, and print them."""
    table = pd.DataFrame(rows)
    if "p" in table:
        table.insert(2, "p", table.pop("p"))
    for column in table.select_dtypes("float"):
        table[column] = table[column].map("{:.2g}".format).replace("nan", "")
    table.to_csv(RESULTS / f"{name}.csv", index=False)
    print(table.to_markdown(index=False, disable_numparse=True), flush=True)


def main(path: str | None) -> None:
    models = default_options(ROOT)
    users = PRESETS["demo"].users
    sets = {"demo": generated(users // 6)}
    singular = {"few users": generated(500, users=1600, items=1000, interactions=40_000)}
    if path:
        sets["ml-100k"] = singular["ml-100k"] = movielens(path)
    rows = [
        {"set": which, **compared(parts, name, *middle(name, models))}
        for which, parts in sets.items()
        for name in COMPARED
    ]
    written("precision", rows)
    swept = [{"set": which, **row} for which, parts in singular.items() for row in sweep(parts)]
    written("precision_sweep", swept)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
