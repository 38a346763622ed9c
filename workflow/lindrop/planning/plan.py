"""The plan of a run: jobs, time, memory and disk of each dataset and model, before anything starts.

    plan = planned(checked_configuration)
    print(plan.text())
    plan.table()                # a data frame
    plan.minutes(cores=8)

The configuration is that of `lindrop.configuration.config.checked`. Sizes are those that it states
or that are published, or come from a look at the files that are there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lindrop.base.errors import UserError
from lindrop.models.catalogue import CATALOGUE
from lindrop.models.memory import (
    MARGIN,
    gram_bytes,
    interactions_bytes,
    matrix_bytes,
    spectrum_bytes,
    triangle_bytes,
)
from lindrop.planning import cost, work
from lindrop.planning.experiments import Experiment, of_papers
from lindrop.planning.look import looked_at
from lindrop.planning.sizes import DataSize, stated_size
from lindrop.ranking.grids import chunks, grid, rank_of_table

if TYPE_CHECKING:
    import pandas as pd

CORES = (2, 8, 64)  # for which a plan states the time
SMALL_ITEMS = 4000  # up to which a fit takes one core, so that fits run side by side
SERIAL = 0.05  # share of a job on all cores that takes one core
PYTHON = 300e6  # bytes of Python with its libraries, and of Snakemake beside it
DATA = "data"  # what a plan calls the jobs before the models
PAPERS = "papers' experiments"
TABLES = "tables"  # and figures and pages
STARTS = 3  # random starts of Table 1's trainings as published


@dataclass(frozen=True)
class Job:
    """Jobs of one kind: how many, the seconds of one core that all of them take, and what of them.

    `chain` are the seconds of the longest one; `heavy` jobs take all cores, others one.
    """

    dataset: str
    of: str  # the model, `data` or the papers' experiments
    rule: str
    jobs: int
    seconds: float
    chain: float
    heavy: bool = False
    memory: float = 0.0  # bytes of the largest
    disk: float = 0.0  # bytes of all


@dataclass(frozen=True)
class Plan:
    """Jobs of a run, the sizes of its datasets, and why a dataset is not planned."""

    jobs: Sequence[Job]
    sizes: Mapping[str, DataSize]
    unknown: Mapping[str, str]

    def minutes(self, cores: int) -> float:
        """Minutes on a number of cores: heavy jobs one after the other, light ones side by side."""
        heavy = sum(job.seconds * on(cores) for job in self.jobs if job.heavy)
        light = [job for job in self.jobs if not job.heavy]
        chains: dict[tuple[str, str], float] = {}
        for job in light:
            key = job.dataset, job.of if job.of != PAPERS else job.rule
            chains[key] = chains.get(key, 0.0) + job.chain
        first = max((v for (_, of), v in chains.items() if of == DATA), default=0.0)
        longest = max((v for (_, of), v in chains.items() if of != DATA), default=0.0)
        together = sum(job.seconds for job in light) / cores
        return (heavy + max(first + longest, together)) / 60

    @property
    def core_hours(self) -> float:
        """Hours of one core that all jobs take."""
        return sum(job.seconds for job in self.jobs) / 3600

    def table(self) -> "pd.DataFrame":
        """One row for each dataset and model: jobs, core minutes, memory and disk in GB."""
        import pandas as pd

        rows = [
            {
                "dataset": job.dataset,
                "model": job.of,
                "jobs": job.jobs,
                "core_minutes": job.seconds / 60,
                "memory_gb": job.memory / 1e9,
                "disk_gb": job.disk / 1e9,
            }
            for job in self.jobs
        ]
        columns = ["dataset", "model", "jobs", "core_minutes", "memory_gb", "disk_gb"]
        found = pd.DataFrame(rows, columns=columns)
        how = {"jobs": "sum", "core_minutes": "sum", "memory_gb": "max", "disk_gb": "sum"}
        return found.groupby(["dataset", "model"], sort=False).agg(how).reset_index()

    def totals(self, cores: Sequence[int] = CORES) -> dict[str, float]:
        """Jobs, core hours, the largest memory and the disk in GB, and the minutes by cores."""
        found = {
            "jobs": float(sum(job.jobs for job in self.jobs)),
            "core_hours": self.core_hours,
            "memory_gb": max((job.memory for job in self.jobs), default=0.0) / 1e9,
            "disk_gb": sum(job.disk for job in self.jobs) / 1e9,
        }
        return found | {f"minutes_{number}_cores": self.minutes(number) for number in cores}

    def text(self, cores: Sequence[int] = CORES) -> str:
        """The plan as a person reads it."""
        lines = [told(name, size) for name, size in self.sizes.items()]
        lines += [f"{name}: not planned: {why}" for name, why in self.unknown.items()]
        table = self.table()
        table["core_minutes"] = table["core_minutes"].map("{:,.1f}".format)
        for column in ("memory_gb", "disk_gb"):
            table[column] = table[column].map("{:,.2f}".format)
        table.columns = ["dataset", "model", "jobs", "core minutes", "memory GB", "disk GB"]
        lines += ["", table.to_markdown(index=False, disable_numparse=True), ""]
        return "\n".join([*lines, self.summary(cores)])

    def summary(self, cores: Sequence[int] = CORES) -> str:
        """The totals in two lines."""
        total = self.totals(cores)
        times = (f"{number}: {duration(60 * self.minutes(number))}" for number in cores)
        return (
            f"{total['jobs']:,.0f} jobs, {total['core_hours']:,.1f} core hours, "
            f"{total['memory_gb']:,.1f} GB of memory for the largest job, "
            f"{total['disk_gb']:,.1f} GB on disk\ntime by number of cores: {', '.join(times)}"
        )


def on(cores: int) -> float:
    """Share of a job's seconds on one core that it takes on several."""
    return SERIAL + (1 - SERIAL) / cores


def told(name: str, size: DataSize) -> str:
    """One line about a dataset: how large it is and how that is known."""
    repeats = f", {size.repeats:,} of them repeats" if size.repeats else ""
    return (
        f"{name} ({size.known}): {size.rows:,} rows{repeats}, {size.users:,} users and "
        f"{size.items:,} items after the filters; {size.train_users:,} users train, "
        f"{size.per_user:,.1f} items each (density {size.density:.2%})"
    )


def duration(seconds: float) -> str:
    """Duration as text, in the largest unit in which it is at least two, or in seconds."""
    for unit, length in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.1f} {unit}"
    return f"{seconds:,.0f} s"


def planned(
    config: Mapping[str, Any],
    models: Iterable[str] | None = None,
    files: Mapping[str, Mapping[str, str | Path]] | None = None,
    kept: Path | None = None,
    papers: bool = False,
    tables: Iterable[str] = (),
) -> Plan:
    """Plan of the models on the datasets of a checked configuration.

    `models` are all that need no PyTorch if None; `files` are the files of each dataset that are
    on this machine, by part (`train`, `test`), by default the configured paths; `kept` keeps what
    was found in them. `papers` adds the experiments of the papers, which need no data, `tables` a
    short job for every rule that it names.
    """
    found = [name for name in (models or CATALOGUE) if name in work.FITS]
    sizes: dict[str, DataSize] = {}
    unknown: dict[str, str] = {}
    for name, entry in config["datasets"].items():
        try:
            size = size_of(entry, (files or {}).get(name), kept)
        except UserError as error:
            unknown[name] = str(error)
            continue
        if size is None:
            unknown[name] = "its file is not here, and the configuration does not state its size"
        else:
            sizes[name] = size
    jobs = [
        job
        for name, size in sizes.items()
        for job in [*data_jobs(name, size, config, found), *model_jobs(name, size, config, found)]
    ]
    start = cost.job_seconds()["start"]
    jobs += [Job("", TABLES, rule, 1, start, start) for rule in tables]
    if papers:
        trained = [
            job for name, size in sizes.items() for job in as_published_jobs(name, size, config)
        ]
        if trained:
            jobs += [*trained, Job("", PAPERS, "steck2020_attribution", 1, start, start)]
        jobs += [_experiment(one) for one in of_papers(config, list(sizes.values()))]
    return Plan(jobs, sizes, unknown)


def size_of(
    entry: Mapping[str, Any], files: Mapping[str, str | Path] | None, kept: Path | None
) -> DataSize | None:
    """Size of a dataset: published or generated, else from a look at its files, else as stated."""
    stated = stated_size(entry)
    if stated is not None and stated.known in ("generated", "published"):
        return stated
    paths = files or {"train": entry["source"]["path"]}
    if all(file is not None and Path(file).exists() for file in paths.values()):
        return looked_at(entry, paths, kept)
    return stated


def data_jobs(
    name: str, size: DataSize, config: Mapping[str, Any], models: Iterable[str]
) -> list[Job]:
    """Jobs of a dataset before these models."""
    generated = size.known == "generated"
    ranks = usable(size, [config["rank"], *config["ranks"]])
    start, heavy = cost.job_seconds()["start"], size.items > SMALL_ITEMS
    of_fit = size.of_fit(ranks[-1])
    data = MARGIN * interactions_bytes(of_fit)
    matrix = matrix_bytes(size.items)
    twice = 2 if config["datasets"][name]["protocol"].get("split", "users") != "users" else 1

    def stage(rule: str, what: str, memory: float, disk: float, jobs: int = 1) -> Job:
        seconds = start + cost.stage_seconds(what, size, ranks[-1])
        return Job(
            *(name, DATA, rule, jobs, jobs * seconds, seconds, heavy),
            *(PYTHON + memory, jobs * disk),
        )

    rows, entries = 40.0 * size.rows, 12.0 * size.rows
    read = ("generate_interactions", "generate") if generated else ("read_interactions", "read")
    found = [] if generated else [Job(name, DATA, "verify_source", 1, start, start, heavy, PYTHON)]
    if size.known == "published":  # not read, so it is still to be downloaded
        found.append(Job(name, DATA, "fetch", 1, start, start, heavy, PYTHON, 12.0 * size.rows))
    found += [stage(*read, rows, entries), stage("split", "split", rows, entries)]
    if any(needs_gram(model, size) for model in models):
        bytes_of_gram = data + MARGIN * gram_bytes(of_fit)
        found.append(stage("gram", "gram", bytes_of_gram, triangle_bytes(size.items), twice))
    if any(CATALOGUE[model].spectrum for model in models):
        bytes_of_spectrum = data + MARGIN * (matrix + spectrum_bytes(size.items, ranks[-1]))
        vectors = 4.0 * size.items * ranks[-1]
        found.append(stage("spectrum", "spectrum", bytes_of_spectrum, vectors, twice))
    return found


def model_jobs(
    name: str, size: DataSize, config: Mapping[str, Any], models: Iterable[str]
) -> list[Job]:
    """Tuning and final fit of the models on a dataset."""
    return [job for model in models for job in jobs_of_model(name, size, config, model)]


def jobs_of_model(name: str, size: DataSize, config: Mapping[str, Any], model: str) -> list[Job]:
    """Tuning, if the grid has more than a point, and final fit of a model."""
    entry, options = CATALOGUE[model], config["models"].get(model, {})
    rank, tuning = config["rank"], config["tuning"]
    ranks = ranks_of(model, size, config["ranks"], rank)
    start, heavy = cost.job_seconds()["start"], size.items > SMALL_ITEMS
    start += needs_gram(model, size) * triangle_bytes(size.items) / READ
    of_fit = size.of_fit(max(ranks) if entry.low_rank else 0)
    memory = entry.needed_bytes(of_fit, ranks, **options) + MARGIN * interactions_bytes(of_fit)
    found = []
    points = len(grid(options))
    if points > 1:
        per_job = points if tuning == "search" else config["points_per_job"]
        jobs = len(chunks(points, per_job))
        seconds = cost.tuning_seconds(model, size, ranks, rank, options, tuning) + jobs * start
        found.append(
            Job(name, model, "tune", jobs, seconds, seconds / jobs, heavy, PYTHON + memory)
        )
    chosen = 1 if entry.ranks is not entry.ranks.EACH else min(len(ranks), 3)
    seconds = start + cost.fit_seconds(model, size, ranks, options) * (1 if chosen == 1 else 1.1)
    seconds += cost.evaluation_seconds(model, size, ranks, options)
    disk = 100.0 * size.tested * len(ranks)
    disk += work.model_bytes(model, size, rank_of_table(rank, ranks), options)
    found.append(Job(name, model, "fit", 1, seconds, seconds, heavy, PYTHON + memory, disk))
    return found


def as_published_jobs(name: str, size: DataSize, config: Mapping[str, Any]) -> list[Job]:
    """Trainings of Steck 2020's Table 1 as published, with the optima, if every run has them."""
    asked, entry = config["steck2020"], config["datasets"][name]
    if not asked["as_published"] or entry["protocol"].get("split", "users") != "users":
        return []
    rank = rank_of_table(config["rank"], usable(size, [config["rank"], *config["ranks"]]))
    start, heavy = cost.job_seconds()["start"], size.items > SMALL_ITEMS
    memory = PYTHON + MARGIN * 5 * 8.0 * size.items**2
    rate, longest = cost.rate("attribution", size.items), max(asked["times"])
    split = start + work.attribution(size, rank, entry["paper"] is not None) / rate
    rows = [
        start + work.longer(size, rank, row, STARTS, longest) / rate
        for row in work.PUBLISHED_EPOCHS
    ]
    splits = asked["splits"]
    jobs = ("split", splits, splits * split, split), ("row", len(rows), sum(rows), max(rows))
    return [
        Job(name, PAPERS, f"steck2020_attribution_{rule}", number, seconds, chain, heavy, memory)
        for rule, number, seconds, chain in jobs
    ]


def needs_gram(model: str, size: DataSize) -> bool:
    """Whether the jobs of a model read X'X: not if it is fitted from X, or from users × users."""
    entry = CATALOGUE[model]
    return entry.gram and not (entry.full_rank and work.is_dual(size))


READ = 1e9  # bytes per second of reading X'X with its checksum, from a file in memory


def usable(size: DataSize, ranks: Sequence[int]) -> list[int]:
    """Distinct ranks that the data allow, ascending; rank 1 if they allow none."""
    most = min(size.items, size.train_users)
    return sorted({rank for rank in ranks if rank < most}) or [1]


def ranks_of(model: str, size: DataSize, ranks: Sequence[int], rank: int) -> list[int]:
    """Ranks at which a model is fitted; for one without a rank, the number of items."""
    entry = CATALOGUE[model]
    if not entry.low_rank:
        return [size.items]
    found = usable(size, [rank, *ranks])
    return [rank_of_table(rank, found)] if entry.one_rank else found


def _experiment(one: Experiment) -> Job:
    return Job(
        "", PAPERS, one.rule, one.jobs, one.jobs * one.seconds, one.seconds, False, one.memory
    )
