"""Compare the rankings of sampled dropout (row 4 of Table 1) with its closed form (row 3).

    OMP_NUM_THREADS=1 python benchmarks/sampled_dropout.py demo --p 0.65 --ridge 10
    OMP_NUM_THREADS=1 python benchmarks/sampled_dropout.py ml-1m=/data/ml-1m.zip --p 0.65 --ridge 10
    OMP_NUM_THREADS=1 python benchmarks/sampled_dropout.py gowalla=split.h5 --p 0.65 --ridge 10

Both are fitted at the same rank, p and λ to the training users, and rank the items of the test
users. `excess` is the expected objective of row 4 over the minimum, minus 1; `difference` is row 4
minus row 3 in nDCG@100, with the standard error of the mean over users, and `errors` is their
ratio. Rows of benchmarks/results/sampled_dropout.csv with the same settings are replaced.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tuning import split_of

from lindrop.models.base import LowRank, Training, dropout_penalty
from lindrop.models.catalogue import fit
from lindrop.models.sampled import expected_objective, fit_sampled
from lindrop.ranking.evaluation import evaluate
from lindrop.ranking.metrics import CRITERION

OUTPUT = Path(__file__).resolve().parent / "results" / "sampled_dropout.csv"
SETTINGS = ["dataset", "rank", "p", "lambda", "seed"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", help="demo, or a name and a file, such as ml-1m=ml-1m.zip")
    parser.add_argument("--rank", type=int, default=150)
    parser.add_argument("--p", type=float, required=True)
    parser.add_argument("--ridge", type=float, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    given = parser.parse_args()
    name, _, file = given.dataset.partition("=")
    parts = split_of(name, file)
    data = Training.of(parts.matrix("train"))
    users = parts.matrix("test/fold_in"), parts.matrix("test/held_out")
    penalty = dropout_penalty(data.gram_diagonal, given.p, given.ridge)
    x = data.x.astype(np.float32)
    exact = fit("dropout_l2", data, given.rank, p=given.p, ridge=given.ridge).model
    assert isinstance(exact, LowRank)
    least = expected_objective(x, penalty, exact.encoder, exact.decoder)
    third = evaluate(exact, *users).per_user[CRITERION]
    rows: list[dict[str, Any]] = []
    for seed in given.seeds:
        begin = time.process_time()
        trained = fit_sampled(x, given.rank, given.p, given.ridge, seed=seed)
        seconds = time.process_time() - begin
        fourth = evaluate(LowRank(trained.u, trained.v), *users).per_user[CRITERION]
        apart = fourth - third
        settings = (name, given.rank, given.p, given.ridge, seed)
        rows.append(
            {
                **dict(zip(SETTINGS, settings, strict=True)),
                "epochs": len(trained.history),
                "converged": trained.rested,
                "excess": float(f"{trained.history[-1]['objective'] / least - 1:.2g}"),
                "row 3": round(third.mean(), 5),
                "row 4": round(fourth.mean(), 5),
                "difference": round(apart.mean(), 5),
                "stderr": round(apart.sem(), 5),
                "errors": round(apart.mean() / apart.sem(), 2),
                "seconds": round(seconds, 1),
            }
        )
    table = pd.DataFrame(rows)
    print(table.to_markdown(index=False))
    if OUTPUT.exists():
        table = pd.concat([pd.read_csv(OUTPUT), table], ignore_index=True)
    table = table.drop_duplicates(SETTINGS, keep="last")
    table.sort_values(SETTINGS).to_csv(OUTPUT, index=False)


if __name__ == "__main__":
    main()
