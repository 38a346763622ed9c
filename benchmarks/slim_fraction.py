"""Time of SLIM on a share of the items of a generated set of published size, scaled to all items.

    python benchmarks/slim_fraction.py msd 0.01
    python benchmarks/slim_fraction.py ml-20m 0.01

Liang et al. 2018 left SLIM out on MSD because of its size. The columns solved here are spread
evenly over the items, so the time of all columns is their time divided by their share. Times are
processor times of all threads together; on an otherwise idle machine, a fit takes this time divided
by the number of cores. One penalty is weak and leaves many weights, the other is stronger. Replaces
the rows of this set in benchmarks/results/slim_fraction.csv and prints the table of
docs/benchmarks.md.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from models_at_scale import SETS

from lindrop.base.stopwatch import peak_bytes
from lindrop.data.split import split
from lindrop.data.synthetic.generator import synthetic_interactions
from lindrop.data.synthetic.recipe import PRESETS
from lindrop.linalg.gram import gram_matrix
from lindrop.models.slim import Penalty, solve, spread

OUTPUT = Path(__file__).resolve().parent / "results" / "slim_fraction.csv"
SHOWN = ["set", "items", "l1", "l2", "columns", "hours for all columns", "weights per column"]
PENALTIES = [Penalty(0.5, 5.0), Penalty(25.0, 500.0)]


def measured(gram: np.ndarray, share: float) -> Iterator[dict[str, Any]]:
    """Yield a row of results for each penalty."""
    parts = spread(len(gram))
    parts = parts[: max(1, round(share * len(parts)))]
    columns = sum(map(len, parts))
    list(solve(gram[:9, :9].copy(), spread(9), PENALTIES[0]))  # so that compilation is not timed
    for penalty in PENALTIES:
        start = time.process_time()
        weights = sum(rows.nnz for rows, _ in solve(gram, parts, penalty))
        seconds = time.process_time() - start
        yield {
            "items": len(gram),
            "l1": penalty.l1,
            "l2": penalty.l2,
            "columns": columns,
            "core_seconds": round(seconds, 2),
            "hours for all columns": round(seconds / columns * len(gram) / 3600, 3),
            "weights per column": round(weights / columns),
            "peak_gb": round(peak_bytes() / 1e9, 1),
        }


def main(name: str, share: float) -> None:
    parts = split(synthetic_interactions(PRESETS[name], 1), SETS[name])
    gram = gram_matrix(parts.matrix("train"))
    new = pd.DataFrame(measured(gram, share)).assign(set=name)
    if OUTPUT.exists():
        old = pd.read_csv(OUTPUT)
        new = pd.concat([old[old["set"] != name], new])
    new.to_csv(OUTPUT, index=False)
    print(new[SHOWN].astype(str).to_markdown(index=False, disable_numparse=True))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
