"""Comparison of EASE, EDLAE and SLIM in lindrop and in other libraries: time, memory and B.

    PYTHONPATH=benchmarks python -m peers 2000 4000 8000

For each number of items a set is generated, with 7.5 users per item and 73 items per user as in
ML-20M. Fits run one after the other, each in its own process and in the environment of its library.
The round of all libraries is repeated, unless it took a minute, and the fastest fit of each
library counts. Just before each fit, a matrix product and a copy are timed on the machine.
Replaces the rows of these models and numbers of items in benchmarks/results/peers.csv,
docs/peers.png, and the tables in docs/benchmarks.md and docs/performance.md.

A library is a module in fits/ and a lock file in environments/, a model an entry in models.py.
"""

import argparse
import os
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
from peers.comparison import ROUNDS, Comparison, merged
from peers.libraries import LIBRARIES, ROOT, interpreter
from peers.models import MODELS
from peers.page import fill
from peers.process import Limits
from peers.summary import TABLES, draw

from lindrop.base.memory import available_bytes

OUTPUT = ROOT / "benchmarks" / "results" / "peers.csv"
DRAWING = ROOT / "docs" / "peers"
ENVIRONMENTS = ROOT / ".venv-peers"


def main(asked: argparse.Namespace) -> None:
    comparison = Comparison(
        {name: interpreter(name, asked.environments) for name in asked.only},
        asked.kernels,
        asked.threads,
        Limits(60 * asked.minutes, 1e9 * asked.gigabytes),
        asked.rounds,
    )
    for model, items in product(asked.models, asked.items):
        found = comparison.of(model, items)
        if asked.output.exists():
            found = merged(pd.read_csv(asked.output), found)
        found.to_csv(asked.output, index=False)
    results = pd.read_csv(asked.output)
    pdf, png = (asked.drawing.with_suffix(ending) for ending in (".pdf", ".png"))
    draw(results, SimpleNamespace(pdf=pdf, png=png, csv=asked.output))
    if asked.output == OUTPUT:
        fill(results)
    for table in TABLES.values():
        print(table(results).to_markdown(index=False, disable_numparse=True), end="\n\n")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser("peers", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("items", nargs="+", type=int, help="numbers of items")
    parser.add_argument("--only", nargs="+", choices=LIBRARIES, default=list(LIBRARIES))
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--environments", type=Path, default=ENVIRONMENTS, help="a folder")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--kernels", nargs="+", default=["default"], help="kernels of OpenBLAS")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="at most so many fits of each")
    parser.add_argument(
        "--minutes", type=float, default=1, help="processor time of a fit, all threads"
    )
    parser.add_argument("--gigabytes", type=float, default=available_bytes() / 1e9)
    parser.add_argument("--output", type=Path, default=OUTPUT, help="a csv file")
    parser.add_argument("--drawing", type=Path, default=DRAWING, help="path without suffix")
    return parser.parse_args()


if __name__ == "__main__":
    main(parsed())
