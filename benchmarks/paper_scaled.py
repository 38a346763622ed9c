"""Run config/paper.yaml whole on generated files in the published formats, made smaller.

    PYTHONPATH=tests python benchmarks/paper_scaled.py FOLDER [SHARE] [TARGET ...]

Users, held-out users, thresholds of items and the experiments of the dropout papers are those of
the papers divided by SHARE (default: 10); items, rows and ranks by twice as much, so that the mean
of diag(X'X), and with it the published λ, keeps its size, while a run on two cores takes minutes.
Archives in the formats of MovieLens 20M, Netflix, MSD, MNIST and CIFAR-10 are generated in FOLDER.
The workflow finds them by `data_dir` under the names that their URLs end in, verifies them and
reads them by its own parsers. It runs in FOLDER/run, a copy of the workflow that has the papers'
protocols scaled as well, so that it takes these sets for the papers', as it will take the true
files. Contents are random: the numbers mean nothing, the run does. The same command goes on where
a run failed. Where every job ended well, it writes jobs, seconds and memory of every rule of the
TARGETs (default: all) to benchmarks/results/paper_scaled.csv, in place of the lines of the same
SHARE.
"""

import ast
import gzip
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import data_at_scale
import numpy as np
import pandas as pd
import yaml

from lindrop.configuration.config import checked
from lindrop.configuration.schema import load_schema
from lindrop.data.images import BATCHES
from support.files import tar_of
from support.images import batch_pickle, idx

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "benchmarks" / "results" / "paper_scaled.csv"
PAPER = ROOT / "config" / "paper.yaml"
SHARE = 10
TARGETS = ["all"]
COPIED = ["Snakefile", "workflow", "config", "envs", "profiles"]
PUBLISHED = Path("config", "paper_values", "steck2020_datasets.yaml")
COUNTS = ("heldout_users", "min_item_users")  # of a protocol, which are scaled
# Keys of the dropout papers' settings that say how much is computed, not what.
AMOUNTS = ("runs", "iterations", "count", "hidden", "epochs", "every")
IMAGES = {"mnist": 60_000, "cifar10": 50_000}  # as published
# What a job of the run belongs to, if not to a dataset.
WITHOUT = "all"


def archives(folder: Path, share: int) -> dict[str, Path]:
    """Generate the archives of ratings, under the names that their URLs end in."""
    found = {}
    for name, (recipe, protocol) in data_at_scale.SETS.items():
        small = replace(
            recipe,
            users=recipe.users // share,
            items=recipe.items // (2 * share),
            interactions=recipe.interactions // (2 * share),
        )
        data_at_scale.SETS[name] = small, protocol
        files = data_at_scale.make(name, folder)
        files["plain"].unlink()
        found[name] = files["archive"]
    return found


def images(folder: Path, share: int) -> dict[tuple[str, str], Path]:
    """Generate the files of MNIST and CIFAR-10, by set and part, with noise for images."""
    random = np.random.default_rng(0)
    count, each = IMAGES["mnist"] // share, IMAGES["cifar10"] // share // len(BATCHES)
    pixels = random.integers(0, 256, (count, 28, 28), np.uint8)
    found = {
        ("mnist", "images"): (folder / "train-images-idx3-ubyte.gz", idx(pixels)),
        ("mnist", "labels"): (folder / "train-labels-idx1-ubyte.gz", idx(digits(random, count))),
    }
    batches = {}
    for name in BATCHES:
        pixels = random.integers(0, 256, (each, 3 * 32 * 32), np.uint8)
        batches[f"cifar-10-batches-py/{name}"] = batch_pickle(pixels, digits(random, each))
    found["cifar10", "archive"] = folder / "cifar-10-python.tar.gz", tar_of(batches)
    for file, content in found.values():
        file.write_bytes(gzip.compress(content, 1))
    return {part: file for part, (file, _) in found.items()}


def digits(random: np.random.Generator, count: int) -> Any:
    """Labels from 0 to 9."""
    return random.integers(0, 10, count, np.uint8)


def facts(file: Path) -> dict[str, Any]:
    """Size and checksums of a file."""
    content = file.read_bytes()
    sums = {kind: hashlib.new(kind, content).hexdigest() for kind in ("md5", "sha256")}
    return {"bytes": len(content)} | sums


def scaled(settings: Mapping[str, Any], share: int) -> dict[str, Any]:
    """The amounts among the settings of a paper, at every level, divided by SHARE."""
    found: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            found |= {key: inner} if (inner := scaled(value, share)) else {}
        elif key in AMOUNTS:
            found[key] = max(1, value // share)
    return found


def counts(protocol: Mapping[str, Any], share: int) -> dict[str, int]:
    """The counts in a protocol, divided by SHARE."""
    return {key: protocol[key] // share for key in COUNTS if key in protocol}


def copied(folder: Path, share: int) -> Path:
    """A copy of the workflow in which the papers' protocols are scaled."""
    run = folder / "run"
    run.mkdir(exist_ok=True)
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, run / name, dirs_exist_ok=True)
        else:
            shutil.copy2(ROOT / name, run / name)
    sets = yaml.safe_load((ROOT / PUBLISHED).read_text(encoding="utf-8"))
    for entry in sets.values():
        entry["protocol"] |= counts(entry["protocol"], share)
    (run / PUBLISHED).write_text(yaml.safe_dump(sets), encoding="utf-8")
    return run


def overlay(folder: Path, share: int) -> dict[str, Any]:
    """What stands on top of config/paper.yaml: facts of the generated files, and smaller sizes."""
    given = yaml.safe_load(PAPER.read_text(encoding="utf-8"))
    paper = checked(given, load_schema())
    datasets = {}
    for name, file in archives(folder, share).items():
        recipe, _ = data_at_scale.SETS[name]
        stated, rules = given["datasets"][name]["source"], given["datasets"][name]["protocol"]
        source = {key: value for key, value in facts(file).items() if key in stated}
        if "rows" in stated:
            sizes = recipe.interactions, recipe.users, recipe.items
            source |= dict(zip(("rows", "users", "items"), sizes, strict=True))
        datasets[name] = {"source": source, "protocol": counts(rules, share)}
    entries: dict[str, Any] = {}
    for (name, part), file in images(folder, share).items():
        entries.setdefault(name, {})[part] = paper["images"][name][part] | facts(file)
    factors = paper["models"]["wmf"]["factors"]
    experiments = {key: given[key] for key in ("mianjy2018", "pal2020")}
    sets = {name: paper["pretorius2018"][name] for name in given["pretorius2018"]["images"]}
    experiments["pretorius2018"] = sets
    return {
        "data_dir": str(folder),
        "rank": paper["rank"] // (2 * share),
        "ranks": sorted({max(1, rank // (2 * share)) for rank in paper["ranks"]}),
        "models": {"wmf": {"factors": [n // (2 * share) for n in factors]}},
        "points_per_job": share,  # a job for every point would do little but start
        "steck2020": {"splits": 2, "times": [5]},
        "datasets": datasets,
        "images": entries,
        **scaled(experiments, share),
    }


def jobs(folder: Path) -> pd.DataFrame:
    """Jobs, seconds and memory of the run, by dataset and rule."""

    def lines() -> Iterator[dict[str, Any]]:
        for file in sorted((folder / "results" / "benchmarks").rglob("*.tsv")):
            (row,) = pd.read_csv(file, sep="\t", na_values="-").to_dict("records")
            of = ast.literal_eval(row["wildcards"])
            dataset = of.get("dataset", WITHOUT) if isinstance(of, dict) else WITHOUT
            yield {
                "dataset": dataset,
                "rule": row["rule_name"],
                "jobs": 1,
                "seconds": row["s"],
                "processor seconds": row["cpu_time"],
                "peak MB": row["max_rss"],
            }

    found = pd.DataFrame(lines()).groupby(["dataset", "rule"], as_index=False, sort=False)
    how = {"jobs": "sum", "seconds": "sum", "processor seconds": "sum", "peak MB": "max"}
    return found.agg(how).round({"seconds": 1, "processor seconds": 1, "peak MB": 0})


def main(folder: Path, share: int, targets: Sequence[str]) -> None:
    """Generate the files, run the workflow, and keep what it took."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    on_top = folder / "scaled.yaml"
    if not on_top.exists():
        on_top.write_text(yaml.safe_dump(overlay(folder, share)), encoding="utf-8")
    run = copied(folder, share)
    command = ["snakemake", "--cores", "2", "--benchmark-extended", "--keep-going", *targets]
    done = subprocess.run([*command, "--configfile", "config/paper.yaml", str(on_top)], cwd=run)
    table = jobs(run)
    sums = {name: [table[name].sum()] for name in ("jobs", "seconds", "processor seconds")}
    whole = {
        "dataset": [WITHOUT],
        "rule": ["all rules"],
        **sums,
        "peak MB": [table["peak MB"].max()],
    }
    table = pd.concat([table, pd.DataFrame(whole)]).round(1)
    table.insert(0, "share", share)
    print(table.to_string(index=False))
    if done.returncode:
        sys.exit("the run failed; the same command goes on where it ended")
    if OUTPUT.exists():
        earlier = pd.read_csv(OUTPUT)
        table = pd.concat([earlier[earlier["share"] != share], table])
    table.to_csv(OUTPUT, index=False, lineterminator="\n")


if __name__ == "__main__":
    place, *more = sys.argv[1:]
    main(Path(place), int(more[0]) if more else SHARE, more[1:] or TARGETS)
