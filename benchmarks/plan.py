"""Measure the rates by which `snakemake plan` predicts, and compare its predictions with real runs.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/plan.py rates
    python benchmarks/plan.py jobs FOLDER
    python benchmarks/plan.py check NAME=FOLDER[:CONFIG] ...

`rates` fits every model on one core to generated data of several sizes, at the middle point of its
default grid, and writes the work and the seconds to workflow/lindrop/planning/rates.csv. `jobs`
takes the seconds of the jobs without data from a finished default run in FOLDER and writes jobs.csv
beside it. `check` writes predicted and measured seconds of every job of finished runs to
benchmarks/results/plan.csv; runs with these names are replaced.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from lindrop.configuration.config import checked
from lindrop.configuration.schema import load_schema
from lindrop.data.split import Protocol, split
from lindrop.data.synthetic.generator import synthetic_interactions
from lindrop.data.synthetic.recipe import recipe_of
from lindrop.linalg.gram import gram_matrix
from lindrop.models.base import Training
from lindrop.models.catalogue import CATALOGUE
from lindrop.models.entry import Ranks
from lindrop.models.tuning import parameters
from lindrop.planning import cost, work
from lindrop.planning.plan import planned
from lindrop.planning.sizes import DataSize
from lindrop.ranking.evaluation import evaluate
from lindrop.ranking.grids import axes

OUTPUT = Path(__file__).resolve().parent / "results" / "plan.csv"
SIZES = (500, 2000, 6000)  # items
USERS, EACH, HELD = 12_000, 50, 1_000
RANK = 100
# What the seconds of some jobs are proportional to, as it is in the default run.
WORK = {
    "mianjy2018_convergence": 4,  # runs
    **dict.fromkeys((f"pal2020_fig{n}" for n in (1, 3, 4, 5, 6)), 10_000),  # iterations
    "pal2020_dropconnect": 10_000,
    **dict.fromkeys(("steck2020_fig1_center", "steck2020_fig1_right"), 1_000),  # items
    **dict.fromkeys(("steck2020_embeddings", "dataset_long_tails"), 3_000_000),  # rows
    "pretorius2018_train": 800 * 16**2 * 64 * 3500,
    "pretorius2018_images_linear": 16**4 * 64 * 12_000,
}
MNIST = 50_000 * 784 * 256 * 2000


def timed(what: Callable[[], Any]) -> tuple[Any, float]:
    """The result of a call, and the seconds that the processor worked for it."""
    begin = time.process_time()
    result = what()
    return result, time.process_time() - begin


def measured(items: int) -> Iterator[dict[str, Any]]:
    """Rows of rates.csv: the name, the items, the work and the seconds of each kind of job."""
    recipe = recipe_of("demo", users=USERS, items=items, interactions=USERS * EACH)
    data, generating = timed(lambda: synthetic_interactions(recipe, 1))
    made, splitting = timed(lambda: split(data, Protocol(heldout_users=HELD)))
    x = made.matrix("train")
    users = made.matrix("test/fold_in"), made.matrix("test/held_out")
    per_user = np.bincount(made.train.uid).astype(float)
    size = DataSize(
        *(len(data), USERS, len(made.items), made.n_train_users, len(made.train)),
        *(float(per_user @ per_user), HELD),
    )
    rows = {"generate": (size.rows, generating), "split": (size.rows, splitting)}
    gram, counting = timed(lambda: gram_matrix(x, np.float32))
    rows["gram"] = work.gram(size), counting
    training = replace(Training.of(x), read_gram=lambda dtype: gram.astype(dtype))
    spectrum, decomposing = timed(lambda: training.top_spectrum(RANK))
    rows["spectrum"] = work.spectrum(size, RANK), decomposing
    training = replace(training, spectrum=spectrum)
    ranking, looked = 0.0, 0.0
    for name, amount in work.FITS.items():
        entry = CATALOGUE[name]
        options = {key: option.default for key, option in entry.options.items()}
        point = {axis: values[len(values) // 2] for axis, values in axes(options).items()}
        asked = parameters(point, options)
        ranks = [RANK] if entry.ranks is not Ranks.NONE else [size.items]
        (result,), seconds = timed(lambda: list(entry.fits(training, ranks, **asked)))  # noqa: B023
        rows[name] = amount(size, ranks, options), seconds
        _, seconds = timed(lambda: evaluate(result[1].model, *users))  # noqa: B023
        if name in ("ease", "edlae", "sparse_edlae"):
            looked += work.evaluation(name, size, ranks, options)
            ranking += seconds
    rows["evaluation"] = looked, ranking
    for name, (amount, seconds) in rows.items():
        yield {
            "name": name,
            "items": size.items,
            "work": f"{amount:.4g}",
            "seconds": f"{seconds:.4g}",
        }


def rates() -> None:
    """Measure all sizes and write rates.csv; the first size is measured twice, to be compiled."""
    for _ in measured(SIZES[0]):
        pass
    table = pd.DataFrame([row for items in SIZES for row in measured(items)])
    reading = pd.read_csv(Path(__file__).parent / "results" / "data_at_scale.csv")
    found = reading[(reading["step"] == "read") & (reading["file"] == "ratings.csv")].iloc[0]
    table.loc[len(table)] = ["read", 20_108, "2e+07", f"{2 * found['seconds']:.4g}"]
    table.sort_values(["name", "items"]).to_csv(cost.RATES, index=False)
    print(table.sort_values(["name", "items"]).to_string(index=False))


def benchmarks_of(folder: Path) -> pd.DataFrame:
    """Seconds and peak megabytes of the jobs of a finished run, by their benchmark file."""
    place = folder / "results" / "benchmarks"
    rows = []
    for file in sorted(place.rglob("*.tsv")):
        found = pd.read_csv(file, sep="\t").iloc[0]
        name = file.relative_to(place).with_suffix("").as_posix()
        rows.append({"job": name, "seconds": found["s"], "megabytes": found["max_rss"]})
    return pd.DataFrame(rows)


def jobs(folder: Path) -> None:
    """Write the seconds of jobs that no data decide, by rule."""
    found = benchmarks_of(folder)
    found["job"] = found["job"].str.replace("/", ".", regex=False)
    start = found[found["job"] == "gram.demo"].assign(job="start")  # it does little else
    of_data = found["job"].str.match(r"(fit|tune|gram|split|spectrum|generate_inter|read|verify)")
    networks = found["job"].str.startswith("pretorius2018_train")
    mean = found[networks][["seconds", "megabytes"]].mean()
    at_paper_size = pd.read_csv(OUTPUT.with_name("pretorius2018_mnist.csv"))["minutes"].mean()
    rows = [
        {"job": "pretorius2018_train", **mean, "of": WORK["pretorius2018_train"]},
        {"job": "pretorius2018_train.mnist", "seconds": 60 * at_paper_size, "of": MNIST},
    ]
    found = pd.concat([found[~of_data & ~networks], start, pd.DataFrame(rows)])
    found["of"] = found["of"].fillna(found["job"].map(WORK))
    found = found.round({"seconds": 2, "megabytes": 0}).sort_values("job")
    found.to_csv(cost.JOBS, index=False)
    print(found.to_string(index=False))


def check(given: list[str]) -> None:
    """Compare predictions with finished runs and write the rows of these runs to the table."""
    tables = [compared(*name.split("=", 1)) for name in given]
    table = pd.concat(tables, ignore_index=True)
    if OUTPUT.exists():
        old = pd.read_csv(OUTPUT)
        table = pd.concat([old[~old["run"].isin(table["run"])], table], ignore_index=True)
    table.to_csv(OUTPUT, index=False)
    print(table.to_markdown(index=False))


def compared(name: str, place: str) -> pd.DataFrame:
    """Rows of a run: seconds, predicted and measured, of tuning and fits, and of the whole."""
    folder, _, file = place.partition(":")
    config = checked(yaml.safe_load(Path(file).read_text()), load_schema())
    found = benchmarks_of(Path(folder)).set_index("job")["seconds"]
    models = sorted({job.split("/")[2] for job in found.index if job.startswith("fit/")})
    plan = planned(config, models, papers="scorecard" in found.index)
    predicted: dict[str, float] = {}
    for job in plan.jobs:
        at = f"{job.rule}/{job.of}" if job.of in CATALOGUE else job.rule
        predicted[at] = predicted.get(at, 0.0) + job.seconds
    measured: dict[str, float] = {}
    for job, seconds in found.items():
        parts = str(job).split("/")
        at = f"{parts[0]}/{parts[2]}" if parts[0] in ("fit", "tune") else parts[0]
        measured[at] = measured.get(at, 0.0) + float(seconds)
    rows = [
        {"run": name, "job": job, "predicted": predicted[job], "measured": measured[job]}
        for job in predicted
        if job in measured and (job.startswith(("fit/", "tune/")) or job in STAGES)
    ]
    total = [job for job in predicted if job in measured]
    rows.append(
        {
            **{"run": name, "job": "all jobs"},
            "predicted": sum(predicted[job] for job in total),
            "measured": sum(measured[job] for job in total),
        }
    )
    table = pd.DataFrame(rows)
    table["ratio"] = (table["predicted"] / table["measured"]).round(2)
    return table.round({"predicted": 2, "measured": 2})


STAGES = ("generate_interactions", "read_interactions", "split", "gram", "spectrum")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("rates", "jobs", "check"))
    parser.add_argument("folders", nargs="*")
    given = parser.parse_args()
    if given.what == "rates":
        rates()
    elif given.what == "jobs":
        jobs(Path(given.folders[0]))
    else:
        check(given.folders)


if __name__ == "__main__":
    main()
