# Threads, memory, time and disk space that jobs request. This file has no rules.
import math
from dataclasses import dataclass, field, replace

from lindrop.data.synthetic.recipe import PRESETS
from lindrop.base.memory import RETRIED, resident_bytes
from lindrop.papers.steck2020.models import GAUGE_ITEMS
from lindrop.ranking.grids import rank_of_table
from lindrop.models import baseline
from lindrop.planning.cost import evaluation_seconds, fit_seconds
from lindrop.planning.plan import on
from lindrop.planning.plan import ranks_of as ranks_of_model
from lindrop.planning.sizes import planned_size
from lindrop.models.memory import (
    MARGIN,
    Size,
    gram_bytes,
    job_bytes,
    matrix_bytes,
    pattern_columns,
    pattern_joined,
    spectrum_bytes,
    triangle_bytes,
)

# Heavy rules take every core, so that no two of them fill the memory of a machine at once.
SMALL_ITEMS = 4000
CLUSTER = workflow.resource_settings.nodes is not None  # --jobs
# On a cluster, --cores is the number for one job. Within the job Snakemake sees the whole node, so the
# number is taken from Slurm's variable. If a user starts Snakemake in an allocation, --cores counts.
OF_JOB = os.environ.get("SLURM_CPUS_PER_TASK") if workflow.remote_exec else None
HEAVY = int(OF_JOB or workflow.resource_settings.cores or 8)
if workflow.remote_exec:
    os.environ[RETRIED] = "with more memory"
# Priority of data and models. Tuning takes longest; if it starts before the papers' experiments, no
# core is idle at the end of a run.
FIRST = 1
# Priority of the longest chain of jobs on small data: it takes as long as all others together.
LONGEST = FIRST + 1
# A job may take so many times its predicted time before a cluster ends it; the next attempt gets more.
SLACK = 4
# Threads of a deep training: a fixed number, since the last digits of its results depend on it.
DEEP_THREADS = 2


def grows(amount):
    """Function that requests an amount of memory (MB) or time (minutes) times the attempt."""
    return lambda wildcards, attempt: attempt * amount


LIGHT = {"mem_mb": grows(1000), "runtime": grows(10), "disk_mb": 20}


def text_mb(path):
    """Megabytes of text in a file or folder; archives are taken to hold four times their size."""
    packed = {".zip": 4, ".gz": 4, ".tgz": 4, ".parquet": 12}
    return sum(
        file.stat().st_size * packed.get(file.suffix.lower(), 1) / 1e6
        for file in files_below(Path(path))
    )


def texts_mb(wildcards, input):
    """Megabytes of text in all files of a dataset; lists of items are taken for eight times more."""
    files = [input.file, *(input[part] for part in other_entries(wildcards.dataset))]
    lists = DATASETS[wildcards.dataset]["source"]["format"] == "adjacency"
    return (8 if lists else 1) * sum(map(text_mb, files))


def reading_mb(wildcards, input, attempt):
    """Megabytes for reading a dataset: of a folder with integer ids, the codes of its rows."""
    from lindrop.data.folders import rows_of_numbers  # slow, and often not needed
    from lindrop.data.tables import Columns

    asked, folder = DATASETS[wildcards.dataset]["source"], Path(input.file)
    if (
        asked["format"] == "parquet"
        and folder.is_dir()
        and not layout(wildcards).get("time")
    ):
        rows = rows_of_numbers(folder, Columns(asked["user"], asked["item"]))
        if rows is not None:
            return math.ceil(attempt * (1000 + 12e-6 * rows))
    return attempt * (500 + 1.3 * texts_mb(wildcards, input))


def splitting_mb(wildcards, input, attempt):
    """Megabytes for a split: of whole users, 20 bytes per interaction and the ids that are texts.

    Where repeats are looked for, the rows that stay are a copy.
    """
    from lindrop.store.interactions import read_numbers  # slow, and often not needed

    Path(
        input[0]
    ).stat()  # an error before the file exists, so Snakemake evaluates it later
    if wildcards.dataset not in WEAK:
        try:
            rows, texts = read_numbers(input[0])
            each = 20e-6 if protocol(wildcards)["repeats"] == "keep" else 30e-6
            return math.ceil(attempt * (1000 + each * rows + 300e-6 * texts))
        except UserError:  # the job that reads the file says that it is damaged
            pass
    return attempt * (500 + 18 * input.size_mb)


def generated_rows(wildcards):
    """Number of interactions that the generator makes for a dataset."""
    asked = DATASETS[wildcards.dataset]["source"]
    return asked["interactions"] or PRESETS[asked["preset"]].interactions


def size_of(split):
    """Size of a split; an error before it exists, so Snakemake evaluates it later.

    The counts of a damaged split are 0: the job that reads the split says that it is damaged.
    """
    from lindrop.store.split import read_size  # slow, and often not needed

    Path(split).stat()
    try:
        return read_size(split)
    except UserError:
        return Size(0, 0, 0)


def items_of(split):
    """Number of items of a split; an error before it exists, so Snakemake evaluates it later."""
    return size_of(split).items


def ranks_of_fits(size, rank, ranks):
    """Ranks of the low-rank models on data of a given size."""
    most = min(size.items, size.users)
    ranks = {rank, *ranks}
    return sorted(rank for rank in ranks if rank < most) or [1]


def job_mb(size, needed, attempt, deep=False):
    """Megabytes of a job: its process, and that of Snakemake, which waits for it in the job.

    On a cluster two of Snakemake wait, that of the scheduler's script and that of the job.
    """
    waiting = (2 if CLUSTER or workflow.remote_exec else 1) * resident_bytes()
    return math.ceil(attempt * (waiting + job_bytes(size, needed, deep)) / 1e6)


def begin_to_measure():
    """Measure, while the first jobs run, the memory of a job without data, if jobs are asked for it.

    Snakemake asks when there is a split. No job begins then until it is known.
    """
    if {"tune", "fit", "gram"} & {job.rule.name for job in workflow.dag.needrun_jobs()}:
        baseline.begin_to_measure()


def gram_mb(wildcards, input, attempt):
    """Megabytes for the interactions and X'X."""
    size = size_of(input.split)
    return job_mb(size, MARGIN * gram_bytes(size), attempt)


def shard_mb(wildcards, input, attempt):
    """Megabytes for solving one of the equal parts of a model."""
    size = size_of(input.split)
    options = tuned(wildcards.dataset, wildcards.model)["options"]
    columns = -(-size.items // int(wildcards.shards))
    return job_mb(size, MARGIN * pattern_columns(size, columns, options), attempt)


def shard_disk_mb(wildcards, input):
    """Megabytes on disk for one part of a model, with the ends of all rows."""
    items = items_of(input.split)
    options = tuned(wildcards.dataset, wildcards.model)["options"]
    most = min(max(options["neighbours"]), items)
    return 10 + 8e-6 * items * (1 + most / int(wildcards.shards))


def fit_mb(wildcards, input, attempt):
    """Megabytes for a fit and its evaluation, as the fit itself requires them."""
    size, entry = size_of(input.split), CATALOGUE[wildcards.model]
    if input.get("shards"):
        entry = replace(entry, memory=pattern_joined)
    how = tuned(wildcards.dataset, wildcards.model)
    ranks = ranks_of_fits(size, how["rank"], how["ranks"])
    if entry.spectrum:
        size = replace(size, eigenpairs=ranks[-1])
    if entry.one_rank:
        ranks = [rank_of_table(how["rank"], ranks)]
    needed = entry.needed_bytes(size, ranks, **how["options"])
    return job_mb(size, needed, attempt, entry.torch)


def deep_disk_mb(wildcards, input):
    """Megabytes on disk for two checkpoints, or for the model."""
    return 30 + 2 * fit_mb(wildcards, input, attempt=1)


def attribution_mb(wildcards, input, attempt):
    """Megabytes for X'X, its inverse and one more such matrix in float64, and for a fit's own."""
    size = size_of(input.split)
    return job_mb(size, MARGIN * 5 * 8 * size.items**2, attempt)


def spectrum_mb(wildcards, input, attempt):
    """Megabytes for X'X and its eigenvectors."""
    size = size_of(input.split)
    ranks = ranks_of_fits(size, config["rank"], ranks_of_dataset(wildcards.dataset))
    needed = matrix_bytes(size.items) + spectrum_bytes(size.items, ranks[-1])
    return job_mb(size, MARGIN * needed, attempt)


def similarity_mb(wildcards, input, attempt):
    """Megabytes for B of the largest dataset, and for the updates in float64 up to GAUGE_ITEMS.

    A file holds B as a triangle, in half the bytes.
    """
    sizes = [Path(file).stat().st_size for file in input.full]
    of_updates = [size for size in sizes if size <= 2.2 * GAUGE_ITEMS**2]
    needed = max(6 * max(sizes), 20 * max(of_updates, default=0))
    return attempt * (1500 + 1e-6 * needed)


def matrix_mb(wildcards, input):
    """Megabytes on disk for X'X, B in float64 or all eigenvectors, with the metrics per user."""
    return 30 + 2e-6 * triangle_bytes(items_of(input.split))


def model_disk_mb(wildcards, input):
    """Megabytes on disk for a model and its metrics: one fitted without X'X is never larger in memory."""
    if CATALOGUE[wildcards.model].gram:
        return matrix_mb(wildcards, input)
    return 30 + fit_mb(wildcards, input, attempt=1)


def most_items(wildcards, input=None):
    """Number of items of a split or, before it exists, the largest that is possible."""
    if input is not None and Path(input.split).exists():
        if items := items_of(input.split):
            return items
    source = DATASETS[wildcards.dataset]["source"]
    if wildcards.dataset in SYNTHETIC:
        return source["items"] or PRESETS[source["preset"]].items
    return source["items"] or float("inf")


def is_small(wildcards, input=None):
    """Whether a dataset is so small that each fit takes only one core."""
    return most_items(wildcards, input) <= SMALL_ITEMS


def fit_threads(wildcards, input):
    """Threads of a fit or of X'X: one on small data, so that jobs run side by side; else all cores.

    A job that asked for all cores would wait until no other job is left that takes one.
    """
    return 1 if is_small(wildcards, input) else HEAVY


def fit_minutes(wildcards, input, points):
    """Minutes for a tuning job: an hour, or several times what the fits of its points should take.

    For the low-rank solvers that grows with items² times the sum of the ranks.
    """
    if is_small(wildcards, input):
        return 60
    size = planned_size(size_of(input.split))
    how, model = tuned(wildcards.dataset, wildcards.model), wildcards.model
    ranks = ranks_of_model(model, size, how["ranks"], how["rank"])
    seconds = fit_seconds(model, size, ranks, how["options"])
    seconds += evaluation_seconds(model, size, ranks, how["options"])
    return max(60, math.ceil(SLACK * points * seconds * on(HEAVY) / 60))


def deep_minutes(wildcards, input, attempt):
    """Minutes for a deep training: days on large data; each attempt resumes the last one."""
    return attempt * (60 if is_small(wildcards, input) else 2880)


def on_cluster(group, of=lambda wildcards: True):
    """Group of small jobs that a cluster runs as one job; none without a cluster.

    Groups are made before there is a split: of such jobs, the configuration alone decides.
    """
    return lambda wildcards: group if CLUSTER and of(wildcards) else None


@dataclass(frozen=True)
class Job:
    """Inputs and resources of a figure that is made from other results or needs more of the machine."""

    input: dict = field(
        default_factory=dict
    )  # arguments of the module's `data`, by name
    lineage: object = None  # what led to the input
    settings: dict = field(default_factory=dict)  # more arguments of `data`
    heavy: bool = False  # a job of its own on a cluster
    threads: int = 1
    mem_mb: object = grows(1000)
    runtime: object = grows(60)

    @property
    def local(self):
        """Whether the machine that submits a cluster's jobs draws it: others computed its data."""
        return bool(self.input) and not self.heavy

    @property
    def group(self):
        """Group of the job: a cluster runs all light experiments without input as one job."""
        return None if self.heavy or self.input else on_cluster("experiments")


# Jobs that differ from the default, by figure (<paper>_<figure>). Filled by the papers' rules.
JOBS = {}
