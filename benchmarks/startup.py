"""What is not work: the time until a library call, a command and the jobs of a run begin to work.

    python benchmarks/startup.py library [ITEMS]
    python benchmarks/startup.py jobs results/logs

`library` saves a full-rank model of 20,000 items and times new processes that import lindrop, and
that recommend 10 items to one user, in Python and by the command; the file is in the system's
cache. The fastest of three counts. `jobs` reads what each job of a finished run wrote last into its
log: the processor time of starting Python and importing, and that of the work. Both replace their
rows in benchmarks/results/startup.csv and print tables; the one of `library` is in
docs/performance.md.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from lindrop.linalg.triangle import entries
from lindrop.models.base import Fit, ScaledSymmetric
from lindrop.store.model import write_model

OUTPUT = Path(__file__).parent / "results" / "startup.csv"
ITEMS, HISTORY, RUNS = 20_000, 50, 3
COLUMNS = ["what", "items", "GB", "jobs", "seconds", "to start", "to work", "share"]
STARTED = re.compile(r"(\d+\.\d+) s of the processor to start, (\d+\.\d+) s to work")
SAVED = "model = lindrop.read_model('model.h5')"
ONE = f"lindrop.recommend(model, {{'a': {[str(item) for item in range(HISTORY)]}}}, k=10)"
CALLS = {
    "Python and NumPy": [sys.executable, "-c", "import numpy"],
    "import lindrop": [sys.executable, "-c", "import lindrop"],
    "import, read the model": [sys.executable, "-c", f"import lindrop; {SAVED}"],
    "import, read, recommend": [sys.executable, "-c", f"import lindrop; {SAVED}; {ONE}"],
    "lindrop recommend": [
        *(sys.executable, "-m", "lindrop", "recommend", "model.h5", "one.csv"),
        *("-k", "10", "-o", "one.parquet"),
    ],
}


def spent() -> float:
    """Processor seconds of the finished child processes."""
    times = os.times()
    return times.children_user + times.children_system


def library(items: int) -> pd.DataFrame:
    """Seconds of new processes that use a saved model of so many items."""
    rng, rows = np.random.default_rng(0), []
    ones = np.ones(items, np.float32)
    model = ScaledSymmetric(ones, 0 * ones, rng.standard_normal(entries(items), np.float32))
    with TemporaryDirectory() as folder:
        names = [str(item) for item in range(items)]
        source = {"user": "user", "item": "item"}
        write_model(Path(folder) / "model.h5", "ease", Fit(model), names, source=source)
        size = (Path(folder) / "model.h5").stat().st_size
        del model
        pairs = [f"a,{item}" for item in range(HISTORY)]
        (Path(folder) / "one.csv").write_text("\n".join(["user,item", *pairs, ""]))
        for call, command in CALLS.items():
            taken = []
            for _ in range(RUNS):
                start, before = time.perf_counter(), spent()
                subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
                taken.append((time.perf_counter() - start, spent() - before))
            clock, processor = (min(values) for values in zip(*taken, strict=True))
            row = {"what": call, "items": items, "GB": round(size / 1e9, 2)}
            rows.append(row | {"seconds": round(clock, 2), "to start": round(processor, 2)})
            print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def jobs(logs: Path) -> pd.DataFrame:
    """Processor seconds that the jobs of a run spent before and at work, by kind of job."""
    rows = []
    for file in sorted(logs.rglob("*.log")):
        if found := STARTED.search(file.read_text()):
            start, work = map(float, found.groups())
            kind = file.relative_to(logs).parts[0].removesuffix(".log")
            paper = re.match(r"(steck|mianjy|pal|pretorius)\d{4}", kind)
            rows.append((f"{paper[0]}, figures and checks" if paper else kind, start, work))
    if not rows:
        raise SystemExit(f"{logs}: no log of a finished job, run the workflow first")
    found = pd.DataFrame(rows, columns=["what", "to start", "to work"])
    table = found.groupby("what").agg({"what": "size", "to start": "sum", "to work": "sum"})
    table = table.rename(columns={"what": "jobs"}).sort_values("to start", ascending=False)
    table.loc["all jobs"] = table.sum()
    table["share"] = table["to start"] / (table["to start"] + table["to work"])
    return (
        table.round({"to start": 1, "to work": 1, "share": 3}).astype({"jobs": int}).reset_index()
    )


def library_table(results: pd.DataFrame) -> pd.DataFrame:
    """Table of docs/performance.md: processor seconds of new processes that use a saved model."""
    rows = results.dropna(subset="items")
    return pd.DataFrame(
        {
            "new process": rows["what"],
            "processor seconds": rows["to start"].map("{:.2f}".format),
        }
    )


def jobs_table(results: pd.DataFrame) -> pd.DataFrame:
    """Table of the processor seconds of the jobs of a run before and at work."""
    rows = results[results["items"].isna()]
    return pd.DataFrame(
        {
            "jobs": [f"{row.what} ({row.jobs})" for row in rows.itertuples()],
            "to start, s": rows["to start"].map("{:.1f}".format),
            "to work, s": rows["to work"].map("{:.1f}".format),
            "not work": rows["share"].map("{:.0%}".format),
        }
    )


TABLES = (library_table, jobs_table)


def main(kind: str, *words: str) -> None:
    of_library = kind == "library"
    new = library(int(words[0] if words else ITEMS)) if of_library else jobs(Path(words[0]))
    old = pd.read_csv(OUTPUT) if OUTPUT.exists() else pd.DataFrame(columns=COLUMNS)
    other = old[old["items"].isna() == of_library]
    parts = [part for part in ([new, other] if of_library else [other, new]) if len(part)]
    results = pd.concat(parts).reindex(columns=COLUMNS).astype({"items": "Int64", "jobs": "Int64"})
    results.to_csv(OUTPUT, index=False)
    for table in TABLES:
        print(table(results).to_markdown(index=False, disable_numparse=True), end="\n\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
