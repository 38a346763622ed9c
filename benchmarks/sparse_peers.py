"""Item-item models beside EDLAE on a pattern: accuracy, bytes, time and memory.

    python benchmarks/sparse_peers.py generated
    python benchmarks/sparse_peers.py gowalla FOLDER [MODEL ...]
    python benchmarks/sparse_peers.py ml-1m split.h5 [MODEL ...]
    python benchmarks/sparse_peers.py ml-20m-size FOLDER [MODEL ...]

`generated` and `gowalla` are the sets of sparse_models.py, with fixed λ and p. On a split, the
validation users choose the options of each kind of model from the coarse grids in `GRIDS`, one
option after the other from the middle of the grid until none changes, with 50 neighbours, with rank
50, or with 25 of each for the hybrid; other sizes take the same options. The kept rows of ml-1m and
lastfm are older: there, every point of the grid was tried. `ml-20m-size` is a set of
generated_splits.py, whose split is written to FOLDER unless it is there, with the grids
`SIZED_GRIDS`.
MODEL is the start of a title, for example SANSA: only models with such titles are run, with the
options that were chosen before. Without MODEL, all models are run.

SANSA 1.1.0 is run with an exact (CHOLMOD) and an incomplete (ICF) Cholesky decomposition, with as
many weights as a pattern and with the λ that was chosen for EASE. CHOLMOD is left out on the set of
the size of MovieLens 20M, since a set with less than half of its interactions took it too long.
Other libraries run in an environment of their own, benchmarks/peers/environments/sansa.lock. For a
library that cannot be installed or fails, the row has the last line of its output.

A weight of a pattern or of SANSA takes 8 bytes: the number of an item, and the value. A dense
matrix takes 2 bytes per pair of items in lindrop, which keeps one triangle, and 4 in other
libraries. A low-rank model of rank k takes as many bytes as a pattern of k neighbours. Each fit
runs in a process of its own, after a small one. `standard errors` is the difference of the metric
from the dense EDLAE in paired standard errors over the test users. New rows replace those of the
same set and model in benchmarks/results/sparse_peers.csv, which scale_page.py shows.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from signal import SIGXCPU
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from generated_splits import split_file
from peers.libraries import Missing, interpreter
from sparse_models import GENERATED, GOWALLA, generated, gowalla

from lindrop.base.stopwatch import peak_bytes
from lindrop.models.base import FullRank, LowRank, ScaledSymmetric, SparseItems, Training
from lindrop.models.catalogue import CATALOGUE, fit
from lindrop.models.entry import Ranks
from lindrop.models.pattern.hybrid import Hybrid
from lindrop.ranking.evaluation import evaluate

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "benchmarks" / "results" / "sparse_peers.csv"
ENVIRONMENTS = ROOT / ".venv-peers"
OTHERS = Path(__file__).parent / "peers" / "fit_sparse.py"
METRIC = "ndcg@100"
NEIGHBOURS = (50, 100, 200)
SPREAD = 0.5  # option `spread` of the models called `sparse_edlae by users`
EXACT = 100  # neighbours with whose weights SANSA is fitted by CHOLMOD, too
SECONDS = 3_000  # of processors, after which a fit is ended
SIZED = "ml-20m-size"  # the generated set whose options are tuned
Grids = dict[str, dict[str, list[Any]]]
GRIDS: Grids = {
    "sparse_edlae": {"p": [0.2, 0.35, 0.5, 0.65, 0.8], "ridge": [10, 30, 100, 300]},
    "full_edlae": {"p": [0.2, 0.35, 0.5, 0.65], "ridge": [30, 100, 300, 1000]},
    "edlae": {"p": [0.1, 0.2, 0.35, 0.5], "ridge": [10, 30, 100, 300]},
    "hybrid_edlae": {"p": [0.2, 0.35, 0.5, 0.65], "ridge": [10, 30, 100, 300]},
    "ease": {"ridge": [30, 100, 200, 400, 800]},
    "slim": {"l1": [0.2, 0.5, 1, 2, 5], "l2": [1, 10, 100, 300]},
}
SIZED_GRIDS: Grids = GRIDS | {  # SLIM with a smaller l1 takes ten minutes a fit
    "sparse_edlae": {"p": [0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8], "ridge": [3, 10, 30, 100, 300]},
    "full_edlae": {"p": [0.05, 0.1, 0.2, 0.35, 0.5, 0.65], "ridge": [30, 100, 300, 1000]},
    "edlae": {"p": [0.03, 0.05, 0.1, 0.2, 0.35, 0.5], "ridge": [10, 30, 100, 300]},
    "hybrid_edlae": {"p": [0.05, 0.1, 0.2, 0.35, 0.5, 0.65], "ridge": [3, 10, 30, 100, 300]},
    "slim": {"l1": [5, 10, 20], "l2": [30, 100, 300]},
}


class Run(NamedTuple):
    """A fit: its title, whose it is, the name and options, and by which grid it is tuned."""

    title: str
    library: str
    name: str
    options: dict[str, Any]
    tuned: str = ""


class Product:
    """Model whose matrix is the product of two sparse ones, as SANSA keeps it."""

    def __init__(self, left: sp.csr_matrix, right: sp.csr_matrix) -> None:
        self.left, self.right = sp.csr_array(left), sp.csr_array(right)

    def scores(self, x: sp.csr_array) -> Any:
        """X times both matrices, dense."""
        return ((x @ self.left) @ self.right).toarray()


def ours(files: Path, name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Fit one of lindrop's models in this process, save it, and say what it took."""
    x = sp.csr_array(sp.load_npz(files / "train.npz"))
    small = {each: min(options[each], 10) for each in ("rank", "factors") if each in options}
    fit(name, Training.of(x[:500, :100], keep=False), **options | small)
    data = Training.of(x, keep=False)
    start, used = time.perf_counter(), time.process_time()
    model = fit(name, data, **options).model
    seconds, cpu, peak = time.perf_counter() - start, time.process_time() - used, peak_bytes()
    if isinstance(model, ScaledSymmetric):
        parts = {name: getattr(model, name) for name in ("scale", "diagonal", "triangle")}
    else:  # arrays of a low rank, of a pattern, or of both
        names = ("encoder", "decoder", "indptr", "indices", "data")
        parts = {name: getattr(model, name) for name in names if hasattr(model, name)}
    np.savez(files / "model.npz", **parts)
    sizes = [part.nbytes for name, part in parts.items() if name != "indptr"]
    return {
        "bytes": sum(sizes),
        "seconds": round(seconds, 2),
        "processor seconds": round(cpu, 2),
        "peak GB": round(peak / 1e9, 2),
    }


def limited() -> None:
    """End this process after `SECONDS` of its processors, which other work does not shorten."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))


def fitted(files: Path, run: Run) -> dict[str, Any]:
    """What a fit in a process of its own took; its last line if it failed."""
    mine = run.library == "lindrop"
    python = sys.executable if mine else interpreter("sansa", ENVIRONMENTS)
    if isinstance(python, Missing):
        return {"note": python.reason}
    command = [python, __file__ if mine else str(OTHERS), "--fit", str(files)]
    command.append(json.dumps([run.name, run.options]))
    for old in files.glob("model*"):
        old.unlink()
    try:
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, cwd=files, preexec_fn=limited
        )
    except subprocess.CalledProcessError as error:
        if error.returncode == -SIGXCPU:
            return {"note": f"ended after {SECONDS} processor seconds"}
        return {"note": (error.stderr.strip().splitlines() or ["no reason given"])[-1][:150]}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def read_model(files: Path) -> Any:
    """The model that a process has saved."""
    if (files / "model.npy").exists():
        return FullRank(np.ascontiguousarray(np.load(files / "model.npy")))
    if (files / "model-2.npz").exists():
        return Product(*(sp.load_npz(files / f"model-{part}.npz") for part in (1, 2)))
    parts = np.load(files / "model.npz")
    if "triangle" in parts:
        return ScaledSymmetric(parts["scale"], parts["diagonal"], parts["triangle"])
    if "encoder" in parts and "indptr" in parts:
        return Hybrid(**parts)
    if "encoder" in parts:
        return LowRank(parts["encoder"], parts["decoder"])
    return SparseItems(parts["indptr"], parts["indices"], parts["data"])


def runs(name: str, items: int) -> list[Run]:
    """All fits of a set."""
    given = {"gowalla": GOWALLA, "generated": GENERATED}.get(name, {})
    ease = {"ridge": 80.0} if name == "gowalla" else {"ridge": 300.0} if given else {}
    found = []
    if name != "gowalla":  # published.py takes ten minutes and 8 GB for these
        found.append(Run("full_edlae", "lindrop", "full_edlae", given, "full_edlae"))
        found.append(Run("ease", "lindrop", "ease", ease, "ease"))
    if name in ("generated", SIZED):
        found.append(Run("irspack's EDLAE", "irspack", "irspack", given, "full_edlae"))
        found.append(Run("irspack's EASE", "irspack", "irspack", ease | {"p": 0.0}, "ease"))
    if name not in ("generated", "gowalla"):
        found.append(Run("slim", "lindrop", "slim", {}, "slim"))
    numbers = [k for k in (20, *NEIGHBOURS, 400) if k < items // 4]
    for k in numbers:
        options = {"neighbours": k, **given}
        found.append(Run(f"sparse_edlae, {k}", "lindrop", "sparse_edlae", options, "sparse_edlae"))
    for k in numbers:
        options = {"neighbours": k, "spread": SPREAD, **given}
        title = f"sparse_edlae by users, {k}"
        found.append(Run(title, "lindrop", "sparse_edlae", options, "sparse_edlae"))
    for k in NEIGHBOURS:
        if name != "generated":
            half = {"neighbours": k // 2, "factors": k // 2, **given}
            title = f"hybrid_edlae, {k // 2} + {k // 2}"
            found.append(Run(title, "lindrop", "hybrid_edlae", half, "hybrid_edlae"))
        if name != "generated":
            options = {"rank": k, **given}
            found.append(Run(f"edlae, rank {k}", "lindrop", "edlae", options, "edlae"))
        for way in ("CHOLMOD", "ICF") if k == EXACT and name != SIZED else ("ICF",):
            asked = {"density": k / items / 2, "way": way, **ease}
            found.append(Run(f"SANSA {way}, {k}", "sansa", "sansa", asked, "ease"))
    return found


def chosen_before(name: str) -> dict[str, dict[str, Any]]:
    """Options of the kept rows of a set, by the grid from which they were chosen."""
    rows = pd.read_csv(OUTPUT).query("set == @name")
    found = {}
    for title, options in zip(rows["model"], rows["options"], strict=True):
        pairs = (pair.split() for pair in options.split(", "))
        found[title.partition(",")[0]] = {key: float(value) for key, value in pairs}
    return found


def tuned(
    run: Run, files: Path, users: Any, known: dict[str, dict[str, Any]], grids: Grids
) -> dict[str, Any]:
    """Options of the run's grid that serve the validation users best, found once for each grid.

    From the middle of the grid, one option after the other takes its best value until none changes.
    A fit that fails, or takes too long, is worse than any other.
    """
    if run.tuned not in known:
        base = {"neighbours": 50} if run.tuned.startswith("sparse") else {}
        base |= {"neighbours": 25, "factors": 25} if run.tuned.startswith("hybrid") else {}
        base |= {"rank": 50} if CATALOGUE[run.tuned].ranks is Ranks.EACH else {}

        @cache
        def mean(pairs: tuple[tuple[str, Any], ...]) -> float:
            took = fitted(files, Run("", "lindrop", run.tuned, base | dict(pairs)))
            found = -1.0
            if "note" not in took:
                per_user = evaluate(read_model(files), *users, [METRIC]).per_user
                found = float(per_user[METRIC].mean())
            print(run.tuned, dict(pairs), round(found, 5), took, flush=True)
            return found

        grid = grids[run.tuned]
        chosen, before = {key: values[len(values) // 2 - 1] for key, values in grid.items()}, None
        while chosen != before:
            before = dict(chosen)
            for name, values in grid.items():
                lines = [tuple((chosen | {name: value}).items()) for value in values]
                chosen = dict(max(lines, key=mean))
        known[run.tuned] = chosen
    return known[run.tuned]


def compared(name: str, parts: Any, users: Any, asked: tuple[str, ...]) -> list[dict[str, Any]]:
    """Rows of one set; `users` are those who choose the options, if there are such."""
    train, known, held_out = parts
    metrics = ["plain_recall@20", METRIC]
    rows, reference, options = [], None, chosen_before(name) if asked else {}
    grids = SIZED_GRIDS if name == SIZED else GRIDS
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder)
        sp.save_npz(files / "train.npz", sp.csr_matrix(train), compressed=False)
        for run in runs(name, train.shape[1]):
            if asked and not run.title.startswith(("full_edlae", *asked)):
                continue
            if users and run.tuned:
                run = run._replace(options=run.options | tuned(run, files, users, options, grids))
            row: dict[str, Any] = {"set": name, "items": train.shape[1], "model": run.title}
            shown = {key: value for key, value in run.options.items() if key in GRIDS_KEYS}
            row["options"] = ", ".join(f"{key} {value:g}" for key, value in shown.items())
            row |= fitted(files, run)
            if "note" not in row:
                per_user = evaluate(read_model(files), known, held_out, metrics).per_user
                reference = per_user[METRIC] if run.title == "full_edlae" else reference
                row |= {each: round(float(per_user[each].mean()), 5) for each in metrics}
                if reference is not None and run.title != "full_edlae":
                    apart = (per_user[METRIC] - reference).dropna()
                    error = apart.std(ddof=1) / np.sqrt(len(apart))
                    row["standard errors"] = round(float(apart.mean() / error), 2)
            row["busy"] = round(os.getloadavg()[0], 1)
            print(row, flush=True)
            if not asked or run.title.startswith(asked):  # else it is what others are compared with
                rows.append(row)
                keep(rows)
    return rows


GRIDS_KEYS = {key for grid in GRIDS.values() for key in grid}


def keep(rows: list[dict[str, Any]]) -> None:
    """Write rows in the place of earlier ones of the same set and model."""
    found = pd.DataFrame(rows)
    if OUTPUT.exists():
        earlier = pd.read_csv(OUTPUT)
        new = found.set_index(["set", "model"]).index
        earlier = earlier[~earlier.set_index(["set", "model"]).index.isin(new)]
        found = pd.concat([earlier, found], ignore_index=True)
    found.to_csv(OUTPUT, index=False)


def main(name: str, *words: str) -> None:
    if name in ("generated", "gowalla"):
        place, asked = (words[:1], words[1:]) if name == "gowalla" else ([""], words)
        parts, users = {"generated": generated, "gowalla": gowalla}[name](place[0]), None
    else:
        from lindrop.store.split import read_split_matrix

        place, asked = split_file(name, words[0]) if name == SIZED else words[0], words[1:]
        pair = ("fold_in", "held_out")
        names = ("train", *(f"test/{part}" for part in pair))
        parts = tuple(read_split_matrix(place, part) for part in names)
        users = [read_split_matrix(place, f"validation/{part}") for part in pair]
    compared(name, parts, users, tuple(asked))


if __name__ == "__main__":
    if sys.argv[1] == "--fit":
        print(json.dumps(ours(Path(sys.argv[2]), *json.loads(sys.argv[3]))))
    else:
        main(*sys.argv[1:])
