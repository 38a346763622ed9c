"""One fit of EASE with very many items: python benchmarks/large_fit.py 70000

Generates interactions with the proportions of MovieLens 20M (7.5 users per item, 73 items per
user), and fits in this process. Every five seconds it prints how far it is and what is left; it
does not start if the estimated memory is not available. The proof at the end needs no other
solution: the normal equations of some columns of B are computed from X in float64. Replaces the row
of this number of items in benchmarks/results/large_fit.csv.
"""

import logging
import os
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from peers.comparison import ITEMS_PER_USER, USERS_PER_ITEM

from lindrop.base.parallel import thread_count
from lindrop.base.stopwatch import peak_bytes
from lindrop.data.synthetic.generator import generate
from lindrop.data.synthetic.recipe import recipe_of
from lindrop.models.base import ScaledSymmetric, Training
from lindrop.models.catalogue import CATALOGUE, fit
from lindrop.models.memory import Size, job_bytes

OUTPUT = Path(__file__).parent / "results" / "large_fit.csv"
RIDGE, COLUMNS = 500.0, 5


def interactions(items: int) -> sp.csr_array:
    """Generated interactions with so many items."""
    users = round(USERS_PER_ITEM * items)
    recipe = recipe_of("ml-20m", users=users, items=items, interactions=users * ITEMS_PER_USER)
    rows, columns = generate(recipe, seed=1)
    x = sp.csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=(users, items))
    del rows, columns
    return x


def violation(x: sp.csr_array, model: ScaledSymmetric) -> float:
    """Largest residual of the normal equations of some columns of B, relative to X'x_j.

    (X'X + λI) b_j = X'x_j holds in all rows but j, where b_j is 0 instead.
    """
    some = np.linspace(0, x.shape[1] - 1, COLUMNS).astype(int)
    rows = sp.csr_array((np.ones(COLUMNS), (np.arange(COLUMNS), some)), (COLUMNS, x.shape[1]))
    # B = A dMat(scale) with a symmetric A, so a row of B gives a column
    b = (model.scores(rows.astype(np.float32)) / model.scale).T.astype(float) * model.scale[some]
    exact = x.astype(np.float64)
    right = exact.T @ exact[:, some].toarray()
    apart = right - exact.T @ (exact @ b) - RIDGE * b
    apart[some, np.arange(COLUMNS)] = right[some, np.arange(COLUMNS)] = 0.0
    return float(np.abs(apart).max() / np.abs(right).max())


def main(items: int) -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    x = interactions(items)
    size = Size(*x.shape, int(x.nnz))
    needed = job_bytes(size, CATALOGUE["ease"].needed_bytes(size, [0]))
    logging.info("estimated peak: %.1f GB", needed / 1e9)
    start, worked = time.perf_counter(), time.process_time()
    model = fit("ease", Training.of(x, keep=False), ridge=RIDGE).model
    found = {
        "items": items,
        "users": x.shape[0],
        "interactions": x.nnz,
        "threads": thread_count(),
        "seconds": round(time.perf_counter() - start, 1),
        "processor seconds": round(time.process_time() - worked, 1),
        "peak GB": round(peak_bytes() / 1e9, 2),
        "estimated GB": round(needed / 1e9, 2),
        "violation": f"{violation(x, model):.0e}",
        "busy": round(os.getloadavg()[0], 1),
    }
    print(found)
    table = pd.DataFrame([found])
    if OUTPUT.exists():
        old = pd.read_csv(OUTPUT)
        table = pd.concat([old[old["items"] != items], table]).sort_values("items")
    table.to_csv(OUTPUT, index=False)


if __name__ == "__main__":
    main(int(sys.argv[1]))
