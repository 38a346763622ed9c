"""Time and memory of every rule at published sizes, from the benchmark files of Snakemake.

    snakemake --cores 2 --benchmark-extended --configfile benchmarks/scale/msd.yaml -- \
      results/metrics/msd/{edlae,full_edlae}.h5
    python benchmarks/rules_at_scale.py FOLDER ...

Each FOLDER is a clone in which a configuration of benchmarks/scale was run, in full or in part; all
finished jobs are collected. Writes the rows of these sets to benchmarks/results/rules_at_scale.csv
and prints the table of docs/benchmarks.md.
"""

import ast
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from lindrop.models.catalogue import CATALOGUE
from lindrop.models.memory import MARGIN, gram_bytes, job_bytes, matrix_bytes, spectrum_bytes
from lindrop.store.split import read_size

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "benchmarks" / "results" / "rules_at_scale.csv"
FILES = {
    "generate_interactions": ["data/{dataset}/interactions.h5"],
    "split": ["data/{dataset}/split.h5"],
    "gram": ["gram/{dataset}.h5"],
    "spectrum": ["gram/{dataset}.spectrum.h5"],
    "tune": ["tuning/{dataset}/{model}/{chunk}.csv"],
    "fit": ["metrics/{dataset}/{model}.h5", "models/{dataset}/{model}.h5"],
}
SETS = ["ml-20m", "netflix", "msd"]
RANK = 1000
LOW_RANK = {"spectrum", "tune", "fit"}


def jobs_of(folder: Path) -> pd.DataFrame:
    """Table of a run with one row per job."""
    files = sorted((folder / "results" / "benchmarks").rglob("*.tsv"))
    frames = [pd.read_csv(file, sep="\t") for file in files]
    return pd.DataFrame([job(folder, row) for frame in frames for _, row in frame.iterrows()])


def job(folder: Path, row: pd.Series) -> dict[str, Any]:
    """Time, memory, requested memory and output size of one job, from its benchmark row."""
    wildcards = ast.literal_eval(row["wildcards"])
    (name,) = (file.name for file in (folder / "results" / "data").iterdir())
    return {
        "set": name,
        "rule": row["rule_name"],
        "model": wildcards.get("model", ""),
        "seconds": row["s"],
        "core_seconds": row["cpu_time"],
        "peak_gb": row["max_rss"] * 2**20 / 1e9,
        "asked_gb": asked_gb(folder / "results" / "data" / name / "split.h5", row),
        "written_gb": sum(
            (folder / "results" / file.format(**wildcards)).stat().st_size / 1e9
            for file in FILES.get(row["rule_name"], [])
        ),
    }


def asked_gb(split: Path, row: pd.Series) -> float:
    """Memory that the current formula requests for a job, which may differ from that of the run."""
    rule = row["rule_name"]
    if rule not in {"gram", *LOW_RANK}:
        return float(ast.literal_eval(row["resources"])["mem_mb"]) / 1e3
    size = read_size(split)
    if rule == "gram":
        needed = MARGIN * gram_bytes(size)
    elif rule == "spectrum":
        needed = MARGIN * (matrix_bytes(size.items) + spectrum_bytes(size.items, RANK))
    else:
        size = replace(size, eigenpairs=RANK)
        model = ast.literal_eval(row["wildcards"])["model"]
        needed = CATALOGUE[model].needed_bytes(size, [RANK])
    return job_bytes(size, needed) / 1e9


def by_rule(jobs: pd.DataFrame) -> pd.DataFrame:
    """Sums over the jobs of each rule and model, and the needs of the largest job."""
    order = [*FILES, *(rule for rule in jobs["rule"].unique() if rule not in FILES)]
    jobs = jobs.sort_values(
        ["rule", "seconds"], key=lambda by: by.map(order.index) if by.name == "rule" else by
    )
    return jobs.groupby(["set", "rule", "model"], sort=False, as_index=False).agg(
        jobs=("seconds", "size"),
        seconds=("seconds", "sum"),
        core_seconds=("core_seconds", "sum"),
        longest_seconds=("seconds", "last"),
        longest_core_seconds=("core_seconds", "last"),
        peak_gb=("peak_gb", "max"),
        asked_gb=("asked_gb", "max"),
        written_gb=("written_gb", "sum"),
    )


def cost_table(measured: pd.DataFrame) -> pd.DataFrame:
    """Table of docs/benchmarks.md: seconds and core seconds of X'X and of each model's fit."""
    shown = measured[measured["rule"].isin(["gram", "spectrum", "fit"])]
    cells = shown.assign(
        job=shown["rule"].str.cat(shown["model"].fillna(""), sep=" ").str.strip(),
        cost=[
            f"{row.longest_seconds:,.0f} s ({row.longest_core_seconds:,.0f})"
            for row in shown.itertuples()
        ],
    )
    return (
        cells.pivot(index="job", columns="set", values="cost")
        .reindex(
            index=cells["job"].unique(),
            columns=[name for name in SETS if name in set(cells["set"])],
        )
        .fillna("")
        .reset_index()
        .rename_axis(columns=None)
    )


def main(folders: list[Path]) -> None:
    new = by_rule(pd.concat(map(jobs_of, folders))).round(3)
    if OUTPUT.exists():
        old = pd.read_csv(OUTPUT)
        new = pd.concat([old[~old["set"].isin(new["set"])], new])
    new.to_csv(OUTPUT, index=False)
    print(cost_table(new).to_markdown(index=False, disable_numparse=True))


if __name__ == "__main__":
    main([Path(folder) for folder in sys.argv[1:]])
