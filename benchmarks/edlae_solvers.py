"""Iterations, processor time and objectives of the descent and of ADMM, for Eq. 10 and Eq. 11.

    python benchmarks/edlae_solvers.py ml-1m=/data/ml-1m.zip
    python benchmarks/edlae_solvers.py gowalla=/data/gowalla/train.txt.gz --items 5000
    python benchmarks/edlae_solvers.py generated --items 8000 --ranks 10 100 --models edlae

`generated` has the proportions of MovieLens 20M. Each solver runs past the point where its fit
would stop by default, until its changes are below SETTLED, or for `--seconds` of processor time. A
row of benchmarks/results/edlae_solvers.csv is a dataset of so many items, a model and a rank; an
earlier row of the same is replaced. For each solver it has the iterations, their
processor seconds (without the inverse, which both need) and the objective: where fits stop by
default, with the tolerances that were ADMM's as long as it was the default; of ADMM until it was
within MATCHED of the lowest objective that it reached at all; and of the descent until it was as
low. An empty cell was not reached. Prints the table of docs/benchmarks.md.
"""

import argparse
import logging
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from peers.machine import description

from lindrop.base.reporting import logger
from lindrop.data.formats import read_interactions
from lindrop.data.synthetic.generator import synthetic_interactions
from lindrop.data.synthetic.recipe import PRESETS
from lindrop.models.base import Training
from lindrop.models.catalogue import CATALOGUE

OUTPUT = Path(__file__).resolve().parent / "results" / "edlae_solvers.csv"
SETTLED, MATCHED = 1e-7, 1e-6
MODELS = {"edlae": {"p": 0.33}, "zero_diagonal": {"p": 0.33}, "zero_diagonal_l2": {}}
BEFORE = {"edlae": 3e-5, "zero_diagonal": 1e-5, "zero_diagonal_l2": 1e-5}  # ADMM's tolerances
KEY = ["dataset", "items", "model", "rank"]
FILES: Mapping[str, Mapping[str, Any]] = {
    "ml-1m": {"kind": "movielens", "min_rating": 3.5},
    "lastfm": {"kind": "csv"},
    "gowalla": {"kind": "adjacency"},
}


class Run(logging.Handler):
    """Processor seconds and objectives of a fit, by iteration, from what it logs."""

    def __init__(self, seconds: float):
        super().__init__(logging.INFO)
        self.seconds, self.start = seconds, time.process_time()
        self.times: list[float] = []
        self.objectives: list[float] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Note an iteration; end the fit when its time is over."""
        if isinstance(record.args, Mapping) and "objective" in record.args:
            self.times.append(time.process_time() - self.start)
            self.objectives.append(float(record.args["objective"]))
            if self.times[-1] > self.seconds:
                raise TimeoutError

    def stopped(self, tolerance: float, most: int) -> int | None:
        """Iterations after which a fit with this tolerance ends; None if it did not get there."""
        values = np.array(self.objectives)
        quiet = np.abs(np.diff(values)) <= tolerance * values[1:]
        twice = np.flatnonzero(quiet[1:] & quiet[:-1])
        if len(twice) and twice[0] + 3 <= most:
            return int(twice[0]) + 3
        return most if len(values) >= most else None

    def below(self, objective: float) -> int | None:
        """Iterations until the objective is not above the given one; None if it never is."""
        found = np.flatnonzero(np.array(self.objectives) <= objective)
        return int(found[0]) + 1 if len(found) else None

    @property
    def begin(self) -> float:
        """When the first iteration began, after inverse and start, if it took the median time."""
        return self.times[0] - float(np.median(np.diff(self.times)))

    def row(self, name: str, iterations: int | None) -> dict[str, Any]:
        """Iterations, seconds and objective after so many iterations."""
        if iterations is None:
            return {f"{name}_iterations": None, f"{name}_seconds": None, f"{name}_objective": None}
        at = iterations - 1
        return {
            f"{name}_iterations": iterations,
            f"{name}_seconds": round(self.times[at] - self.begin, 3),
            f"{name}_objective": float(f"{self.objectives[at]:.9g}"),
        }


def training(name: str, file: str, items: int) -> Training:
    """Interactions of a set: of its most popular items, or generated."""
    if name == "generated":
        share = items / PRESETS["ml-20m"].items
        recipe = PRESETS["ml-20m"]
        counts = {
            "users": round(share * recipe.users),
            "interactions": round(share * recipe.interactions),
        }
        data = synthetic_interactions(replace(recipe, items=items, **counts), 1)
    else:
        options = dict(FILES[name])
        data = read_interactions(file, options.pop("kind"), **options)
    ones = np.ones(len(data.user), np.float32)
    x = sp.csr_array((ones, (data.user, data.item)))
    x.sum_duplicates()
    x.data[:] = 1
    popular = np.argsort(-np.asarray(x.sum(axis=0)).ravel(), kind="stable")[:items]
    return Training.of(x[:, np.sort(popular)])


def run(data: Training, model: str, rank: int, solver: str, seconds: float, **given: Any) -> Run:
    """Fit with one solver until it settles, or until its time is over."""
    found = Run(seconds)
    logger.addHandler(found)
    try:
        list(
            CATALOGUE[model].fits(
                data, [rank], solver=solver, iterations=100_000, tolerance=SETTLED, **given
            )
        )
    except TimeoutError:
        pass
    finally:
        logger.removeHandler(found)
    return found


def compared(data: Training, model: str, rank: int, ridge: float, seconds: float) -> dict[str, Any]:
    """Row of results of a model at a rank."""
    options = CATALOGUE[model].options
    most = options["iterations"].default
    given = MODELS[model] | {"ridge": ridge}
    admm, descent = (run(data, model, rank, way, seconds, **given) for way in ("admm", "lbfgs"))
    goal = min(admm.objectives) * (1 + MATCHED)
    return {
        "lambda": ridge,
        **admm.row("admm", admm.stopped(BEFORE[model], most)),
        **descent.row("descent", descent.stopped(options["tolerance"].default, most)),
        **admm.row("settled_admm", admm.below(goal)),
        **descent.row("as_low", descent.below(goal)),
    }


def measured(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Rows of one dataset."""
    name, _, file = arguments.dataset.partition("=")
    data = training(name, file, arguments.items)
    data = replace(data, spectrum=data.top_spectrum(max(arguments.ranks)))
    threads = int(os.environ.get("OPENBLAS_NUM_THREADS", os.cpu_count() or 1))
    for model in arguments.models:
        for rank in arguments.ranks:
            yield {
                "dataset": name,
                "items": data.items,
                "model": model,
                "rank": rank,
                **compared(data, model, rank, arguments.ridge, arguments.seconds),
                "machine": description(threads),
            }


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Table of docs/benchmarks.md: iterations (processor seconds), and ratios."""

    def cell(name: str) -> pd.Series:
        return table.apply(
            lambda row: (
                ""
                if pd.isna(row[f"{name}_iterations"])
                else f"{row[f'{name}_iterations']:.0f} ({row[f'{name}_seconds']:.2f} s)"
            ),
            axis=1,
        )

    def ratio(above: str, below: str) -> pd.Series:
        found = table[f"{above}_seconds"] / table[f"{below}_seconds"]
        return found.map(lambda times: "" if pd.isna(times) else f"{times:.1f} ×")

    lower = 1 - table["descent_objective"] / table["admm_objective"]
    return pd.DataFrame(
        {
            "data": table["dataset"] + ", " + table["items"].map("{:,}".format),
            "model": table["model"],
            "rank": table["rank"],
            "ADMM": cell("admm"),
            "descent": cell("descent"),
            "faster": ratio("admm", "descent"),
            "lower by": lower.map(lambda share: "" if pd.isna(share) else f"{share:.1e}"),
            "ADMM, its lowest": cell("settled_admm"),
            "descent as low": cell("as_low"),
            "faster ": ratio("settled_admm", "as_low"),
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", help="generated, or ml-1m, lastfm or gowalla with =FILE")
    parser.add_argument("--items", type=int, default=8_000, help="most popular items to keep")
    parser.add_argument("--ranks", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--lambda", dest="ridge", type=float, default=100.0)
    parser.add_argument("--seconds", type=float, default=30.0, help="of processor time per fit")
    logger.setLevel(logging.INFO)
    for row in measured(parser.parse_args()):
        table = pd.DataFrame([row])
        if OUTPUT.exists():
            table = pd.concat([pd.read_csv(OUTPUT), table], ignore_index=True)
        table = table.drop_duplicates(KEY, keep="last")
        table.to_csv(OUTPUT, index=False)
        print(shown(table.tail(1)).to_string(index=False, header=False), flush=True)
    print(shown(table).to_markdown(index=False, disable_numparse=True))


if __name__ == "__main__":
    main()
