# What jobs ask for: threads, memory, time and disk. No rule stands here.
from dataclasses import dataclass, field

from lindrop.data.synthetic.recipe import PRESETS
from lindrop.base.memory import RETRIED, job_megabytes
from lindrop.models.torch.memory import training_bytes

# Heavy rules take every core: locally, two of them never run (and fill the memory) at once.
SMALL_ITEMS = 4000
CLUSTER = workflow.resource_settings.nodes is not None  # --jobs
# On a cluster, --cores is what one job takes. Within the job, Snakemake sees the whole node, and Slurm
# says what is the job's. Where a user starts Snakemake within an allocation, --cores is what counts.
OF_JOB = os.environ.get("SLURM_CPUS_PER_TASK") if workflow.remote_exec else None
HEAVY = int(OF_JOB or workflow.resource_settings.cores or 8)
if workflow.remote_exec:
    os.environ[RETRIED] = "with more memory"
# Tuning takes longest. Begun before the experiments of the papers, it leaves no core without work at
# the end of a run.
FIRST = 1
# The last digits of a deep training depend on their number, so it is not the machine's.
DEEP_THREADS = 2


def grows(amount):
    """An amount of memory (MB) or time (minutes) of which every further attempt gets more."""
    return lambda wildcards, attempt: attempt * amount


LIGHT = {"mem_mb": grows(1000), "runtime": grows(10), "disk_mb": 20}


def text_mb(path):
    """Size of the text in a file or folder: archives hold about four times what they weigh."""
    packed = {".zip": 4, ".gz": 4, ".tgz": 4, ".parquet": 12}
    return sum(
        file.stat().st_size * packed.get(file.suffix.lower(), 1) / 1e6
        for file in files_below(Path(path))
    )


def generated_rows(wildcards):
    """Interactions that the generator is asked for."""
    asked = DATASETS[wildcards.dataset]["source"]
    return asked["interactions"] or PRESETS[asked["preset"]].interactions


def items_of(split):
    """Items of a split that exists; until then the memory of a job is not known."""
    from lindrop.store.split import read_split_facts  # slow, and often not needed

    Path(split).stat()
    return read_split_facts(split)[0].items


def largest_rank(split):
    """Of the low-rank models of a split that exists."""
    return min(max([config["rank"], *config["ranks"]]), items_of(split))


def gram_mb(wildcards, input, attempt, largest_rank=0, matrices=1):
    """X'X, what a solver keeps beside it, and the interactions."""
    split_bytes = Path(input.split).stat().st_size
    items = items_of(input.split)
    return attempt * job_megabytes(split_bytes, items, largest_rank, matrices)


def fit_mb(wildcards, input, attempt):
    """The same with the factors of the largest rank, whether a model has them or not."""
    model = wildcards.model
    matrices = max(1, CATALOGUE[model].matrices_of(model_options(model)))
    return gram_mb(wildcards, input, attempt, largest_rank(input.split), matrices)


def deep_mb(wildcards, input, attempt):
    """A network with all that trains it, beside PyTorch and the interactions."""
    from lindrop.store.split import read_split_facts  # slow, and often not needed

    split_bytes = Path(input.split).stat().st_size
    counts, options = read_split_facts(input.split)[0], model_options(wildcards.model)
    sizes = (options.get(key, 0) for key in ("batch", "latent", "hidden"))
    network = training_bytes(wildcards.model, counts.items, counts.users, *sizes) / 1e6
    return attempt * (400 + job_megabytes(split_bytes, 0) + 1.1 * network)


def deep_disk_mb(wildcards, input):
    """A checkpoint and the next, or the model."""
    return 30 + 2 * deep_mb(wildcards, input, attempt=1)


def spectrum_mb(wildcards, input, attempt):
    """The same with the eigenvectors."""
    return gram_mb(wildcards, input, attempt, largest_rank(input.split))


def similarity_mb(wildcards, input, attempt):
    """B of one dataset at a time, and where there are few items X'X in float64."""
    largest = max(Path(file).stat().st_size for file in input.full)
    return attempt * (1500 + 2.5e-6 * largest)


def matrix_mb(wildcards, input):
    """X'X, B or every eigenvector on disk, and metrics per user."""
    return 30 + 8 * items_of(input.split) ** 2 / 1e6


def most_items(wildcards, input=None):
    """Of the split where there is one; until then what the configuration says, which none exceeds."""
    if input is not None and Path(input.split).exists():
        return items_of(input.split)
    source = DATASETS[wildcards.dataset]["source"]
    if wildcards.dataset in SYNTHETIC:
        return source["items"] or PRESETS[source["preset"]].items
    return source["items"] or float("inf")


def is_small(wildcards, input=None):
    """Whether fits of a dataset can do with one core each."""
    return most_items(wildcards, input) <= SMALL_ITEMS


def fit_threads(wildcards, input):
    """Fits of small data run side by side on a core each, others take every core."""
    return 1 if is_small(wildcards, input) else HEAVY


def fit_minutes(wildcards, input, points):
    """An hour for any number of points of a small grid, or for each of a large one."""
    return 60 if is_small(wildcards, input) else 60 * points


def deep_minutes(wildcards, input, attempt):
    """Days for large data; every attempt goes on where the one before was stopped."""
    return attempt * (60 if is_small(wildcards, input) else 2880)


def on_cluster(group, of=lambda wildcards: True):
    """Small jobs that a cluster runs as one; without a cluster, none: a dry run would show it.

    Groups are made before there is a split: of such jobs, the configuration alone decides.
    """
    return lambda wildcards: group if CLUSTER and of(wildcards) else None


@dataclass(frozen=True)
class Job:
    """How a figure is made that needs more than its settings: from which results, with how much."""

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
        """Whether a cluster's submitting machine makes it: it only draws what others computed."""
        return bool(self.input) and not self.heavy

    @property
    def group(self):
        """The experiments that need no input are one job of a cluster."""
        return None if self.heavy or self.input else on_cluster("experiments")


# By figure, <paper>_<figure>: the papers' own rules say what theirs are made from.
JOBS = {}
