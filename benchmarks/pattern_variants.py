"""Alternatives to the models on a pattern: their accuracy at equal size in bytes.

    python benchmarks/pattern_variants.py ml-1m split.h5 [MODEL ...]
    python benchmarks/pattern_variants.py gowalla FOLDER [MODEL ...]

Every model has 100 weights per item, where a number of U and one of V together count as one weight.
It minimises the objective of `sparse_edlae` among the models of its form:

score         neighbours with the largest |G_ij - s_i s_j / n| / √(H_ii H_jj): sparse_edlae
cosine        neighbours with the largest G_ij / √(G_ii G_jj)
correlation   neighbours with the largest |G_ij - s_i s_j / n| / √(G_ii G_jj)
condition     neighbours with the largest G_ij / G_ii, the share of the users of i who have j
dense B       neighbours with the largest |B_ij| of the dense EDLAE, up to 5,000 items
spread S      sparse_edlae with this `spread`: items with more users have more neighbours
k by score    the pairs of items with the largest scores, at most 400 of an item
low rank R    hybrid_edlae: a low rank R beside the neighbours of the score
low rank R, spread S  the same with this `spread`

λ is chosen from `RIDGES` with p = 0.5, then p from `DROPOUTS`, each by the accuracy for the
validation users. Gowalla has no validation users and takes the options of sparse_models.py. `apart`
is the difference in nDCG@100 from `score` over at most 5,000 test users, and `stderr` its paired
standard error. Only `score`, `spread` and `low rank` sample the items of heavy users to choose
neighbours, as the library does. The rows of the same set and models in
benchmarks/results/pattern_variants.csv are replaced.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sparse_models import GOWALLA, gowalla

from lindrop.models.base import Training, dropout_penalty
from lindrop.models.catalogue import fit
from lindrop.models.pattern.rows import Columns, joined
from lindrop.models.pattern.solver import Solver
from lindrop.ranking.evaluation import evaluate

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "benchmarks" / "results" / "pattern_variants.csv"
METRIC = "ndcg@100"
WEIGHTS = 100  # per item
MOST = 4 * WEIGHTS  # neighbours of an item from which `k by score` chooses
RIDGES, DROPOUTS = [10.0, 30.0, 100.0, 300.0], [0.35, 0.65, 0.8]
WAYS = ["score", "cosine", "correlation", "condition", "k by score", "dense B"]
WAYS += ["spread 0.25", "spread 0.5", "spread 0.75"]
WAYS += ["low rank 10", "low rank 25", "low rank 50", "low rank 25, spread 0.5"]
COLUMNS = 512  # columns of G that are computed at once
TESTED = 5_000
DENSE = 5_000  # items up to which the dense B is computed
Score = Callable[[slice], Any]  # returns the scores of all items for a range of columns


class OnPattern(Solver):
    """Solves the columns of B for given neighbours."""

    def __init__(self, data: Training, given: list[Any], p: float, ridge: float) -> None:
        self.given = given
        super().__init__(data, WEIGHTS, p, ridge)
        self.most = np.array([len(own) for own in given])

    def choose_neighbours(self, items: Any, columns: Any, found: Columns) -> None:
        for column in columns:
            own, start = self.given[items[column]], found.starts[column]
            found.neighbours[start : start + len(own)], found.lengths[column] = own, len(own)


def score_of(data: Training, way: str, p: float, ridge: float) -> Score:
    """Function that returns the scores by which neighbours are chosen."""
    diagonal = data.gram_diagonal
    penalty = dropout_penalty(diagonal, p, ridge)
    if way == "dense B":
        inverse = np.abs(np.linalg.inv((data.x.T @ data.x).toarray() + np.diag(penalty)))
        return lambda part: inverse[:, part]
    x = sp.csc_array(data.x, dtype=np.float64)
    mean = diagonal / np.sqrt(data.x.shape[0]) * (way not in ("cosine", "condition"))
    spread = diagonal + penalty * (way not in ("cosine", "correlation", "condition"))
    power = 1.0 if way == "condition" else 0.5
    scale = np.divide(1.0, spread**power, out=np.zeros_like(spread), where=diagonal > 0)
    # a factor of a whole column changes no order within it
    other = scale if way == "k by score" else np.ones_like(scale)

    def scores(part: slice) -> Any:
        rows = np.abs((x.T @ x[:, part]).toarray() - mean[:, None] * mean[part])
        return rows * scale[:, None] * other[part]

    return scores


def chosen(score: Score, sizes: Any) -> list[tuple[Any, Any]]:
    """For each item j, the sizes[j] items with the largest scores, and these scores."""
    found = []
    for start in range(0, len(sizes), COLUMNS):
        part = slice(start, min(start + COLUMNS, len(sizes)))
        scores = score(part)
        for place, j in enumerate(range(part.start, part.stop)):
            scores[j, place] = -1.0
            own = np.sort(np.argpartition(-scores[:, place], sizes[j] - 1)[: sizes[j]])
            found.append((own, scores[own, place]))
    return found


def neighbours_of(data: Training, way: str, p: float, ridge: float) -> list[Any]:
    """Neighbours of every item: `WEIGHTS` of them on average."""
    m = data.items
    sizes = np.full(m, MOST if way == "k by score" else WEIGHTS)
    found = chosen(score_of(data, way, p, ridge), sizes)
    if way != "k by score":
        return [own for own, _ in found]
    scores = np.concatenate([values for _, values in found])
    least = np.partition(scores, -WEIGHTS * m)[-WEIGHTS * m]
    return [own[values >= least] for own, values in found]


def fitted(data: Training, way: str, p: float, ridge: float) -> Any:
    """The model of one of `WAYS`, fitted to the training users."""
    kind, _, spread = way.partition("spread ")
    options = {"p": p, "ridge": ridge, "spread": float(spread or 0)}
    if kind in ("score", ""):
        return fit("sparse_edlae", data, neighbours=WEIGHTS, **options).model
    if kind.startswith("low rank"):
        rank = int(kind.split()[2].strip(","))
        parts = {"factors": rank, "neighbours": WEIGHTS - rank}
        return fit("hybrid_edlae", data, **parts, **options).model
    solver = OnPattern(data, neighbours_of(data, way, p, ridge), p, ridge)
    return joined(solver.parts(range(data.items)))


def tuned(data: Training, way: str, users: Any) -> dict[str, float]:
    """p and λ by which the validation users are served best."""
    best, options = -1.0, {"p": 0.5, "ridge": RIDGES[0]}
    tried = [{"ridge": ridge} for ridge in RIDGES] + [{"p": p} for p in DROPOUTS]
    for change in tried:
        asked = options | change
        judged = evaluate(fitted(data, way, **asked), *users, [METRIC]).per_user[METRIC].mean()
        print(way, asked, round(float(judged), 5), flush=True)
        if judged > best:
            best, options = judged, asked
    return options


def compared(name: str, parts: Any, users: Any, ways: list[str]) -> None:
    """Measure models, compare each with the first one, and write their rows."""
    x, known, held_out = (sp.csr_array(part) for part in parts)
    data, reference = Training.of(x), None
    for way in ways:
        if way == "dense B" and data.items > DENSE:
            continue
        options = tuned(data, way, users) if users else GOWALLA
        start = time.process_time()
        model = fitted(data, way, **options)
        seconds = time.process_time() - start
        found = evaluate(model, known[:TESTED], held_out[:TESTED], [METRIC]).per_user[METRIC]
        reference = found if reference is None else reference
        apart = (found - reference).dropna()
        row = {"set": name, "items": data.items, "model": way, **options}
        row |= {"processor seconds": round(seconds, 1), METRIC: round(float(found.mean()), 5)}
        if way != ways[0]:
            error = apart.std(ddof=1) / np.sqrt(len(apart))
            row |= {"apart": round(float(apart.mean()), 5), "stderr": round(float(error), 5)}
        print(row, flush=True)
        keep(row)


def keep(row: dict[str, Any]) -> None:
    """Write a row in the place of an earlier one of the same set and model."""
    found, keys = pd.DataFrame([row]), ["set", "model"]
    if OUTPUT.exists():
        earlier = pd.read_csv(OUTPUT)
        same = (earlier[keys] == found[keys].iloc[0]).all(axis=1)
        found = pd.concat([earlier[~same], found], ignore_index=True)
    found.to_csv(OUTPUT, index=False)


def main(name: str, place: str, *asked: str) -> None:
    users = None
    if name == "gowalla":
        parts: Any = gowalla(place)
    else:
        from lindrop.store.split import read_split_matrix

        pair = ("fold_in", "held_out")
        parts = [read_split_matrix(place, f) for f in ("train", *(f"test/{x}" for x in pair))]
        users = [read_split_matrix(place, f"validation/{part}") for part in pair]
    compared(name, parts, users, ["score", *asked] if asked else WAYS)


if __name__ == "__main__":
    main(*sys.argv[1:])
