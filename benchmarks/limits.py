"""How near is every heavy step to what this machine can do?

    python benchmarks/limits.py [items] [step ...]

A generated set with the proportions of MovieLens 20M and so many items (8,000 if not given; 20108
is its full size), rank 1000 and 10. Right before each step the rates are measured that bound it:
of a float32 matrix product, of copying memory, of increments in the nearest cache, with as many
threads as the step may use. A bound is the work that cannot be avoided, divided by such a rate;
where a step has two, the larger one counts. Replaces the rows of that many items in
benchmarks/results/limits.csv and prints the table of docs/benchmarks.md.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numba import njit
from peers.machine import description
from scipy.linalg import blas

from lindrop.base.parallel import thread_count
from lindrop.data.split import Protocol, split
from lindrop.data.synthetic.generator import synthetic_interactions
from lindrop.data.synthetic.recipe import PRESETS, recipe_of
from lindrop.linalg import spectrum
from lindrop.linalg.gram import gram_matrix
from lindrop.linalg.inverse import invert_lower
from lindrop.linalg.packed import PackedGram
from lindrop.linalg.spectrum import top_eigenpairs
from lindrop.models.base import FullRank, LowRank, dropout_penalty
from lindrop.models.edlae.admm import Admm
from lindrop.models.edlae.fit import automatic_omega
from lindrop.models.edlae.objective import Problem
from lindrop.models.sampled import fit_sampled
from lindrop.ranking.evaluation import evaluate, top_items
from lindrop.store.gram import Provenance, read_gram, write_gram

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "benchmarks" / "results" / "limits.csv"
ITEMS, RANK, SMALL_RANK, K = 8000, 1000, 10, 100
P, RIDGE = 0.33, 300.0
FLOAT = 4  # bytes


def seconds_of(work: Callable[[], Any], runs: int = 1) -> float:
    """The shortest of some runs."""
    taken = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


# What the machine can do, per second


def product_rate(n: int = 3000) -> float:
    """Operations of a float32 matrix product."""
    a = np.asfortranarray(np.random.default_rng(0).standard_normal((n, n), np.float32))
    return 2 * n**3 / seconds_of(lambda: blas.sgemm(1.0, a, a), runs=3)


def copy_rate(megabytes: int = 256) -> float:
    """Bytes that are read or written: a copy does both."""
    source = np.ones(megabytes << 18, np.float32)
    target = np.empty_like(source)
    parts = np.array_split(np.arange(len(source)), thread_count())
    slices = [slice(part[0], part[-1] + 1) for part in parts]

    def copy(part: slice) -> None:
        target[part] = source[part]

    with ThreadPoolExecutor(len(slices)) as pool:
        return 2 * source.nbytes / seconds_of(lambda: list(pool.map(copy, slices)), runs=4)


@njit(nogil=True)
def _increment(row: np.ndarray, items: np.ndarray, times: int) -> None:
    one = np.float32(1)
    for _ in range(times):
        for item in items:
            row[item] += one


def increment_rate(items: int, length: int = 200, times: int = 100_000) -> float:
    """row[items] += 1 with sorted, random items, all of it in the nearest caches."""
    rng, threads = np.random.default_rng(0), thread_count()
    users = np.sort(rng.choice(items, min(length, items // 2), replace=False)).astype(np.uint32)
    rows = [np.zeros(items, np.float32) for _ in range(threads)]
    _increment(rows[0], users, 1)  # compiled

    def work() -> None:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda row: _increment(row, users, times), rows))

    return threads * times * len(users) / seconds_of(work, runs=2)


RATES: dict[str, Callable[[int], float]] = {
    "matrix product": lambda items: product_rate(),
    "memory": lambda items: copy_rate(),
    "increments": increment_rate,
}


# What each step has to do


@dataclass(frozen=True)
class Step:
    """Something that can be run, and the work in it that no program avoids, by kind of rate."""

    run: Callable[[], Any]
    work: dict[str, float]
    runs: int = 1
    note: str = ""


class Data:
    """What the steps work on, made when it is first wanted."""

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
        return gram_matrix(self.x)

    @cached_property
    def penalty(self) -> np.ndarray:
        return dropout_penalty(self.gram.diagonal().astype(float), P, RIDGE)

    @cached_property
    def matrix(self) -> np.ndarray:
        return np.random.default_rng(1).standard_normal(self.gram.shape, np.float32)

    def factors(self, rank: int) -> tuple[np.ndarray, np.ndarray]:
        u, v = np.random.default_rng(1).standard_normal((2, self.items, rank), np.float32)
        return u / np.float32(rank), v

    @cached_property
    def omega(self) -> np.ndarray:
        return self.penalty + automatic_omega(self.gram.diagonal() + self.penalty)

    @cached_property
    def inverted(self) -> PackedGram:
        packed = PackedGram(self.gram.copy())
        packed.invert(self.penalty + self.omega)
        return packed


def gram(data: Data) -> Step:
    """Every pair of items of a user once, counting each item with itself."""
    lengths = np.diff(data.x.indptr).astype(float)
    pairs = float(np.sum(lengths * (lengths + 1) / 2))
    gram_matrix(data.x[:100, :50])  # compiled
    traffic = 2.0 * FLOAT * data.items**2  # zeros and counts; both triangles
    return Step(lambda: gram_matrix(data.x), {"increments": pairs, "memory": traffic})


def read(data: Data) -> Step:
    """From a file that the system has in memory already: each byte read and written once."""
    path = data.folder / "gram.h5"
    write_gram(path, data.gram, Provenance("", "", 0, data.x.shape[0] - 1, data.x.nnz))
    return Step(lambda: read_gram(path), {"memory": 2.0 * data.gram.nbytes}, runs=2)


def invert(data: Data) -> Step:
    matrix = data.gram.copy()
    matrix[np.diag_indices(data.items)] += data.penalty
    return Step(lambda: invert_lower(matrix), {"matrix product": float(data.items) ** 3})


def packed_invert(data: Data) -> Step:
    """The same with what all items share apart, and the error estimated."""
    packed = PackedGram(data.gram.copy())
    work = {"matrix product": float(data.items) ** 3}
    return Step(lambda: packed.invert(data.penalty), work)


def product(rank: int, data: Data) -> Step:
    """G Y from one triangle: it has to be read once."""
    packed, (y, _) = data.inverted, data.factors(rank)
    work = {"matrix product": 2.0 * data.items**2 * rank, "memory": FLOAT * data.items**2 / 2}
    return Step(lambda: packed.gram_times(y), work, runs=2)


def block_lanczos(data: Data) -> Step:
    """Its products with G and with its own basis, as often as it has made them."""
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
    against_basis = 2 * 2 * 2.0 * data.items * size * columns * 0.75  # twice; it is not always full
    rotations = restarts * (2.0 * data.items * size * (size + 2 * keep))
    note = f"rank {rank}; {100 * with_gram / (with_gram + against_basis + rotations):.0f} % with G"
    run = partial(top_eigenpairs, packed.gram_times, data.items, rank, np.float32)
    return Step(run, {"matrix product": with_gram + against_basis + rotations}, note=note)


def edlae_iteration(data: Data) -> Step:
    """One product with C, one with G, and eight of items × rank by rank × rank or transposed."""
    problem = Problem(data.gram.diagonal().astype(float), data.penalty)
    run = Admm(data.inverted, problem, data.omega, *data.factors(min(RANK, data.items // 8)))
    run.step()
    rank = run.u.shape[1]
    operations = 2 * 2.0 * data.items**2 * rank + 8 * 2.0 * data.items * rank**2
    return Step(run.step, {"matrix product": operations}, note=f"rank {rank}")


def sampled_epoch(data: Data) -> Step:
    """Products with X and Z read or write a row of a factor per entry; Adam passes over memory.

    X V and X'A with every entry, Z U and Z'(…) with those that are kept; Adam reads four arrays per
    factor and writes three; V'V, U'U and three products of items × rank by rank × rank per batch.
    """
    rank = 100
    fit = partial(fit_sampled, data.x, rank, P, RIDGE)
    fit(epochs=1)  # compiled
    users, items = data.x.shape
    batches = -(-users // max(1024, min(4096, items // 5)))
    rows = (2 + 2 * (1 - P)) * data.x.nnz * rank * FLOAT
    adam = batches * 2 * 7.0 * items * rank * FLOAT
    small = batches * 5 * 2.0 * items * rank**2
    work = {"memory": rows + adam, "matrix product": small}
    return Step(lambda: fit(epochs=1), work, note=f"rank {rank}, {batches} batches")


def evaluate_full(data: Data) -> Step:
    """X B reads a row of B per entry of X, the search for the best K reads each score once."""
    model = FullRank(data.matrix)
    evaluate(model, data.fold_in[:64], data.held_out[:64])
    rows = float(data.fold_in.nnz) * data.items * FLOAT
    scores = 2.0 * data.fold_in.shape[0] * data.items * FLOAT
    return _evaluation(data, model, {"memory": rows + scores})


def evaluate_low(rank: int, data: Data) -> Step:
    model = LowRank(*data.factors(rank))
    evaluate(model, data.fold_in[:64], data.held_out[:64])
    scores = data.fold_in.shape[0] * data.items
    rows = float(data.fold_in.nnz) * rank * FLOAT
    work = {"matrix product": 2.0 * scores * rank, "memory": rows + 2.0 * scores * FLOAT}
    return _evaluation(data, model, work)


def _evaluation(data: Data, model: Any, work: dict[str, float]) -> Step:
    return Step(lambda: evaluate(model, data.fold_in, data.held_out), work, runs=2)


class Given:
    """Scores that are there already: what is left is the search for the best."""

    def __init__(self, matrix: np.ndarray):
        self.matrix = matrix

    def scores(self, x: sp.csr_array) -> np.ndarray:
        return self.matrix[: x.shape[0]]


def best_items(data: Data) -> Step:
    """Each score read once; the heap's K ln(n/K) replacements are not in the bound."""
    users = min(2000, data.items, data.fold_in.shape[0])
    history = sp.csr_array((users, data.items), dtype=np.float32)
    model = Given(data.matrix[:users])
    top_items(model, history[:64], K)
    work = {"memory": float(users) * data.items * FLOAT}
    return Step(lambda: top_items(model, history, K), work, runs=2)


STEPS: dict[str, Callable[[Data], Step]] = {
    "X'X": gram,
    "read X'X": read,
    "invert": invert,
    "invert, checked": packed_invert,
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
            table = pd.concat([old[old["items"] != str(table["items"].iloc[0])], table])
        table.to_csv(OUTPUT, index=False)
    print(shown(table).to_markdown(index=False, disable_numparse=True))


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """What docs/benchmarks.md shows: each step's share of what the machine can do, by size."""
    table = table.astype({"items": int, "seconds": float})
    cells = table.assign(
        of=[f"{row.seconds:.2f} s, {row.share}" for row in table.itertuples()],
        items=table["items"].map("{:,} items".format),
    )
    last = table.drop_duplicates("step", keep="last").set_index("step")
    wide = cells.pivot(index="step", columns="items", values="of")
    wide = wide.reindex(index=last.index, columns=cells["items"].unique())
    wide.insert(0, "bound", last["bound"])
    return wide.assign(note=last["note"]).reset_index().rename_axis(columns=None)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ITEMS, sys.argv[2:])
