"""Sparse models of others beside EDLAE on a pattern: accuracy, weights, time and memory.

    python benchmarks/sparse_peers.py generated
    python benchmarks/sparse_peers.py lastfm split.h5

`generated` is the set of 20,000 items of sparse_models.py. Compared are `sparse_edlae`, the dense
EDLAE, irspack's EDLAE, and SANSA 1.1.0 with an exact (CHOLMOD) and with an incomplete Cholesky
decomposition (ICF), whose density is such that it has as many weights as `sparse_edlae`. λ (and p)
are tuned on the validation users on a coarse grid, SANSA's λ, too, except on the generated set,
whose parameters are those of sparse_models.py. A library of others runs in an environment of its
own, benchmarks/peers/environments/sansa.lock; one that cannot be installed or fails is a row with
its last line.

Each fit runs in a process of its own, after a small one. `standard errors` is the difference of
nDCG@100 from the dense EDLAE in paired standard errors over the test users. Replaces the rows of a
set in benchmarks/results/sparse_peers.csv, which scale_page.py shows.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from peers.libraries import Library, Missing, interpreter
from sparse_models import GENERATED, generated

from lindrop.base.stopwatch import peak_bytes
from lindrop.models.base import FullRank, Training
from lindrop.models.catalogue import fit
from lindrop.ranking.evaluation import evaluate

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "benchmarks" / "results" / "sparse_peers.csv"
ENVIRONMENTS = ROOT / ".venv-peers"
OTHERS = Path(__file__).parent / "peers" / "fits" / "fit_sparse.py"
METRIC = "ndcg@100"
NEIGHBOURS = (50, 100, 200)
SECONDS = 120  # a fit that takes longer is ended


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
    fit(name, Training.of(x[:500, :100], keep=False), **options)
    data = Training.of(x, keep=False)
    start, used = time.perf_counter(), time.process_time()
    model = fit(name, data, **options).model
    seconds, cpu, peak = time.perf_counter() - start, time.process_time() - used, peak_bytes()
    weights = model.matrix.size
    if isinstance(model, FullRank):
        np.save(files / "model.npy", model.matrix)
    else:
        sp.save_npz(files / "model.npz", sp.csr_matrix(model.matrix), compressed=False)
    return report(weights, seconds, cpu, peak)


def report(weights: int, seconds: float, cpu: float, peak: float) -> dict[str, Any]:
    """What a fit took, as a row shows it."""
    return {
        "weights": weights,
        "seconds": round(seconds, 2),
        "processor seconds": round(cpu, 2),
        "peak GB": round(peak / 1e9, 2),
    }


def fitted(files: Path, python: str | Missing, *arguments: Any) -> dict[str, Any]:
    """What a fit in a process of its own took; its last line if it failed."""
    if isinstance(python, Missing):
        return {"note": python.reason}
    ours_ = python == sys.executable
    command = [python, __file__ if ours_ else str(OTHERS), "--fit", str(files)]
    command.append(json.dumps(arguments))
    for old in files.glob("model*"):
        old.unlink()
    try:
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=SECONDS, cwd=files
        )
    except subprocess.TimeoutExpired:
        return {"note": f"ended after {SECONDS} s"}
    except subprocess.CalledProcessError as error:
        return {"note": (error.stderr.strip().splitlines() or ["no reason given"])[-1][:150]}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def read_model(files: Path) -> Any:
    """The model that a process has saved."""
    if (files / "model.npy").exists():
        return FullRank(np.load(files / "model.npy"))
    if (files / "model-2.npz").exists():
        return Product(*(sp.load_npz(files / f"model-{part}.npz") for part in (1, 2)))
    from lindrop.models.base import SparseItems

    b = sp.csr_array(sp.load_npz(files / "model.npz"))
    return SparseItems(b.indptr, b.indices, b.data)


def runs(items: int, options: dict[str, Any]) -> list[tuple[str, str, tuple[Any, ...]]]:
    """Title, library and arguments of every fit."""
    sansa = options.get("sansa", options["ridge"])
    given = {key: options[key] for key in ("p", "ridge")}
    found: list[tuple[str, str, tuple[Any, ...]]] = [
        ("full_edlae", "lindrop", ("full_edlae", given)),
        ("irspack's EDLAE", "sansa", ("irspack", given)),
    ]
    for k in NEIGHBOURS:
        found.append(
            (f"sparse_edlae, {k}", "lindrop", ("sparse_edlae", {"neighbours": k, **given}))
        )
        for way in ("CHOLMOD", "ICF"):
            asked = {"density": k / items / 2, "ridge": sansa, "way": way}
            found.append((f"SANSA {way}, {k}", "sansa", ("sansa", asked)))
    return found


def compared(name: str, parts: Any, options: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of one set."""
    train, known, held_out = parts
    library = Library("SANSA", "sansa.lock")
    from peers import libraries

    libraries.LIBRARIES["sansa"] = library
    pythons = {"lindrop": sys.executable, "sansa": interpreter("sansa", ENVIRONMENTS)}
    rows, reference = [], None
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder)
        sp.save_npz(files / "train.npz", sp.csr_matrix(train), compressed=False)
        for title, place, arguments in runs(train.shape[1], options):
            row: dict[str, Any] = {"set": name, "items": train.shape[1], "model": title}
            row |= fitted(files, pythons[place], *arguments)
            if "note" not in row:
                per_user = evaluate(read_model(files), known, held_out, [METRIC]).per_user[METRIC]
                reference = per_user if title == "full_edlae" else reference
                row[METRIC] = round(float(per_user.mean()), 5)
                if reference is not None and title != "full_edlae":
                    apart = (per_user - reference).dropna()
                    error = apart.std(ddof=1) / np.sqrt(len(apart))
                    row["standard errors"] = round(float(apart.mean() / error), 2)
            rows.append(row)
            print(row, flush=True)
    return rows


def main(name: str, *place: str) -> None:
    if name == "generated":
        parts, options = generated(""), dict(GENERATED)
    else:
        from lindrop.store.split import read_split_matrix

        names = ("train", "test/fold_in", "test/held_out")
        parts = tuple(read_split_matrix(place[0], part) for part in names)
        options = {key: float(value) for key, value in (word.split("=") for word in place[1:])}
    found = pd.DataFrame(compared(name, parts, options))
    if OUTPUT.exists():
        earlier = pd.read_csv(OUTPUT)
        found = pd.concat([earlier[earlier["set"] != name], found], ignore_index=True)
    found.to_csv(OUTPUT, index=False)


if __name__ == "__main__":
    if sys.argv[1] == "--fit":
        print(json.dumps(ours(Path(sys.argv[2]), *json.loads(sys.argv[3]))))
    else:
        main(*sys.argv[1:])
