"""Time and memory of fits and evaluations at published sizes, compared with a plain reference.

    python benchmarks/models_at_scale.py ml-20m [step ...]
    python benchmarks/models_at_scale.py msd

The data are generated with the published numbers of users, items and interactions, and split by the
published protocol. Every step of lindrop and of the reference runs in its own process, one after
the other, and reports wall time and peak memory. Appends to benchmarks/results/models_at_scale.csv.

The reference does in float32 what the public notebooks do: `(X.T @ X).toarray()`, `np.linalg.inv`,
dense users × items scores with argpartition, and the ADMM with a product of items³ operations.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from machine_rates import product_rate

from lindrop.base.stopwatch import peak_bytes
from lindrop.data.split import Protocol, split
from lindrop.data.synthetic.generator import synthetic_interactions
from lindrop.data.synthetic.recipe import PRESETS
from lindrop.linalg.gram import gram_matrix
from lindrop.linalg.inverse import invert_lower
from lindrop.linalg.packed import PackedGram
from lindrop.models.base import FullRank, LowRank, Training, dropout_penalty
from lindrop.models.edlae.admm import Admm
from lindrop.models.edlae.fit import automatic_omega, fit_edlae
from lindrop.models.edlae.objective import Problem
from lindrop.models.full_rank import fit_edlae as fit_full_edlae
from lindrop.ranking.evaluation import evaluate, summary

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "benchmarks" / "results" / "models_at_scale.csv"
SETS = {"ml-20m": Protocol(10_000, None, 5), "msd": Protocol(50_000, None, 20, 200)}
PARTS = {"train": "train", "fold_in": "test/fold_in", "held_out": "test/held_out"}
P, RIDGE, RANK = 0.33, 300.0, 1000
K = 100


def load(folder: Path, part: str) -> sp.csr_array:
    """Interactions of a part that `prepare` saved."""
    return sp.csr_array(sp.load_npz(folder / f"{part}.npz"))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Wall time of a call, and its result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def factors(items: int) -> tuple[np.ndarray, np.ndarray]:
    """Random U and V, items × RANK."""
    u, v = np.random.default_rng(1).standard_normal((2, items, RANK), np.float32) / RANK
    return u, v


def item_matrix(items: int) -> np.ndarray:
    """Random items × items matrix."""
    return np.random.default_rng(1).standard_normal((items, items), np.float32)


# a step yields an empty dict once its data are loaded, then its seconds and other results
Step = Iterator[dict[str, float]]


def gram(folder: Path) -> Step:
    """X'X by lindrop."""
    x = load(folder, "train")
    gram_matrix(x[:100, :50])  # so that compilation is not timed
    yield {}
    yield {"seconds": timed(lambda: gram_matrix(x))[0]}


def gram_reference(folder: Path) -> Step:
    """X'X by SciPy."""
    x = load(folder, "train")
    yield {}
    yield {"seconds": timed(lambda: (x.T @ x).toarray())[0]}


def invert(folder: Path) -> Step:
    """Inverse of G + Λ̃ by lindrop, also as a share of the rate of a matrix product."""
    matrix = gram_matrix(load(folder, "train"))
    matrix[np.diag_indices(len(matrix))] += dropout_penalty(matrix.diagonal(), P, RIDGE)
    rate = product_rate(6000)
    yield {}
    seconds, _ = timed(lambda: invert_lower(matrix))
    yield {"seconds": seconds, "of_product_rate": len(matrix) ** 3 / seconds / rate}


def full_rank(folder: Path) -> Step:
    """Fit of the full-rank EDLAE by lindrop, X'X included."""
    x = load(folder, "train")
    gram_matrix(x[:100, :50])
    yield {}
    data = Training(x, lambda dtype: gram_matrix(x, dtype))
    yield {"seconds": timed(lambda: fit_full_edlae(data, P, RIDGE))[0]}


def full_rank_reference(folder: Path) -> Step:
    """Fit of the full-rank EDLAE by the notebook's formula, X'X included."""
    x = load(folder, "train")
    yield {}

    def fit() -> np.ndarray:
        g = (x.T @ x).toarray()
        diagonal = np.diag_indices(len(g))
        g[diagonal] += dropout_penalty(g[diagonal], P, RIDGE)
        b = np.linalg.inv(g)
        b /= -np.diag(b)
        b[diagonal] = 0.0
        return b

    yield {"seconds": timed(fit)[0]}


def edlae_iteration(folder: Path) -> Step:
    """One iteration of lindrop's ADMM."""
    packed = PackedGram(gram_matrix(load(folder, "train")))
    penalty = dropout_penalty(packed.gram_diagonal, P, RIDGE)
    omega = penalty + automatic_omega(packed.gram_diagonal + penalty)
    packed.invert(penalty + omega)
    yield {}
    run = Admm(packed, Problem(packed.gram_diagonal, penalty), omega, *factors(len(packed)))
    run.step()
    yield {"seconds": timed(run.step)[0]}


def edlae_iteration_reference(folder: Path) -> Step:
    """One iteration of the notebook's ADMM."""
    g = (gram_matrix(load(folder, "train"))).astype(np.float32)
    diagonal = g.diagonal().copy()
    penalty = dropout_penalty(diagonal, P, RIDGE)
    weight = penalty + np.float32(500.0)
    index = np.diag_indices(len(g))
    packed = PackedGram(g.copy())
    packed.invert(penalty)
    inverse = packed.take_inverse()
    u, _ = factors(len(g))
    beta = np.full(len(g), 0.1, np.float32)
    yield {}

    def iterate() -> np.ndarray:
        """One epoch of the notebook's ADMM."""
        g[index] = diagonal + penalty + weight
        left = np.linalg.inv(u.T.dot(g).dot(u)).dot(u.T)
        g[index] = diagonal
        right = g * (1.0 + beta)
        right[index] += weight * beta
        vt = left.dot(right)
        dual = vt.T.dot(np.linalg.inv(vt.dot(vt.T)))
        new_u = inverse.dot(right.dot(dual))
        product = new_u.dot(vt)
        return np.diag(g.dot(product)) - diagonal + weight * np.diag(product)

    yield {"seconds": timed(iterate)[0]}


def evaluate_full_rank(folder: Path) -> Step:
    """Evaluation of a random full-rank model by lindrop."""
    yield from _evaluation(folder, lambda items: FullRank(item_matrix(items)))


def evaluate_low_rank(folder: Path) -> Step:
    """Evaluation of a random low-rank model by lindrop."""
    yield from _evaluation(folder, lambda items: LowRank(*factors(items)))


def _evaluation(folder: Path, model_of: Callable[[int], Any]) -> Step:
    fold_in, held_out = load(folder, "fold_in"), load(folder, "held_out")
    model = model_of(fold_in.shape[1])
    evaluate(model, fold_in[:64], held_out[:64])
    yield {}
    yield {"seconds": timed(lambda: evaluate(model, fold_in, held_out))[0]}


def evaluate_full_rank_reference(folder: Path) -> Step:
    """Evaluation of a random full-rank model by the notebook's code."""
    yield from _reference_evaluation(folder, item_matrix)


def evaluate_low_rank_reference(folder: Path) -> Step:
    """Evaluation of a random low-rank model by the notebook's code."""
    yield from _reference_evaluation(folder, factors)


def _reference_evaluation(folder: Path, model_of: Callable[[int], Any]) -> Step:
    fold_in, held_out = load(folder, "fold_in"), load(folder, "held_out")
    model = model_of(fold_in.shape[1])
    yield {}

    def score() -> None:
        b = model if isinstance(model, np.ndarray) else model[0].dot(model[1].T)
        for start in range(0, fold_in.shape[0], 5000):
            reference_metrics(b, fold_in[start : start + 5000], held_out[start : start + 5000])

    yield {"seconds": timed(score)[0]}


def reference_metrics(b: np.ndarray, x: sp.csr_array, held_out: sp.csr_array) -> None:
    """Compute the metrics of a block of users as the notebook does, and discard them."""
    dense = x.toarray().astype("float32")
    scores = dense.dot(b)
    scores[dense.nonzero()] = -np.inf
    rows = np.arange(len(scores))[:, None]
    top = np.argpartition(-scores, K, axis=1)
    order = np.argsort(-scores[rows, top[:, :K]], axis=1)
    relevant = held_out.toarray()
    discount = 1.0 / np.log2(np.arange(2, K + 2))
    (relevant[rows, top[rows, order]] * discount).sum(axis=1)
    for k in (20, 50):
        chosen = np.zeros_like(scores, dtype=bool)
        chosen[rows, np.argpartition(-scores, k, axis=1)[:, :k]] = True
        np.logical_and(relevant > 0, chosen).sum(axis=1)


def edlae_fit(folder: Path) -> Step:
    """Whole fit of a rank-1000 EDLAE (X'X, spectrum, inverse, ADMM to tolerance), and a test."""
    x = load(folder, "train")
    gram_matrix(x[:100, :50])
    yield {}
    data = Training(x, lambda dtype: gram_matrix(x, dtype))

    def fit() -> Any:
        ((_, result),) = fit_edlae(data, [RANK], 0.1, 10.0, iterations=20)
        return result

    seconds, result = timed(fit)
    fold_in, held_out = load(folder, "fold_in"), load(folder, "held_out")
    tested, metrics = timed(lambda: summary(evaluate(result.model, fold_in, held_out).per_user))
    print(metrics, file=sys.stderr)
    yield {"seconds": seconds, "iterations": len(result.history), "evaluation": tested}


STEPS = {
    "ml-20m": {
        "gram": (gram, gram_reference),
        "invert": (invert,),
        "full rank": (full_rank, full_rank_reference),
        "edlae iteration": (edlae_iteration, edlae_iteration_reference),
        "evaluate full rank": (evaluate_full_rank, evaluate_full_rank_reference),
        "evaluate rank 1000": (evaluate_low_rank, evaluate_low_rank_reference),
    },
    "msd": {"edlae rank 1000": (edlae_fit,)},
}


def summary_table(measured: pd.DataFrame) -> pd.DataFrame:
    """Table of docs/benchmarks.md: lindrop and the reference side by side, with their ratios."""
    rows = []
    for (name, step, kernels), pair in measured.groupby(["set", "step", "kernels"], sort=False):
        by = pair.set_index("who")
        ours = by.loc["lindrop"]
        row = {"set": name, "step": step, "kernels": kernels, "seconds": f"{ours.seconds:.1f}"}
        row["peak GB"] = f"{ours.peak_gb:.1f}"
        if "reference" in by.index:
            other = by.loc["reference"]
            row["reference"] = f"{other.seconds:.1f} s, {other.peak_gb:.1f} GB"
            row["times as fast"] = f"{other.seconds / ours.seconds:.1f}"
            row["of its memory"] = f"{ours.peak_gb / other.peak_gb:.2f}"
        if pd.notna(ours.get("of_product_rate")):
            row["note"] = f"{100 * ours.of_product_rate:.0f} % of the product's rate"
        if pd.notna(ours.get("evaluation")):
            row["note"] = f"{ours.iterations:.0f} iterations; then {ours.evaluation:.1f} s to test"
        rows.append(row)
    return pd.DataFrame(rows).fillna("")


def resident_gb() -> float:
    """Current resident memory of this process in GB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e9


def run(name: str, what: str, which: int, folder: Path) -> None:
    """Run one step in this process and print its results as JSON."""
    step = STEPS[name][what][which](folder)
    next(step)
    loaded = resident_gb()
    found = next(step)
    print(json.dumps({**found, "peak_gb": peak_bytes() / 1e9, "loaded_gb": loaded}))


def measured(name: str, what: str, which: int, folder: Path) -> dict[str, Any]:
    """Row of results for one step, run in a new process; `which` is 1 for the reference."""
    command = [sys.executable, __file__, "--step", name, what, str(which), str(folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    row = {"set": name, "step": what, "who": ["lindrop", "reference"][which]}
    row |= json.loads(done.stdout.strip().splitlines()[-1])
    print(row, flush=True)
    return row


def prepare(name: str, folder: Path) -> None:
    """Generate and split a set, and save the parts that the steps load."""
    parts = split(synthetic_interactions(PRESETS[name], 1), SETS[name])
    for file, part in PARTS.items():
        sp.save_npz(folder / f"{file}.npz", parts.matrix(part), compressed=False)


def main(name: str, wanted: list[str]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        prepare(name, Path(temporary))
        rows = [
            measured(name, what, which, Path(temporary))
            for what in wanted or STEPS[name]
            for which in range(len(STEPS[name][what]))
        ]
    new = pd.DataFrame(rows).round(3).assign(kernels=os.environ.get("OPENBLAS_CORETYPE", "default"))
    if OUTPUT.exists():
        old = pd.read_csv(OUTPUT)
        keys = ["set", "step", "who", "kernels"]
        kept = old[~old.set_index(keys).index.isin(new.set_index(keys).index)]
        new = pd.concat([kept, new])
    new.to_csv(OUTPUT, index=False)
    print(summary_table(new).to_markdown(index=False, disable_numparse=True))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--step"]:
        run(sys.argv[2], sys.argv[3], int(sys.argv[4]), Path(sys.argv[5]))
    else:
        main(sys.argv[1], sys.argv[2:])
