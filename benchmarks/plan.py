"""Measure the rates by which `snakemake plan` predicts, and compare its predictions with real runs.

    python benchmarks/plan.py rates FOLDER
    python benchmarks/plan.py jobs FOLDER
    python benchmarks/plan.py ml-1m FOLDER
    python benchmarks/plan.py paper
    python benchmarks/plan.py check NAME=FOLDER[:CONFIG] ...

FOLDER is one in which the default configuration was run. `rates` takes the seconds of its fits, and
those at larger sizes from rules_at_scale.csv and sparse_models.csv in benchmarks/results, measures
a fit by users × users, and writes them with the work that they did to
workflow/lindrop/planning/rates.csv. `jobs` takes the
seconds of the jobs without data and writes jobs.csv beside it. `ml-1m` keeps what every job of a
run of config/ml-1m.yaml took, in benchmarks/results/ml-1m_jobs.csv: the rate of Table 1's trainings
as published is from there. `paper` needs no folder: it writes what config/paper.yaml will take to
paper_plan.csv there. `check` writes predicted and
measured seconds of the jobs of finished runs to benchmarks/results/plan.csv; runs with these names
are replaced.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import scipy.sparse as sp
import yaml

from lindrop.configuration.config import checked
from lindrop.configuration.schema import load_schema
from lindrop.models.base import Training
from lindrop.models.catalogue import CATALOGUE, fit
from lindrop.models.memory import Size
from lindrop.papers.steck2020.models import FITTED, figure_models
from lindrop.planning import cost, work
from lindrop.planning.plan import STARTS, Plan, planned, ranks_of
from lindrop.planning.sizes import planned_size, stated_size
from lindrop.ranking.grids import grid

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "benchmarks" / "results" / "plan.csv"
ML_1M = OUTPUT.with_name("ml-1m_jobs.csv")
PAPER = OUTPUT.with_name("paper_plan.csv")
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


def rates(folder: Path) -> None:
    """Write the rates of a finished default run, and those measured at ML-20M's size."""
    rows = [
        *of_default_run(folder),
        *at_ml_20m(),
        *on_gowalla(),
        *of_hybrid(),
        *on_ml_1m(),
        *of_few_users(),
    ]
    reading = pd.read_csv(OUTPUT.with_name("data_at_scale.csv"))
    found = reading[(reading["step"] == "read") & (reading["file"] == "ratings.csv")].iloc[0]
    rows.append(("read", 20_108, 2e7, float(found["seconds"] * found["cores"])))
    table = pd.DataFrame(rows, columns=["name", "items", "work", "seconds"])
    table["work"] = table["work"].map("{:.4g}".format)
    table["seconds"] = table["seconds"].map("{:.4g}".format)
    table = table.sort_values(["name", "items"])
    table.to_csv(cost.RATES, index=False)
    print(table.to_string(index=False))


def of_default_run(folder: Path) -> Iterator[tuple[str, int, float, float]]:
    """Name, items, work and seconds of the jobs of the default run, which take one core each."""
    config = checked(configuration(ROOT / "config" / "config.yaml"), load_schema())
    (entry,) = config["datasets"].values()
    size = stated_size(entry)
    assert size is not None
    found = benchmarks_of(folder).set_index("job")["seconds"]
    start = found["gram/demo"]  # it does little else
    looked = 0.0
    for model, amount in work.FITS.items():
        file = folder / "results" / "tuning" / "demo" / model / "0.csv"
        if not file.exists():
            continue
        trials = pd.read_csv(file, comment="#")
        options = default_options(model) | config["models"].get(model, {})
        ranks = ranks_of(model, size, config["ranks"], config["rank"])
        points = len(grid(options))
        fitting = trials["seconds"].sum()
        yield model, size.items, points * amount(size, ranks, options), max(fitting, 1e-3)
        if model in ("ease", "full_edlae", "edlae"):
            looked += max(found[f"tune/demo/{model}/0"] - fitting - start, 0.0)
    evaluated = sum(
        work.evaluation(model, size, ranks_of(model, size, config["ranks"], config["rank"]), {})
        * len(grid(default_options(model) | config["models"].get(model, {})))
        for model in ("ease", "full_edlae", "edlae")
    )
    yield "evaluation", size.items, evaluated, looked
    jobs = {"generate": "generate_interactions/demo", "split": "split/demo"}
    for name, job in jobs.items():
        yield name, size.items, float(size.rows), float(found[job] - start)


def at_ml_20m() -> Iterator[tuple[str, int, float, float]]:
    """Rates at ML-20M's size, from benchmarks/results/rules_at_scale.csv (two cores)."""
    config = checked(configuration(ROOT / "benchmarks" / "scale" / "ml-20m.yaml"), load_schema())
    (entry,) = config["datasets"].values()
    size = stated_size(entry)
    assert size is not None
    table = pd.read_csv(OUTPUT.with_name("rules_at_scale.csv")).query("set == 'ml-20m'")
    of_stage = {row["rule"]: row for _, row in table[table["model"].isna()].iterrows()}
    rank = max(config["ranks"])
    amounts = {
        "generate": ("generate_interactions", float(size.rows)),
        "split": ("split", float(size.rows)),
        "gram": ("gram", work.gram(size)),
        "spectrum": ("spectrum", work.spectrum(size, rank)),
    }
    for name, (rule, amount) in amounts.items():
        yield name, size.items, amount, float(of_stage[rule]["core_seconds"])
    for _, row in table.query("rule == 'fit'").iterrows():
        model = str(row["model"])
        if model == "sampled_dropout":  # its training is another one now
            continue
        ranks = ranks_of(model, size, config["ranks"], config["rank"])
        options = {
            key: value[:1] if isinstance(value, list) else value
            for key, value in (default_options(model) | config["models"].get(model, {})).items()
        }
        yield model, size.items, work.FITS[model](size, ranks, options), float(row["core_seconds"])


def on_gowalla() -> Iterator[tuple[str, int, float, float]]:
    """Rates of the models on a pattern, from benchmarks/results/sparse_models.csv."""
    table = pd.read_csv(OUTPUT.with_name("sparse_models.csv"))
    even = table.query("set == 'gowalla' and model == 'sparse_edlae' and spread == 0")
    row = even.set_index("neighbours").loc[100]
    size = planned_size(Size(29_858, 40_981, 810_128))
    amount = work.pattern(size, [size.items], {"neighbours": 100})
    for model in ("sparse_edlae", "sparse_ease"):
        yield model, size.items, amount, float(row["processor seconds"])


def of_hybrid() -> Iterator[tuple[str, int, float, float]]:
    """Rate of the model with low rank and pattern, from benchmarks/results/sparse_peers.csv."""
    table = pd.read_csv(OUTPUT.with_name("sparse_peers.csv"))
    row = table.query("set == 'ml-1m' and model == 'hybrid_edlae, 25 + 25'").iloc[0]
    size = planned_size(Size(5_034, 3_502, 480_243))
    amount = work.hybrid(size, [size.items], {"neighbours": 25, "factors": 25})
    yield "hybrid_edlae", size.items, amount, float(row["processor seconds"])


def of_few_users() -> Iterator[tuple[str, int, float, float]]:
    """Rate of a fit by users × users, measured in new memory, as a job has it."""
    users, items, entries = 1_500, 15_000, 75_000
    x = sp.random_array((users, items), density=entries / (users * items), rng=1).tocsr()
    x.data[:] = 1
    size = planned_size(Size(users, items, entries))
    kept = [fit("ease", Training.of(x, keep=False), ridge=100)]  # the first one compiles, too
    start = time.process_time()
    kept.append(fit("ease", Training.of(x, keep=False), ridge=100))
    took = time.process_time() - start
    yield work.DUAL, items, work.full_rank(size, [items], {}), took


def on_ml_1m() -> Iterator[tuple[str, int, float, float]]:
    """Rate of Table 1's trainings as published, from a run of config/ml-1m.yaml."""
    size = planned_size(Size(5_034, 3_502, 480_243))
    rank = checked(configuration(ROOT / "config" / "ml-1m.yaml"), load_schema())["rank"]
    took = pd.read_csv(ML_1M).set_index("job")["processor"]
    seconds = took.filter(like="steck2020_attribution/ml-1m/").sum()
    amount = work.attribution(size, rank, papers_own=False)
    amount += sum(work.longer(size, rank, row, STARTS, 5) for row in work.PUBLISHED_EPOCHS)
    yield "attribution", size.items, amount, float(seconds)


def default_options(model: str) -> dict[str, Any]:
    """Options of a model, as they are without a configuration."""
    return {key: option.default for key, option in CATALOGUE[model].options.items()}


def configuration(file: Path) -> Any:
    """A configuration as its file has it."""
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def benchmarks_of(folder: Path) -> pd.DataFrame:
    """Seconds and peak megabytes of the jobs of a finished run, by their benchmark file."""
    place = folder / "results" / "benchmarks"
    rows = []
    for file in sorted(place.rglob("*.tsv")):
        found = pd.read_csv(file, sep="\t").iloc[0]
        name = file.relative_to(place).with_suffix("").as_posix()
        took = {"seconds": found["s"], "processor": found["cpu_time"]}
        rows.append({"job": name, **took, "megabytes": found["max_rss"]})
    return pd.DataFrame(rows)


def keep_ml_1m(folder: Path) -> None:
    """Keep what the jobs of a run of config/ml-1m.yaml took, the longest first."""
    found = benchmarks_of(folder).round({"seconds": 1, "processor": 1, "megabytes": 0})
    found = found.sort_values("processor", ascending=False)
    found.to_csv(ML_1M, index=False)
    print(found.head(20).to_string(index=False))
    print(f"{len(found)} jobs, {found['processor'].sum():.0f} s of processor time")


def paper_plan() -> Plan:
    """The plan of config/paper.yaml from the published sizes, for which no download is needed."""
    config = checked(configuration(ROOT / "config" / "paper.yaml"), load_schema())
    models = sorted({*FITTED, *figure_models(config["steck2020"]["curves"])})
    return planned(config, models, papers=True)


def totals_of(plan: Plan) -> pd.DataFrame:
    """The row of paper_plan.csv."""
    return pd.DataFrame([{"config": "paper.yaml", **plan.totals()}]).round(1)


def paper() -> None:
    """Write and print the planned time, memory and disk of a run of config/paper.yaml."""
    plan = paper_plan()
    totals_of(plan).to_csv(PAPER, index=False)
    print(plan.summary())


def jobs(folder: Path) -> None:
    """Write the seconds of jobs that no data decide, by rule."""
    found = benchmarks_of(folder)
    found["job"] = found["job"].str.replace("/", ".", regex=False)
    start = found[found["job"] == "gram.demo"].assign(job="start")  # it does little else
    of_data = found["job"].str.match(r"(fit|tune|gram|split|spectrum|generate_inter|read|verify)")
    networks = found["job"].str.startswith("pretorius2018_train")
    found = found.drop(columns="processor")
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
    config = checked(configuration(Path(file)), load_schema())
    jobs = benchmarks_of(Path(folder)).set_index("job")
    found = jobs["seconds"]
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
    rows.append(
        {
            **{"run": name, "job": "all jobs, processor time"},
            "predicted": sum(predicted[job] for job in total),
            "measured": float(jobs["processor"].sum()),
        }
    )
    table = pd.DataFrame(rows)
    table["ratio"] = (table["predicted"] / table["measured"]).round(2)
    return table.round({"predicted": 2, "measured": 2})


STAGES = ("generate_interactions", "read_interactions", "split", "gram", "spectrum")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("rates", "jobs", "ml-1m", "paper", "check"))
    parser.add_argument("folders", nargs="*")
    given = parser.parse_args()
    if given.what == "rates":
        rates(Path(given.folders[0]))
    elif given.what == "jobs":
        jobs(Path(given.folders[0]))
    elif given.what == "ml-1m":
        keep_ml_1m(Path(given.folders[0]))
    elif given.what == "paper":
        paper()
    else:
        check(given.folders)


if __name__ == "__main__":
    main()
