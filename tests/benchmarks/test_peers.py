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
from peers import libraries
from peers.__main__ import OUTPUT
from peers.comparison import COLUMNS, KEY, Comparison, fastest, merged
from peers.fits.measure import save
from peers.libraries import LIBRARIES, LOCKS, SPARSE, interpreter
from peers.machine import environment
from peers.process import Limits, measured
from peers.summary import TABLES, time_table

from support.repository import REPOSITORY

ROOMY = Limits(seconds=1e6, memory=8e9)


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
    assert list(found.index) == ["numpy", "lindrop"]
    assert found["did_not_finish"].isna().all()
    assert (found["peak_gb"] >= found["before_gb"]).all()
    assert (found[["seconds", "product_gflops", "copy_gbs"]] > 0).all(axis=None)
    assert found.loc["numpy", "difference"] == 0
    assert 0 < found.loc["lindrop", "difference"] < 1e-5
    assert "| lindrop" in done.stdout
    assert drawing.with_suffix(".png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("code", "limits", "why"),
    [
        ("import signal; signal.pause()", Limits(0, 8e9), "more than 0 s"),
        ("bytearray(1 << 31)", Limits(ROOMY.seconds, 1e9), "MemoryError"),
        ("import os; os.kill(os.getpid(), 9)", ROOMY, f"ended by {signal.Signals(9).name}"),
        ("raise SystemExit('no such set')", ROOMY, "no such set"),
        ("raise SystemExit(3)", ROOMY, "exit code 3"),
    ],
)
def test_who_does_not_finish_is_recorded_with_the_reason(code, limits, why):
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
    found = Comparison({"recpack": missing, "numpy": sys.executable}, ["default"], 1, ROOMY, 1)
    found = found.of(300).set_index("library")
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
        "items": items,
        "users": 5,
        "kernels": "Haswell",
        "library": library,
        "seconds": seconds,
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
    assert table[LIBRARIES["numpy"].title] == "2.0 s (× 2.0), 0.50 GB (× 1.0)"
    assert table["Cornac"] == "did not finish: MemoryError"
    assert table["lindrop"] == "1.0 s, 0.50 GB"


def test_a_size_that_is_measured_again_replaces_its_rows():
    old = pd.DataFrame([row("numpy", 1.0, 200), row("numpy", 1.0, 100)], columns=COLUMNS)
    found = merged(old, pd.DataFrame([row("numpy", 5.0, 200)], columns=COLUMNS))
    assert found[["items", "seconds"]].to_numpy().tolist() == [[100, 1.0], [200, 5.0]]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_tables_of_the_comparison_are_those_of_its_results(table):
    shown = table(pd.read_csv(OUTPUT)).to_markdown(index=False, disable_numparse=True)
    assert shown in (REPOSITORY / "docs" / "benchmarks.md").read_text()


def test_every_library_gives_the_same_b():
    results = pd.read_csv(OUTPUT)
    assert set(results["library"]) == set(LIBRARIES)
    assert not results.duplicated(KEY).any()
    finished = results[results["did_not_finish"].isna()]
    assert (finished["difference"] < 1e-4).all()


@pytest.mark.parametrize("lock", sorted(LOCKS.glob("*.lock")), ids=lambda lock: lock.stem)
def test_environments_are_pinned_and_hashed(lock):
    (asked,) = re.findall(r"^[\w-]+==\S+$", lock.with_suffix(".in").read_text(), re.MULTILINE)
    entries = re.split(r"\n(?=\S)", lock.read_text().strip())
    assert any(entry.startswith(asked) for entry in entries)
    assert all("--hash=sha256:" in entry for entry in entries)
    assert lock.name in {library.lock for library in (LIBRARIES | SPARSE).values()}
