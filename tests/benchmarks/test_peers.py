"""The comparison with other libraries: its harness with ours alone, and its page."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from peers import comparison, libraries, process
from peers.__main__ import OUTPUT
from peers.comparison import COLUMNS, KEY, Comparison, fastest, merged, settled_slim
from peers.fits.measure import save
from peers.libraries import LIBRARIES, LOCKS, SPARSE, interpreter
from peers.machine import environment
from peers.models import MODELS
from peers.page import PAGES, TABLE, filled
from peers.process import Limits, measured
from peers.summary import TABLES, best_table, time_table

from lindrop.models.slim import fit_slim
from support.repository import REPOSITORY

ROOMY = Limits(seconds=1e4, memory=8e9)


def test_a_comparison_of_ours_with_the_printed_formula(tmp_path):
    output, drawing = tmp_path / "peers.csv", tmp_path / "peers"
    command = [sys.executable, "-m", "peers", "300", "--only", "numpy", "lindrop", "--threads", "1"]
    command += ["--rounds", "1", "--kernels", "default", "--gigabytes", "8"]
    done = subprocess.run(
        [*command, "--output", output, "--drawing", drawing],
        env={"PYTHONPATH": f"{REPOSITORY / 'workflow'}:{REPOSITORY / 'benchmarks'}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = pd.read_csv(output).set_index("library")
    assert [(row.model, row.library) for row in found.reset_index().itertuples()] == [
        ("ease", "numpy"),
        ("ease", "lindrop"),
        ("edlae", "numpy"),
        ("edlae", "lindrop"),
        ("slim", "lindrop"),
    ]
    assert found["did_not_finish"].isna().all()
    assert (found["peak_gb"] >= found["before_gb"]).all()
    assert (found[["seconds", "product_gflops", "copy_gbs"]] > 0).all(axis=None)
    assert (found.loc["numpy", "difference"] == 0).all()
    ease, edlae, slim = found.loc["lindrop", "difference"]
    assert 0 < ease < 1e-5
    assert 0 < edlae < 1e-5
    assert 0 < slim < 1e-2
    assert "lindrop" in done.stdout
    assert drawing.with_suffix(".png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("code", "limits", "why"),
    [
        ("import signal; signal.pause()", Limits(0, 8e9), "more than 0 s"),
        ("while True: pass", Limits(1, 8e9), "more than 1 processor seconds"),
        ("bytearray(1 << 31)", Limits(ROOMY.seconds, 1e9), "MemoryError"),
        ("import os; os.kill(os.getpid(), 9)", ROOMY, f"ended by {signal.Signals(9).name}"),
        ("raise SystemExit('no such set')", ROOMY, "no such set"),
        ("raise SystemExit(3)", ROOMY, "exit code 3"),
    ],
)
def test_who_does_not_finish_is_recorded_with_the_reason(code, limits, why, monkeypatch):
    monkeypatch.setattr(process, "WAITING", 200)  # a busy machine gives a test little of its time
    assert measured([sys.executable, "-c", code], {}, limits) == {"did_not_finish": why}


def fake_pip(monkeypatch, said=None):
    """Replace venv and pip by stubs; with `said`, pip fails with that message."""
    asked = []

    def run(command, **options):
        asked.append(command)
        if "pip" in command and said:
            raise subprocess.CalledProcessError(1, command, stderr=said)
        if "venv" in command:
            Path(command[-1]).mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(libraries.subprocess, "run", run)
    return asked


def test_a_library_that_cannot_be_installed_is_recorded_and_the_others_go_on(
    tmp_path, monkeypatch, capsys
):
    said = "ERROR: No matching distribution found for numpy==1.26.4\n\nhint: See above.\n"
    with monkeypatch.context() as patched:
        fake_pip(patched, said)
        missing = interpreter("recpack", tmp_path)
    assert "hint" in capsys.readouterr().err
    pythons = {"recpack": missing, "numpy": sys.executable}
    found = Comparison(pythons, ["default"], 1, ROOMY, 1)
    found = found.of("ease", 300).set_index("library")
    reason = "not installed: ERROR: No matching distribution found for numpy==1.26.4"
    assert found.loc["recpack", "did_not_finish"] == reason
    assert found.loc["numpy", "seconds"] > 0


@pytest.mark.parametrize("changed", ["lenskit.lock", "deep.txt", "deep.in"])
def test_an_environment_is_made_again_when_any_of_its_pins_changed(changed, tmp_path, monkeypatch):
    for name in ("lenskit.lock", "deep.txt", "deep.in"):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1, 1))
    monkeypatch.setattr(libraries, "LOCKS", tmp_path)
    monkeypatch.setattr(libraries, "PYTORCH_NEEDS", tmp_path / "deep.txt")
    monkeypatch.setattr(libraries, "PYTORCH", tmp_path / "deep.in")
    asked = fake_pip(monkeypatch)
    interpreter("lenskit", tmp_path / "envs")
    assert len(asked) == 3
    interpreter("lenskit", tmp_path / "envs")
    assert len(asked) == 3
    os.utime(tmp_path / changed)
    os.utime(tmp_path / "envs" / "lenskit" / "ready", (2, 2))
    interpreter("lenskit", tmp_path / "envs")
    assert len(asked) == 6


def test_a_report_is_the_last_line():
    code = "print('training'); print('{\"seconds\": 2.5}')"
    assert measured([sys.executable, "-c", code], {}, ROOMY) == {"seconds": 2.5}


def test_everybody_gets_the_same_kernels_and_threads_and_nothing_else(monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    monkeypatch.setenv("OPENBLAS_L2_SIZE", "64")
    set_here = environment("Haswell", 3)
    assert set_here["OPENBLAS_CORETYPE"] == "Haswell"
    assert "OPENBLAS_L2_SIZE" not in set_here
    assert {value for name, value in set_here.items() if name.endswith("_THREADS")} == {"3"}
    assert "OPENBLAS_CORETYPE" not in environment("default", 3)


def test_items_are_put_back_into_the_order_of_the_data(tmp_path):
    b = np.arange(9.0).reshape(3, 3)
    columns = np.array([2, 0, 1])  # row 0 of the library is column 2 of the data
    save(tmp_path / "b.npy", b[np.ix_(columns, columns)], columns)
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), b)


def row(library, seconds, items=100, **more):
    return dict.fromkeys(COLUMNS) | {
        "model": "ease",
        "items": items,
        "users": 5,
        "kernels": "Haswell",
        "library": library,
        "seconds": seconds,
        "cpu_seconds": seconds,
        "peak_gb": 0.5,
        **more,
    }


def test_the_fastest_fit_counts_in_the_order_of_the_libraries():
    failed = {"did_not_finish": "MemoryError"}
    fits = [
        row("numpy", 3.0),
        row("cornac", None, **failed),
        row("numpy", 2.0),
        row("lindrop", 1.0),
    ]
    found = fastest(pd.DataFrame(fits, columns=COLUMNS))
    assert list(found["library"]) == ["numpy", "cornac", "lindrop"]
    assert list(found["runs"]) == [2, 1, 1]
    assert found["seconds"].dropna().tolist() == [2.0, 1.0]
    table = time_table(found).set_index("library")["100 items"]
    assert table[LIBRARIES["numpy"].title] == "2.0 / 2.0 s (× 2.0 / 2.0), 0.50 GB (× 1.0)"
    assert table["Cornac"] == "MemoryError"
    assert table["lindrop"] == "1.0 / 1.0 s, 0.50 GB"


def test_a_size_that_is_measured_again_replaces_its_rows():
    old = pd.DataFrame([row("numpy", 1.0, 200), row("numpy", 1.0, 100)], columns=COLUMNS)
    found = merged(old, pd.DataFrame([row("numpy", 5.0, 200)], columns=COLUMNS))
    assert found[["items", "seconds"]].to_numpy().tolist() == [[100, 1.0], [200, 5.0]]
    other = pd.DataFrame([row("numpy", 7.0, 200, model="edlae")], columns=COLUMNS)
    assert merged(found, other)["seconds"].tolist() == [1.0, 5.0, 7.0]


def test_tables_of_the_comparison_are_those_of_its_results():
    pages = [page.read_text() for page in PAGES]
    assert [name for page in pages for _, name, *_ in TABLE.findall(page)] == list(TABLES)
    for page in pages:
        assert page == filled(page, pd.read_csv(OUTPUT))


def test_the_best_other_library_is_the_fastest_that_is_not_the_reference():
    fits = [row("numpy", 1.0), row("lindrop", 2.0), row("cornac", 8.0), row("irspack", 6.0)]
    fits += [row("lindrop", 1.0, model="slim"), row("skrecsys", 4.0, model="slim")]
    fits += [row("skrecsys", 3.0, model="slim_shipped"), row("recpack", None, model="slim_shipped")]
    fits += [row("lindrop", 1.0, model="edlae"), row("irspack", None, model="edlae")]
    found = best_table(pd.DataFrame(fits, columns=COLUMNS).assign(threads=1))
    assert list(zip(found["model"], found["best other"], found["time"], strict=True)) == [
        ("EASE", "irspack: 6.0 s, 0.50 GB", "× 3.0"),
        ("SLIM", "skrecsys: 3.0 s, 0.50 GB", "× 3.0"),
    ]


def test_the_front_page_names_the_best_other_library():
    results = best_table(pd.read_csv(OUTPUT)).set_index(["model", "items"])
    best = results.loc["EASE", "20,000"]
    said = f"{best['time'].removeprefix('× ')} times lindrop's time and "
    said += f"{best['memory'].removeprefix('× ')} times its memory"
    page = " ".join((REPOSITORY / "README.md").read_text().split())
    assert said in page
    assert f"with {best['best other'].partition(':')[0]}, the best of" in page


def test_every_library_gives_the_same_b():
    results = pd.read_csv(OUTPUT)
    assert set(results["library"]) == set(LIBRARIES)
    assert not results.duplicated(KEY).any()
    finished = results[results["did_not_finish"].isna()]
    most = finished["model"].map({"ease": 1e-4, "edlae": 1e-4, "slim": 1e-3, "slim_shipped": 1.0})
    assert (finished["difference"] < most).all()


def test_the_reference_of_slim_is_a_minimum(tmp_path, monkeypatch):
    x = (np.random.default_rng(0).random((300, 40)) < 0.2).astype(np.float32)
    sp.save_npz(tmp_path / "x.npz", sp.csr_array(x))
    b = settled_slim(tmp_path / "x.npz", 2.0, 10.0)

    def objective(b):
        return 0.5 * ((x - x @ b) ** 2).sum() + 5.0 * (b**2).sum() + 2.0 * b.sum()

    assert (b >= 0).all()
    assert not b.diagonal().any()
    rng = np.random.default_rng(1)
    for _ in range(20):
        other = np.maximum(b + 0.01 * rng.standard_normal(b.shape) * (rng.random(b.shape) < 0.1), 0)
        np.fill_diagonal(other, 0)
        assert objective(other.astype(float)) > objective(b.astype(float))
    monkeypatch.setattr(comparison, "fit_slim", lambda data, *rest, **options: fit_slim(data, 9, 9))
    with pytest.raises(ArithmeticError, match="would move"):
        settled_slim(tmp_path / "x.npz", 2.0, 10.0)


def test_a_library_that_did_not_finish_is_not_tried_with_more_items():
    pythons = {"numpy": "/bin/false", "lindrop": sys.executable}
    both = Comparison(pythons, ["default"], 1, ROOMY, 1)
    assert both.of("ease", 300).set_index("library").loc["numpy", "did_not_finish"] == "exit code 1"
    both.pythons["numpy"] = sys.executable
    more = both.of("ease", 310).set_index("library")["did_not_finish"]
    assert more["numpy"] == "exit code 1"
    assert pd.isna(more["lindrop"])


def test_every_library_fits_models_that_are_compared():
    for library in LIBRARIES.values():
        assert set(library.fits) <= set(MODELS)


@pytest.mark.parametrize("lock", sorted(LOCKS.glob("*.lock")), ids=lambda lock: lock.stem)
def test_environments_are_pinned_and_hashed(lock):
    (asked,) = re.findall(r"^[\w-]+==\S+$", lock.with_suffix(".in").read_text(), re.MULTILINE)
    entries = re.split(r"\n(?=\S)", lock.read_text().strip())
    assert any(entry.startswith(asked) for entry in entries)
    assert all("--hash=sha256:" in entry for entry in entries)
    assert lock.name in {library.lock for library in LIBRARIES.values()} | set(SPARSE.values())
