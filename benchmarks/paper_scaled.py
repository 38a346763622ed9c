"""Run Steck 2020 of config/paper.yaml on generated files in the published formats, made smaller.

    python benchmarks/paper_scaled.py FOLDER [SHARE] [CORES]

Users, items, rows, held-out users, thresholds of items and ranks are those of the paper divided by
SHARE (default: 10), so that the mean of diag(X'X), and with it the published λ, keeps its size.
Archives in the formats of MovieLens 20M, Netflix and MSD are generated in FOLDER; the workflow
reads them through its own parsers, with the grids of config/paper.yaml, on CORES (2), and keeps its
results there. Contents are random: the numbers in Table 1 mean nothing, the run does.
Writes the jobs, seconds and memory of every rule to benchmarks/results/paper_scaled.csv.
"""

import ast
import hashlib
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import data_at_scale
import pandas as pd
import yaml

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "benchmarks" / "results" / "paper_scaled.csv"
PAPER = ROOT / "config" / "paper.yaml"
SHARE, CORES = 10, 2
# What a job of the run belongs to, if not to a dataset.
WITHOUT = "all"


def archives(folder: Path, share: int) -> dict[str, Path]:
    """Generate the three archives, under the names that their URLs end in."""
    found = {}
    for name, (recipe, protocol) in data_at_scale.SETS.items():
        small = replace(
            recipe,
            users=recipe.users // share,
            items=recipe.items // share,
            interactions=recipe.interactions // share,
        )
        data_at_scale.SETS[name] = small, protocol
        files = data_at_scale.make(name, folder)
        files["plain"].unlink()
        found[name] = files["archive"]
    return found


def overlay(files: dict[str, Path], share: int) -> dict[str, Any]:
    """What stands on top of config/paper.yaml: facts of the generated files, and smaller sizes."""
    paper = yaml.safe_load(PAPER.read_text(encoding="utf-8"))
    datasets = {}
    for name, file in files.items():
        recipe, _ = data_at_scale.SETS[name]
        content, entry = file.read_bytes(), paper["datasets"][name]
        facts: dict[str, Any] = {"bytes": len(content)}
        facts |= {kind: hashlib.new(kind, content).hexdigest() for kind in ("md5", "sha256")}
        if "rows" in entry["source"]:
            sizes = recipe.interactions, recipe.users, recipe.items
            facts |= dict(zip(("rows", "users", "items"), sizes, strict=True))
        counts = {
            key: entry["protocol"][key] // share
            for key in ("heldout_users", "min_item_users")
            if key in entry["protocol"]
        }
        datasets[name] = {"source": facts, "protocol": counts}
    factors = [each // share for each in paper["models"]["wmf"]["factors"]]
    return {
        "data_dir": str(next(iter(files.values())).parent),
        "rank": paper["rank"] // share,
        "ranks": [rank // share for rank in paper["ranks"] if rank >= share],
        "points_per_job": 100,  # a job for every point would do little but start
        "models": {"wmf": {"factors": factors}},
        "datasets": datasets,
    }


def jobs(folder: Path) -> pd.DataFrame:
    """Jobs, seconds and memory of the run in a folder, by dataset and rule."""
    rows = []
    for file in sorted((folder / "results" / "benchmarks").rglob("*.tsv")):
        (row,) = pd.read_csv(file, sep="\t", na_values="-").to_dict("records")
        dataset = ast.literal_eval(row["wildcards"]).get("dataset", WITHOUT)
        facts = {"dataset": dataset, "rule": row["rule_name"], "jobs": 1, "seconds": row["s"]}
        rows.append(facts | {"processor seconds": row["cpu_time"], "peak MB": row["max_rss"]})
    found = pd.DataFrame(rows).groupby(["dataset", "rule"], as_index=False, sort=False)
    how = {"jobs": "sum", "seconds": "sum", "processor seconds": "sum", "peak MB": "max"}
    return found.agg(how).round({"seconds": 1, "processor seconds": 1, "peak MB": 0})


def main(folder: Path, share: int, cores: int) -> None:
    """Generate the files, run the workflow, and keep what it took."""
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    on_top = folder / "scaled.yaml"
    on_top.write_text(yaml.safe_dump(overlay(archives(folder, share), share)), encoding="utf-8")
    command = ["snakemake", "--cores", str(cores), "--directory", str(folder)]
    command += ["--benchmark-extended", "steck2020", "--configfile", str(PAPER), str(on_top)]
    start = time.perf_counter()
    subprocess.run(command, check=True, cwd=ROOT)
    table = jobs(folder)
    clock = {"dataset": WITHOUT, "rule": "the run, by the clock", "jobs": table["jobs"].sum()}
    clock |= {"seconds": round(time.perf_counter() - start, 1)}
    clock["processor seconds"] = table["processor seconds"].sum()
    clock["peak MB"] = table["peak MB"].max()
    table = pd.concat([table, pd.DataFrame([clock])]).assign(share=share, cores=cores)
    table.to_csv(OUTPUT, index=False, lineterminator="\n")
    print(table.to_string(index=False))


if __name__ == "__main__":
    share, cores = (*map(int, sys.argv[2:]), *(SHARE, CORES)[len(sys.argv) - 2 :])
    main(Path(sys.argv[1]), share, cores)
