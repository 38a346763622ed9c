"""Whether a low-rank part beside the pattern gives more accuracy at the same bytes.

    python benchmarks/low_rank_and_sparse.py ml-1m split.h5 [p=0.35] [ridge=100]

B = off(UV') + S: the low-rank EDLAE UV' without its diagonal, and S on the pattern of sparse EDLAE,
which is the exact minimum of ‖X - XB‖² + ‖Λ̃^½ B‖² for this UV', column by column:

    S_Nj = (G_NN + Λ̃_N)⁻¹ (G_Nj - [(G + Λ̃) off(UV')]_Nj)

A weight of S takes 8 bytes, its number and its value, and a row of U and V takes 8 bytes per rank:
at equal bytes the rank and the number of neighbours have the same sum. Columns are solved one by
one in NumPy with a dense X'X, so that times say nothing. Validation users judge. Replaces the rows
of the set in benchmarks/results/low_rank_and_sparse.csv.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lindrop.linalg.gram import gram_matrix
from lindrop.models.base import FullRank, Training
from lindrop.models.catalogue import fit
from lindrop.models.pattern.fit import Solver
from lindrop.ranking.evaluation import evaluate
from lindrop.store.split import read_split_matrix

OUTPUT = Path(__file__).resolve().parent / "results" / "low_rank_and_sparse.csv"
PAIRS = [  # rank, neighbours: first those of equal bytes
    *((0, 100), (25, 75), (50, 50), (75, 25)),
    *((0, 50), (12, 38), (25, 25)),
    *((0, 20), (10, 10)),
]
METRIC = "ndcg@100"


def both(data: Training, gram: Any, rank: int, k: int, given: dict[str, float]) -> Any:
    """B = off(UV') + S as a dense matrix."""
    solver = Solver(data, k, **given, user_cap=100)
    found, penalty, items = solver.columns(np.arange(data.items)), solver.penalty, data.items
    b = np.zeros((items, items), np.float32)
    left = right = np.zeros((items, 1))
    if rank:
        model: Any = fit("edlae", data, rank=rank, **given).model
        left, right = model.encoder.astype(float), model.decoder.astype(float)
        b = (left @ right.T).astype(np.float32)
        np.fill_diagonal(b, 0)
    image, diagonal = gram @ left, np.sum(left * right, 1)
    for j in range(items):
        own = found.neighbours[j, : found.lengths[j]]
        if len(own):
            matrix = gram[np.ix_(own, own)] + np.diag(penalty[own])
            low = left[own] @ right[j]
            explained = image[own] @ right[j] - gram[own, j] * diagonal[j] + penalty[own] * low
            b[own, j] += np.linalg.solve(matrix, gram[own, j] - explained)
    return b


def main(name: str, split: str, *options: str) -> None:
    given = {"p": 0.35, "ridge": 100.0}
    given |= {key: float(value) for key, value in (word.split("=") for word in options)}
    data = Training.of(read_split_matrix(split, "train"))
    users = [read_split_matrix(split, f"validation/{part}") for part in ("fold_in", "held_out")]
    gram, rows, base = gram_matrix(data.x).astype(float), [], None
    for rank, k in PAIRS:
        model = FullRank(both(data, gram, rank, k, given))
        per_user = evaluate(model, *users, [METRIC]).per_user[METRIC]
        base = per_user if rank == 0 else base
        apart = (per_user - base).dropna()
        row = {
            "set": name,
            "rank": rank,
            "neighbours": k,
            "bytes an item": 8 * (rank + k),
            METRIC: round(float(per_user.mean()), 5),
            "more than the pattern alone": round(float(apart.mean()), 5),
            "standard error": round(float(apart.std(ddof=1) / np.sqrt(len(apart))), 5),
        }
        rows.append(row)
        print(row, flush=True)
    found = pd.DataFrame(rows)
    if OUTPUT.exists():
        earlier = pd.read_csv(OUTPUT)
        found = pd.concat([earlier[earlier["set"] != name], found], ignore_index=True)
    found.to_csv(OUTPUT, index=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
