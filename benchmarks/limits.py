"""Time of every heavy step, compared with a lower bound from the rates of this machine.

    python benchmarks/limits.py [items] [step ...]

Uses a generated set with the proportions of MovieLens 20M and the given number of items (default
8,000; the full set has 20,108), and ranks 1000 and 10. Right before each step, the rates that bound
it are measured with as many threads as the step may use: of a float32 matrix product, of copying
memory, and of increments in the nearest cache. A bound is the unavoidable work divided by its rate;
if a step has several bounds, the largest counts. With one thread (OMP_NUM_THREADS=1 and
OPENBLAS_NUM_THREADS=1) rates and steps are timed by the processor, so that other work on the
machine does not count. Replaces the rows of that number of items and threads in
benchmarks/results/limits.csv and prints the table of docs/benchmarks.md.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from machine_rates import RATES, seconds_of
from peers.machine import description

from lindrop.base.parallel import thread_count
from lindrop.data.split import Protocol, split
from lindrop.data.synthetic.generator import synthetic_interactions
from lindrop.data.synthetic.recipe import PRESETS, recipe_of
from lindrop.linalg import spectrum
from lindrop.linalg.gram import gram_matrix, gram_triangle
from lindrop.linalg.inverse import invert_lower
from lindrop.linalg.packed import InverseTriangle, PackedGram
from lindrop.linalg.spectrum import top_eigenpairs
from lindrop.linalg.triangle import Triangle
from lindrop.models.base import LowRank, ScaledSymmetric, Training, dropout_penalty
from lindrop.models.catalogue import fit
from lindrop.models.edlae.admm import Admm
from lindrop.models.edlae.fit import automatic_omega
from lindrop.models.edlae.objective import Problem
from lindrop.models.memory import sampled_batch
from lindrop.models.sampled import fit_sampled
from lindrop.ranking.evaluation import evaluate, top_items
from lindrop.store.gram import Provenance, read_gram, write_gram

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "benchmarks" / "results" / "limits.csv"
ITEMS, RANK, SMALL_RANK, K = 8000, 1000, 10, 100
P, RIDGE = 0.33, 300.0
FLOAT = 4  # bytes


@dataclass(frozen=True)
class Step:
    """A function to run, and the unavoidable work in it, by the kind of rate that bounds it."""

    run: Callable[[], Any]
    work: dict[str, float]
    runs: int = 1
    note: str = ""


class Data:
    """Generated data that the steps share; matrices are computed when first used."""

    def __init__(self, items: int, folder: Path):
        self.folder, full = folder, PRESETS["ml-20m"]
        share = items / full.items
        users = round(full.users * share)
        interactions = round(full.interactions * share)
        recipe = recipe_of("ml-20m", users=users, items=items, interactions=interactions)
        parts = split(synthetic_interactions(recipe, 1), Protocol(users // 14, None, 5))
        self.x = parts.matrix("train")
        self.fold_in, self.held_out = parts.matrix("test/fold_in"), parts.matrix("test/held_out")
        self.items = self.x.shape[1]

    @cached_property
    def gram(self) -> np.ndarray:
        """G = X'X."""
        return gram_matrix(self.x)

    @cached_property
    def penalty(self) -> np.ndarray:
        """Diagonal of Λ̃."""
        return dropout_penalty(self.gram.diagonal().astype(float), P, RIDGE)

    @cached_property
    def matrix(self) -> np.ndarray:
        """Random items × items matrix."""
        return np.random.default_rng(1).standard_normal(self.gram.shape, np.float32)

    def factors(self, rank: int) -> tuple[np.ndarray, np.ndarray]:
        """Random U and V, items × rank."""
        u, v = np.random.default_rng(1).standard_normal((2, self.items, rank), np.float32)
        return u / np.float32(rank), v

    @cached_property
    def omega(self) -> np.ndarray:
        """Diagonal of Ω of the ADMM."""
        return self.penalty + automatic_omega(self.gram.diagonal() + self.penalty)

    @cached_property
    def inverted(self) -> PackedGram:
        """G and C = (G + Λ̃ + Ω)⁻¹."""
        packed = PackedGram(self.gram.copy())
        packed.invert(self.penalty + self.omega)
        return packed


def gram(data: Data) -> Step:
    """X'X: an increment for every pair of items of a user, each item with itself included."""
    lengths = np.diff(data.x.indptr).astype(float)
    pairs = float(np.sum(lengths * (lengths + 1) / 2))
    gram_triangle(data.x[:100, :50])  # so that compilation is not timed
    traffic = FLOAT * float(data.items) ** 2  # zeros, then counts, in one triangle
    return Step(lambda: gram_triangle(data.x), {"increments": pairs, "memory": traffic}, runs=2)


def read(data: Data) -> Step:
    """Reading X'X from a file in the system's cache: each byte is read and written once."""
    path = data.folder / "gram.h5"
    gram = Triangle.of(data.gram)
    write_gram(path, gram, Provenance("", "", 0, data.x.shape[0] - 1, data.x.nnz))
    return Step(lambda: read_gram(path), {"memory": 2.0 * gram.values.nbytes}, runs=2)


def invert(data: Data) -> Step:
    """Inverse of G + Λ̃: items³ operations."""
    matrix = data.gram.copy()
    matrix[np.diag_indices(data.items)] += data.penalty
    return Step(lambda: invert_lower(matrix), {"matrix product": float(data.items) ** 3})


def ease(data: Data) -> Step:
    """EASE from interactions to the finished model: X'X, and items³ operations."""
    fit("ease", Training.of(data.x[:500, :100], keep=False), ridge=RIDGE)  # compiles
    inverse = {"matrix product": float(data.items) ** 3}
    return Step(lambda: fit("ease", Training.of(data.x, keep=False), ridge=RIDGE), inverse, runs=2)


def checked_invert(data: Data) -> Step:
    """Inverse in a triangle, after the common part was removed, with an estimate of its error."""
    inverse = InverseTriangle(Triangle.of(data.gram), data.x)
    work = {"matrix product": float(data.items) ** 3}
    return Step(lambda: inverse.invert(data.penalty), work)


def product(rank: int, data: Data) -> Step:
    """Product G Y from one triangle of G, which has to be read once."""
    packed, (y, _) = data.inverted, data.factors(rank)
    work = {"matrix product": 2.0 * data.items**2 * rank, "memory": FLOAT * data.items**2 / 2}
    return Step(lambda: packed.gram_times(y), work, runs=2)


def block_lanczos(data: Data) -> Step:
    """Block Lanczos: its products with G and with its own basis, as many as it made."""
    packed, products, rank = PackedGram(data.gram.copy()), [], min(RANK, data.items // 8)

    def times(y: np.ndarray) -> np.ndarray:
        products.append(y.shape[1])
        return packed.gram_times(y)

    top_eigenpairs(times, data.items, rank, np.float32)
    keep = rank + spectrum.BLOCK
    size, restarts = keep + max(keep, 8 * spectrum.BLOCK), 1
    columns = sum(products)
    while columns > size + (restarts - 1) * (size - keep):
        restarts += 1
    with_gram = 2.0 * data.items**2 * columns
    # orthogonalised twice, against a basis that is three quarters full on average
    against_basis = 2 * 2 * 2.0 * data.items * size * columns * 0.75
    rotations = restarts * (2.0 * data.items * size * (size + 2 * keep))
    note = f"rank {rank}; {100 * with_gram / (with_gram + against_basis + rotations):.0f} % with G"
    run = partial(top_eigenpairs, packed.gram_times, data.items, rank, np.float32)
    return Step(run, {"matrix product": with_gram + against_basis + rotations}, note=note)


def edlae_iteration(data: Data) -> Step:
    """EDLAE iteration: a product with C, one with G, eight of items × rank by rank × rank."""
    problem = Problem(data.gram.diagonal().astype(float), data.penalty)
    run = Admm(data.inverted, problem, data.omega, *data.factors(min(RANK, data.items // 8)))
    run.step()
    rank = run.u.shape[1]
    operations = 2 * 2.0 * data.items**2 * rank + 8 * 2.0 * data.items * rank**2
    return Step(run.step, {"matrix product": operations}, note=f"rank {rank}")


def sampled_epoch(data: Data) -> Step:
    """Epoch of sampled dropout, bounded by memory traffic and by small matrix products.

    Products with X (X V, X'A) read or write a row of a factor per entry, those with Z (Z U, Z'(…))
    per kept entry. A step reads or writes about 20 arrays of items × rank, and has nine products of
    items × rank by rank × rank, those of the preconditioner included.
    """
    rank = 100
    epochs = partial(fit_sampled, data.x, rank, P, RIDGE)
    epochs(epochs=1)  # so that compilation is not timed
    users, items = data.x.shape
    batches = -(-users // sampled_batch(users, items))
    rows = (2 + 2 * (1 - P)) * data.x.nnz * rank * FLOAT
    columns = batches * 20.0 * items * rank * FLOAT
    small = batches * 9 * 2.0 * items * rank**2
    work = {"memory": rows + columns, "matrix product": small}
    return Step(lambda: epochs(epochs=1), work, note=f"rank {rank}, {batches} batches")


def evaluate_full(data: Data) -> Step:
    """Evaluation at full rank: X B reads a row of B per entry, the search for K each score."""
    ones = np.ones(data.items, np.float32)
    model = ScaledSymmetric(ones, 0 * ones, Triangle.of(data.matrix).values)
    evaluate(model, data.fold_in[:64], data.held_out[:64])
    rows = float(data.fold_in.nnz) * data.items * FLOAT
    scores = 2.0 * data.fold_in.shape[0] * data.items * FLOAT
    return _evaluation(data, model, {"memory": rows + scores})


def evaluate_low(rank: int, data: Data) -> Step:
    """Evaluation at low rank: X U reads a row of U per entry; (X U) V' is a matrix product."""
    model = LowRank(*data.factors(rank))
    evaluate(model, data.fold_in[:64], data.held_out[:64])
    scores = data.fold_in.shape[0] * data.items
    rows = float(data.fold_in.nnz) * rank * FLOAT
    work = {"matrix product": 2.0 * scores * rank, "memory": rows + 2.0 * scores * FLOAT}
    return _evaluation(data, model, work)


def _evaluation(data: Data, model: Any, work: dict[str, float]) -> Step:
    return Step(lambda: evaluate(model, data.fold_in, data.held_out), work, runs=2)


class Given:
    """Model whose scores are given, so that its evaluation only searches for the best items."""

    def __init__(self, matrix: np.ndarray):
        self.matrix = matrix

    def scores(self, x: sp.csr_array) -> np.ndarray:
        """First rows of the given scores, as many as X has."""
        return self.matrix[: x.shape[0]]


def best_items(data: Data) -> Step:
    """Search for the best K items of each user: each score is read once.

    The K ln(n/K) replacements in the heap are not part of the bound.
    """
    users = min(2000, data.items, data.fold_in.shape[0])
    history = sp.csr_array((users, data.items), dtype=np.float32)
    model = Given(data.matrix[:users])
    top_items(model, history[:64], K)
    work = {"memory": float(users) * data.items * FLOAT}
    return Step(lambda: top_items(model, history, K), work, runs=2)


STEPS: dict[str, Callable[[Data], Step]] = {
    "X'X": gram,
    "read X'X": read,
    "EASE, X to B": ease,
    "invert": invert,
    "invert, checked": checked_invert,
    f"G Y, rank {RANK}": partial(product, RANK),
    f"G Y, rank {SMALL_RANK}": partial(product, SMALL_RANK),
    "block Lanczos": block_lanczos,
    "EDLAE iteration": edlae_iteration,
    "sampled dropout, epoch": sampled_epoch,
    "evaluate full rank": evaluate_full,
    f"evaluate rank {RANK}": partial(evaluate_low, RANK),
    f"evaluate rank {SMALL_RANK}": partial(evaluate_low, SMALL_RANK),
    "best 100": best_items,
}


def measured(name: str, data: Data) -> dict[str, Any]:
    """Row of results for one step: its bound, its time, and the ratio of the two."""
    step = STEPS[name](data)
    rates = {kind: RATES[kind](data.items) for kind in step.work}
    bounds = {kind: amount / rates[kind] for kind, amount in step.work.items()}
    kind = max(bounds, key=bounds.__getitem__)
    seconds = seconds_of(step.run, step.runs)
    return {
        "step": name,
        "bound": kind,
        "rate": f"{rates[kind] / 1e9:.1f} G/s",
        "bound_seconds": f"{bounds[kind]:.3f}",
        "seconds": f"{seconds:.3f}",
        "share": f"{100 * bounds[kind] / seconds:.0f} %",
        "note": step.note,
    }


def main(items: int, wanted: Sequence[str]) -> None:
    def rows() -> Iterator[dict[str, Any]]:
        with tempfile.TemporaryDirectory() as folder:
            data = Data(items, Path(folder))
            for name in wanted or STEPS:
                row = {"items": data.items, "threads": thread_count(), **measured(name, data)}
                print(row, file=sys.stderr, flush=True)
                yield row

    table = pd.DataFrame(rows())
    table["kernels"] = os.environ.get("OPENBLAS_CORETYPE", "default")
    table["machine"] = description(thread_count())
    if not wanted:
        if OUTPUT.exists():
            old = pd.read_csv(OUTPUT, keep_default_na=False, dtype=str)
            same = table.astype(str)[["items", "threads"]].iloc[0]
            again = (old[["items", "threads"]] == same).all(axis=1)
            table = pd.concat([old[~again], table])
        table.to_csv(OUTPUT, index=False)
    print(shown(table).to_markdown(index=False, disable_numparse=True))


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Table of docs/benchmarks.md: time of each step and the bound's share of it, by size."""
    table = table.astype({"items": int, "seconds": float})
    cells = table.assign(
        of=[f"{row.seconds:.2f} s, {row.share}" for row in table.itertuples()],
        items=[
            f"{row.items:,} items{', one thread' if int(row.threads) == 1 else ''}"
            for row in table.itertuples()
        ],
    )
    last = table.drop_duplicates("step", keep="last").set_index("step")
    wide = cells.pivot(index="step", columns="items", values="of")
    wide = wide.reindex(index=last.index, columns=cells["items"].unique())
    wide.insert(0, "bound", last["bound"])
    return wide.assign(note=last["note"]).reset_index().rename_axis(columns=None)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ITEMS, sys.argv[2:])
