# Functions that the rules share. No rule stands here.
import functools
import hashlib

import yaml
from snakemake.logging import logger

from lindrop.workflow.config import (
    SCHEMA,
    checked,
    download_name,
    downloads,
    duplicate_keys,
    load_schema,
)
from lindrop.data.fetch import files_below
from lindrop.base.digest import imports_digest
from lindrop.base.errors import UserError
from lindrop.ranking.grids import chunks, grid
from lindrop.models.catalogue import TORCH as DEEP
from lindrop.papers.pretorius2018.kinds import kinds
from lindrop.claims.register import read_papers

if " " in sys.executable:
    sys.exit(
        f"lindrop: error: {sys.executable}: Snakemake cannot start a Python whose path has a space; "
        "move the project to a folder without one"
    )

try:
    for file in workflow.configfiles:
        duplicate_keys(Path(file).read_text(encoding="utf-8"), str(file))
    # in place: scripts see the same configuration, defaults included
    config.update(checked(config, load_schema(SCHEMA)))
except UserError as error:
    sys.exit(f"lindrop: error: {error}")


RESULTS = workflow.pathvars.apply(str(workflow.modifier.modify_path("<results>")))
DATASETS = config["datasets"]
MODELS = ["popularity", *(model for model in config["models"] if model not in DEEP)]
SYNTHETIC = [
    name for name, entry in DATASETS.items() if entry["source"]["format"] == "synthetic"
]
FROM_FILES = [name for name in DATASETS if name not in SYNTHETIC]
DOWNLOADS = downloads(config)


@functools.cache
def code(script):
    """Hash of the library modules behind a script: their change reruns the rule."""
    return imports_digest(WORKFLOW / "scripts" / script, WORKFLOW)


def one_of(names):
    """Regular expression of exactly these names (of nothing if there are none)."""
    return "|".join(map(re.escape, names)) or "(?!)"


def source(*keys):
    """Some of a dataset's source, by name, as a function of the wildcards.

    Names are part of the parameter: Snakemake compares the set of values, and two keys that swap
    their values would look unchanged.
    """
    return lambda wildcards: {
        key: DATASETS[wildcards.dataset]["source"][key]
        for key in keys
        if key in DATASETS[wildcards.dataset]["source"]
    }


def protocol(wildcards):
    """A dataset's protocol, by name."""
    return DATASETS[wildcards.dataset]["protocol"]


def local_copy(entry, name):
    """A file on this machine: `path`, else found in `data_dir` or its folder `name`, else None.

    It is flagged as local, so that no prefix of a module goes before it.
    """
    if entry["path"] is not None:
        return local(entry["path"])
    if config["data_dir"] is not None:
        downloaded = download_name(entry["url"])
        folder = Path(config["data_dir"])
        for file in (folder / downloaded, folder / name / downloaded):
            if file.is_file():
                return local(str(file))
    return None


def local_file(name):
    """A dataset's file on this machine, or None."""
    return local_copy(DATASETS[name]["source"], name)


def download(entry):
    """Where a download is kept."""
    return f"<results>/downloads/{download_name(entry['url'])}"


def source_file(wildcards):
    """The dataset's file: local, else to be downloaded."""
    return local_file(wildcards.dataset) or download(
        DATASETS[wildcards.dataset]["source"]
    )


def source_url(wildcards):
    """The note from where a download came; nothing for a local file."""
    return [] if local_file(wildcards.dataset) else f"{source_file(wildcards)}.url"


def image_files(wildcards):
    """Every part of a set of images: local, else to be downloaded, with the note from where."""
    files = {}
    for part, entry in config["images"][wildcards.images].items():
        copy = local_copy(entry, wildcards.images)
        files[part] = copy or download(entry)
        if not copy:
            files[f"{part}_url"] = f"{download(entry)}.url"
    return files


# When a job fails, Snakemake deletes what it had made before, but would not miss that beside an older
# result of a later job. So every job on the way from a file to a result has as a parameter all that
# led to its input: it then asks for it again, and fails again, until the mistake is mended.


def file_state(file):
    """What tells that a local file, or one in a local folder, changed; nothing of a download."""
    files = files_below(Path(file)) if file else []
    return [(f.name, f.stat().st_size, f.stat().st_mtime_ns) for f in files]


def source_state(name):
    """The same, with where the file comes from, what is known of it and how it is read."""
    source = DATASETS[name]["source"]
    known = {key: source[key] for key in source if key != "mirrors"}
    return {
        "source": known,
        "files": file_state(local_file(name) if name in FROM_FILES else None),
    }


def dataset_state(name):
    """The same, with the protocol and the code (and the seed of what is generated)."""
    first = "generate_interactions.py" if name in SYNTHETIC else "read_interactions.py"
    return source_state(name) | {
        "protocol": DATASETS[name]["protocol"],
        "code": [code(first), code("split.py")],
        "seed": config["seed"] if name in SYNTHETIC else None,
    }


def images_state(name):
    """What tells a set of images from another, and how it is read."""
    parts = config["images"][name]
    return {
        part: [
            {key: entry[key] for key in entry if key != "mirrors"},
            file_state(local_copy(entry, name)),
        ]
        for part, entry in parts.items()
    } | {"code": code("read_images.py")}


def image_set_state(name):
    """Of the images that a network of Pretorius 2018 sees."""
    return {
        "settings": config["pretorius2018"][name],
        "images": None if name == "synthetic" else images_state(name),
        "code": code("pretorius2018_images.py"),
        "seed": config["seed"],
    }


def network_state(name):
    """The same, with the code that trains."""
    return image_set_state(name) | {"train": code("pretorius2018_train.py")}


def networks(activation):
    """The trained networks of one activation on every set."""
    folder = "<results>/experiments/pretorius2018/networks"
    return [
        f"{folder}/{name}/{activation}/{kind}.h5"
        for name in config["pretorius2018"]["images"]
        for kind in kinds(config["pretorius2018"][name]["network"]["noise"])
    ]


def gram_state(name):
    """The same, with the code that counts X'X and decomposes it."""
    return dataset_state(name) | {
        "caches": [code("gram.py"), code("spectrum.py")],
        "ranks": [config["rank"], *config["ranks"]],
    }


def model_state(name, model):
    """The same, with how a model was tuned."""
    return gram_state(name) | {
        "options": model_options(model),
        "tune": code("tune.py"),
        "seed": config["seed"],
    }


def results_state(models):
    """Fingerprint of all that led to the metrics of these models on every dataset."""
    fit = code("fit.py")
    states = [(fit, model_state(name, model)) for name in DATASETS for model in models]
    return hashlib.sha256(repr(states).encode()).hexdigest()


def deep_state(name, model):
    """Fingerprint of all that leads to the metrics of a deep model, which needs no X'X."""
    scripts = [code("tune_deep.py"), code("fit_deep.py")]
    state = dataset_state(name), deep_options(model), scripts, config["seed"]
    return hashlib.sha256(repr(state).encode()).hexdigest()


def deep_metrics():
    """What `make deep` left, with the fingerprints by which the table leaves out what is outdated.

    No inputs: the default run neither waits for PyTorch nor trains for hours.
    """
    return {
        file: {"state": deep_state(name, model), "file": file_state(file)}
        for name in DATASETS
        for model in DEEP
        if Path(file := f"{RESULTS}/metrics/{name}/{model}.h5").exists()
    }


def of_dataset(state):
    """A state as a function of the wildcards."""
    return lambda wildcards: state(wildcards.dataset)


def gram_shards(wildcards):
    """The parts of X'X that are added up; none where one job counts it all."""
    shards = config["gram_shards"]
    names = [f"{wildcards.dataset}.{shard}-of-{shards}" for shard in range(shards)]
    return [f"<results>/gram/{name}.h5" for name in names] if shards > 1 else []


def model_options(model):
    """A model's grid and solver options; those that it leaves out have none."""
    return config["models"].get(model, {})


def deep_options(model):
    """The same, with the number of threads."""
    return model_options(model) | {"threads": DEEP_THREADS}


def points_per_job(model):
    """One for deep models, whose training resumes from a file of its own."""
    return 1 if model in DEEP else config["points_per_job"]


def points_of(model, chunk):
    """Which points of the grid a tuning job takes."""
    n_points = len(grid(model_options(model)))
    return chunks(n_points, points_per_job(model))[chunk]


def tuning_chunks(wildcards):
    """Every tuning job of a model; none where its grid leaves no choice."""
    n_points = len(grid(model_options(wildcards.model)))
    if n_points == 1:
        return []
    n_chunks = len(chunks(n_points, points_per_job(wildcards.model)))
    folder = f"<results>/tuning/{wildcards.dataset}/{wildcards.model}"
    return [f"{folder}/{chunk}.csv" for chunk in range(n_chunks)]


def claims_of(files, schema):
    """What the papers say."""
    try:
        return read_papers(files, schema)
    except UserError as error:
        sys.exit(f"lindrop: error: {error}")


def check_files(papers):
    """Where the checks of all claims are."""
    return [
        f"<results>/experiments/{paper.id}/{name}.json"
        for paper in papers
        for name in paper.checks
    ]


def reported():
    """The figures and tables of Snakemake's report, with their labels, in the order of the rules."""
    return {
        file: ": ".join(file.flags["report"].labels.values())
        for own in vars(rules)["_rules"].values()
        for file in own.rule.output
        if "report" in file.flags
    }


def repeat_errors(since):
    """Say the error lines of this run's logs once more: Snakemake buries them.

    By its own logger, so that they come after all that it says of the same failures.
    """
    for log in sorted(Path(RESULTS, "logs").rglob("*.log")):
        if log.stat().st_mtime >= since:
            for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
                if match := re.search(r"^[\d:]+ error: (.*)", line):
                    logger.error(f"lindrop: error: {match[1]} (log: {log})")


def tell_results(since):
    """At the end of a run that made the page: how many claims hold and where to look.

    `make` says the same, also where nothing was to be done.
    """
    page, card = Path(RESULTS, "report", "index.html"), Path(RESULTS, "scorecard.md")
    if (
        "MAKELEVEL" not in os.environ
        and page.exists()
        and page.stat().st_mtime >= since
    ):
        summary = card.read_text(encoding="utf-8").splitlines()[2]
        print(
            f"{summary}\nAll of it, figures and tables included: {page}",
            file=sys.stderr,
        )
