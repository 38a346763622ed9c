"""Speed of several solvers of SLIM's columns, at the same accuracy on the same X'X.

    python3.11 -m venv .venv-slim
    .venv-slim/bin/pip install --require-hashes -r requirements.lock
    .venv-slim/bin/pip install scikit-learn==1.9.1 celer==0.7.4 skglm==0.5
    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONPATH=workflow
    .venv-slim/bin/python benchmarks/slim_solvers.py

The table did not record its versions; those above were current one day after it was made. Columns
that are spread over the items of a generated set are solved on one core from b = 0, and processor
time is measured. scikit-learn takes X'X; celer and skglm take a matrix of examples, and get a
triangular factor of X'X (items × items). Each solver has its own stopping rule, so each is run with
smaller and smaller tolerances until no weight of any column would move by more than ACCURACY. That
run is reported; a solver that does not get there within LONGEST seconds has an empty cell. Writes
benchmarks/results/slim_solvers.csv and prints the table of docs/benchmarks.md.
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from lindrop.data.split import Protocol, split
from lindrop.data.synthetic.generator import synthetic_interactions
from lindrop.data.synthetic.recipe import PRESETS
from lindrop.linalg.gram import gram_matrix
from lindrop.models.slim import distance, solve_columns

OUTPUT = Path(__file__).resolve().parent / "results" / "slim_solvers.csv"
RECIPE = replace(PRESETS["ml-20m"], users=20_000, items=2_500, interactions=1_500_000)
COLUMNS = 40
ACCURACY = 1e-4
TOLERANCES = [10.0**-k for k in range(2, 11)]
LONGEST = 15.0  # seconds of a run after which no smaller tolerance is tried
PENALTIES = [(1.0, 100.0, True), (20.0, 100.0, True), (20.0, 100.0, False), (20.0, 1000.0, False)]

Solve = Callable[[int, float], np.ndarray]  # takes a column and a tolerance, returns its weights


def lindrop(gram: np.ndarray, l1: float, l2: float, nonnegative: bool) -> Solve:
    """Solver of lindrop."""

    def solve(j: int, tolerance: float) -> np.ndarray:
        weights = np.zeros((1, len(gram)))
        solve_columns(gram, weights, np.array([j]), l1, l2, nonnegative, tolerance)
        return weights[0]

    return solve


def scikit_learn(gram: np.ndarray, l1: float, l2: float, nonnegative: bool) -> Solve:
    """Solver of scikit-learn that takes X'X."""
    from sklearn.linear_model._cd_fast import enet_coordinate_descent_gram

    gram = gram.astype(np.float64)

    def solve(j: int, tolerance: float) -> np.ndarray:
        own, weights, target = gram[j, j], np.zeros(len(gram)), gram[j].copy()
        column = target.copy()
        gram[j] = gram[:, j] = target[j] = 0.0  # the solver skips an item without users
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            enet_coordinate_descent_gram(
                weights, l1, l2, gram, target, np.array([own**0.5]), 10_000, tolerance,
                np.random.RandomState(0), False, nonnegative,
            )  # fmt: skip
        gram[j] = gram[:, j] = column
        return weights

    return solve


def with_factor(model_of: Callable[[float, float, bool, float], object]) -> Callable[..., Solve]:
    """Solver from a model that takes examples: the rows of R with R'R = X'X, column j set to 0."""

    def solver(gram: np.ndarray, l1: float, l2: float, nonnegative: bool) -> Solve:
        size = len(gram)
        ridge = 1e-6 * np.trace(gram) / size  # makes a singular matrix positive definite
        factor = np.asfortranarray(
            np.linalg.cholesky(gram.astype(np.float64) + ridge * np.eye(size)).T
        )
        # both libraries take a mean over examples, and one strength with a share for l1
        strength, share = (l1 + l2) / size, l1 / (l1 + l2)

        def solve(j: int, tolerance: float) -> np.ndarray:
            column = factor[:, j].copy()
            factor[:, j] = 0.0
            model = model_of(strength, share, nonnegative, tolerance)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                weights = model.fit(factor, column).coef_  # type: ignore[attr-defined]
            factor[:, j] = column
            return weights

        return solve

    return solver


def of_celer(strength: float, share: float, nonnegative: bool, tolerance: float) -> object:
    """Elastic net of celer."""
    import celer

    return celer.ElasticNet(
        alpha=strength, l1_ratio=share, positive=nonnegative, tol=tolerance, fit_intercept=False
    )


def of_skglm(strength: float, share: float, nonnegative: bool, tolerance: float) -> object:
    """Elastic net of skglm."""
    import skglm

    penalty = skglm.penalties.L1_plus_L2(strength, share, positive=nonnegative)
    solver = skglm.solvers.AndersonCD(tol=tolerance, fit_intercept=False)
    return skglm.GeneralizedLinearEstimator(skglm.datafits.Quadratic(), penalty, solver)


SOLVERS = {
    "lindrop": lindrop,
    "scikit-learn, X'X": scikit_learn,
    "celer, factor": with_factor(of_celer),
    "skglm, factor": with_factor(of_skglm),
}


def measured(gram: np.ndarray, name: str, l1: float, l2: float, nonnegative: bool) -> dict:
    """Row of results: the run with the largest tolerance that is accurate enough, if any."""
    solve = SOLVERS[name](gram, l1, l2, nonnegative)
    columns = np.linspace(0, len(gram) - 1, COLUMNS).astype(int)
    solve(0, 0.1)  # so that compilation is not timed
    row = {"solver": name, "l1": l1, "l2": l2, "nonnegative": nonnegative}
    for tolerance in TOLERANCES:
        start = time.process_time()
        found = [solve(j, tolerance) for j in columns]
        seconds = time.process_time() - start
        apart = max(
            distance(gram, j, b, l1, l2, nonnegative) for j, b in zip(columns, found, strict=True)
        )
        if apart <= ACCURACY:
            weights = np.mean([np.count_nonzero(b) for b in found])
            row |= {"ms_per_column": 1e3 * seconds / COLUMNS, "weights_per_column": weights}
            return row | {"distance": apart, "tolerance": tolerance}
        if seconds > LONGEST:
            break
    return row


def summary_table(measured: pd.DataFrame) -> pd.DataFrame:
    """Table of docs/benchmarks.md: milliseconds per column, by solver and penalties."""
    case = [
        f"l1 {row.l1:g}, l2 {row.l2:g}{'' if row.nonnegative else ', any sign'}"
        for row in measured.itertuples()
    ]
    shown = measured["ms_per_column"].map("{:.2f}".format, na_action="ignore")
    table = measured.assign(case=case, shown=shown).pivot(
        index="solver", columns="case", values="shown"
    )
    order = {"index": measured["solver"].unique(), "columns": pd.unique(pd.Series(case))}
    return table.reindex(**order).fillna("").reset_index().rename_axis(columns=None)


def main() -> None:
    parts = split(synthetic_interactions(RECIPE, 1), Protocol(1_000, None, 5))
    gram = gram_matrix(parts.matrix("train"))
    rows = []
    for l1, l2, nonnegative in PENALTIES:
        for name in SOLVERS:
            rows.append(measured(gram, name, l1, l2, nonnegative))
            print(rows[-1], flush=True)
    table = pd.DataFrame(rows).round({"ms_per_column": 2, "weights_per_column": 0})
    table["distance"] = table["distance"].map("{:.1e}".format)
    table.to_csv(OUTPUT, index=False)
    print(summary_table(table).to_markdown(index=False, disable_numparse=True))


if __name__ == "__main__":
    main()
