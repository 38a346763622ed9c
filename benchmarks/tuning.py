"""Compare the search of each model's grid with fits of every point of the grid.

    OMP_NUM_THREADS=1 python benchmarks/tuning.py demo
    OMP_NUM_THREADS=1 python benchmarks/tuning.py demo-2=2  # other data of the generator, by seed
    OMP_NUM_THREADS=1 python benchmarks/tuning.py ml-100k=/data/ml-100k.zip --ranks 25 150
    OMP_NUM_THREADS=1 python benchmarks/tuning.py lastfm=/data/user_artist.csv --models edlae ease

Both ways choose by nDCG@100 of the validation users from the default grids. Where they choose
different points, both points are fitted to the full tolerance and compared user by user. A row of
benchmarks/results/tuning.csv is a dataset, a model and a rank; rows of the same dataset and model
are replaced, all others are kept.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from lindrop.data.formats import read_interactions
from lindrop.data.split import Protocol, Split, split
from lindrop.data.synthetic.generator import synthetic_interactions
from lindrop.data.synthetic.recipe import recipe_of
from lindrop.models.base import Training
from lindrop.models.catalogue import CATALOGUE, TORCH
from lindrop.models.search import search
from lindrop.models.tuning import choose, parameters, ranks_of, tune
from lindrop.ranking.evaluation import evaluate
from lindrop.ranking.grids import axes, grid, rank_of_table
from lindrop.ranking.metrics import CRITERION
from lindrop.store.split import read_split

OUTPUT = Path(__file__).resolve().parent / "results" / "tuning.csv"
RANK = 150


def split_of(name: str, file: str) -> Split:
    """A dataset, split as its configuration says, or the split of a run in an h5 file."""
    if file.endswith(".h5"):
        return read_split(file)
    csv = {"user": "userId", "item": "movieId", "rating": "rating"}
    if name.startswith("demo"):
        data = synthetic_interactions(recipe_of("demo"), int(file or 1))
        rules = Protocol(heldout_users=10_000)
    elif name == "lastfm":
        data, rules = read_interactions(file, "csv"), Protocol(heldout_users=200)
    else:
        kind, columns = ("csv", csv) if file.endswith(".csv") else ("movielens", {})
        data = read_interactions(file, kind, min_rating=3.5, **columns)
        users = 500 if name == "ml-1m" else 100
        rules = Protocol(min_rating=3.5, min_user_interactions=5, heldout_users=users)
    return split(data, rules)


def compared(
    data: Training, users: tuple[Any, Any], name: str, ranks: list[int]
) -> Iterator[dict[str, Any]]:
    """Rows of a model: both choices at every rank, and what they cost."""
    options = {key: option.default for key, option in CATALOGUE[name].options.items()}
    if len(grid(options)) < 2:
        return
    at = ranks_of(name, RANK, ranks, data)
    begin = time.process_time()
    found = search(data, name, rank_of_table(RANK, at), at, options, *users)
    middle = time.process_time()
    whole = tune(data, name, grid(options), at, options, *users)
    end = time.process_time()
    left, right = (choose(trials, options).set_index("rank") for trials in (found, whole))
    for rank in at:
        ours, theirs = left.loc[rank], right.loc[rank]
        points = [{axis: float(row[axis]) for axis in axes(options)} for row in (ours, theirs)]
        apart = pd.Series([0.0])
        if points[0] != points[1]:
            metrics = [
                evaluate(fit.model, *users).per_user[CRITERION]
                for point in points
                for _, fit in CATALOGUE[name].fits(data, [rank], **parameters(point, options))
            ]
            apart = metrics[0] - metrics[1]
        yield {
            "model": name,
            "rank": rank,
            "searched": _text(points[0]),
            "of the grid": _text(points[1]),
            CRITERION: round(float(theirs[CRITERION]), 5),
            "difference": round(float(apart.mean()), 5),
            "stderr": round(float(apart.sem()), 5) if len(apart) > 1 else 0.0,
            "edge, search": ours["edge"],
            "edge, grid": theirs["edge"],
            "fits": len(found),
            "points × ranks": len(whole),
            "seconds": round(middle - begin, 2),
            "seconds of the grid": round(end - middle, 2),
        }


def _text(point: dict[str, float]) -> str:
    return " ".join(f"{axis}={value:g}" for axis, value in point.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", help="demo, or a name and a file, such as ml-100k=ml-100k.zip")
    parser.add_argument("--ranks", type=int, nargs="+", default=[25, RANK])
    models = [name for name in CATALOGUE if name not in TORCH]
    parser.add_argument("--models", nargs="+", choices=models, default=models)
    given = parser.parse_args()
    name, _, file = given.dataset.partition("=")
    parts = split_of(name, file)
    users = parts.matrix("validation/fold_in"), parts.matrix("validation/held_out")
    data = Training.of(parts.matrix("train"))
    data = replace(data, spectrum=data.top_spectrum(max(*given.ranks, RANK)))
    for model in given.models:
        rows = pd.DataFrame(compared(data, users, model, given.ranks))
        if rows.empty:
            continue
        rows.insert(0, "dataset", name)
        if OUTPUT.exists():
            old = pd.read_csv(OUTPUT, keep_default_na=False)
            kept = old[(old["dataset"] != name) | (old["model"] != model)]
            rows = pd.concat([kept, rows], ignore_index=True)
        rows.sort_values(["dataset", "model", "rank"]).to_csv(OUTPUT, index=False)
        print(rows[(rows["dataset"] == name) & (rows["model"] == model)].to_markdown(index=False))


if __name__ == "__main__":
    main()
