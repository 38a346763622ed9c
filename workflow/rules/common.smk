# The checked configuration, and functions of it that several rules use. This file has no rules.
import csv

import yaml
from snakemake.logging import logger

from lindrop.configuration.config import (
    OTHER_FILES,
    checked,
    download_name,
    downloads,
)
from lindrop.base.records import mark, require_records
from lindrop.base.error_file import begin_run, damaged_of_run, errors_of_run
from lindrop.configuration.command_line import typed
from lindrop.configuration.schema import load_schema
from lindrop.base.errors import UserError
from lindrop.ranking.grids import chunks, grid
from lindrop.ranking.metrics import DEFAULT as PUBLISHED_METRICS
from lindrop.models.catalogue import CATALOGUE, TORCH as DEEP
from lindrop.claims.media import paper_of
from lindrop.claims.summary import last_words
from lindrop.papers.catalogue import FOLDER as PAPERS_FOLDER
from lindrop.papers.catalogue import (
    PAPERS,
    Table,
    check_modules,
    module_name,
    module_of,
)

if " " in sys.executable:
    sys.exit(
        f"lindrop: error: {sys.executable}: Snakemake cannot start a Python whose path has a space; "
        "move the project to a folder without one"
    )

for file in workflow.configfiles:
    check_configuration(file)
# What the configuration says of tuning, before the defaults are filled in: a budget leaves it as it is.
GIVEN = [key for key in ("rank", "ranks", "tuning") if key in config]
GIVEN += list(config.get("models") or {})
BUDGET_GIVEN = "budget" in (config.get("compare") or {})
try:
    # changed in place, so that scripts see the defaults as well
    config.update(
        checked(typed(config, workflow.config_settings.config), load_schema())
    )
except UserError as error:
    sys.exit(f"lindrop: error: {error}")


RESULTS = real("<results>")
DATASETS = config["datasets"]
check_folders(DATASETS)
if workflow.is_main_process:  # its jobs have made results already when they read this
    try:
        require_records(Path(RESULTS))
    except UserError as error:
        sys.exit(f"lindrop: error: {error}")
MODELS = [model for model in CATALOGUE if model not in DEEP]
# Datasets whose training users are tested as well: tuning fits their models to fewer interactions.
WEAK = [
    name for name, entry in DATASETS.items() if entry["protocol"]["split"] != "users"
]
SYNTHETIC = [
    name for name, entry in DATASETS.items() if entry["source"]["format"] == "synthetic"
]
FROM_FILES = [name for name in DATASETS if name not in SYNTHETIC]
DOWNLOADS = downloads(config)
CRITERION = config["criterion"]
# Tuning measures the criterion and the published metrics, so that another metric to be shown does
# not make it run again. The published ones are always tested: the papers' tables show them.
TUNED_BY = list(dict.fromkeys([*PUBLISHED_METRICS, CRITERION]))
TESTED_BY = list(dict.fromkeys([*config["metrics"], *TUNED_BY]))
# Models that `snakemake compare` shows. Unless the configuration names some, Table 1 shows them, too.
SOME_COMPARED = config["compare"]["models"]
# Datasets whose models, grids and ranks a budget chooses: by default the user's own tables.
OWN_FORMATS = ("csv", "tsv", "parquet", "adjacency")
BUDGETED = [
    name
    for name in FROM_FILES
    if config["compare"]["budget"] is not None
    and (BUDGET_GIVEN or DATASETS[name]["source"]["format"] in OWN_FORMATS)
]
ONLY_SOME = bool(SOME_COMPARED or BUDGETED)
# Names of the figures and tables about the datasets, which `snakemake compare` makes.
COMPARED = [
    "dataset_long_tails",
    "compare",
    "compare_costs",
    "compare_groups",
    "datasets",
    *(
        f"{paper}_{name}"
        for paper, rows in PAPERS.items()
        for name, row in rows.items()
        if isinstance(row, Table)
        and row.compared
        and not (ONLY_SOME and (paper, name) == ("steck2020", "table1"))
    ),
]
# Files made by the target of each paper, those that only `make deep` makes, and those that only a
# target of their own makes. Filled by the papers' rules.
PAPER_RESULTS = {paper: [] for paper in PAPERS}
DEEP_RESULTS = []
ASKED_RESULTS = {
    name: []
    for rows in PAPERS.values()
    for name, row in rows.items()
    if not isinstance(row, Table) and row.asked
}
# Those of the latter that every run makes.
EVERY_RUN = (
    ["attribution"]
    if config["steck2020"]["as_published"] and len(WEAK) < len(DATASETS)
    else []
)


def one_of(names):
    """Regular expression that matches these names only; it matches nothing if there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


def source(*keys):
    """Function of the wildcards that returns some keys of a dataset's source.

    Names are part of the parameter: Snakemake compares the set of values, and two keys that swap
    their values would look unchanged.
    """
    return lambda wildcards: {
        key: DATASETS[wildcards.dataset]["source"][key]
        for key in keys
        if key in DATASETS[wildcards.dataset]["source"]
    }


def protocol(wildcards):
    """Protocol of a dataset, as configured."""
    return DATASETS[wildcards.dataset]["protocol"]


def local_copy(entry, name):
    """File on this machine: `path`, or one found in `data_dir` or its folder `name`; else None.

    It is flagged as local, so that no prefix of a module goes before it.
    """
    if entry["path"] is not None:
        return local(entry["path"])
    if config["data_dir"] is not None:
        downloaded = download_name(entry["url"])
        folder = Path(config["data_dir"])
        for file in (downloaded, f"{name}/{downloaded}"):
            for copy in (folder / file, folder / f"{file}.gz"):
                if copy.is_file():
                    return local(str(copy))
    return None


def is_packed(entry, name):
    """Whether the local copy of a file is gzipped, while its download is not."""
    copy = local_copy(entry, name)
    return copy is not None and Path(copy).name == f"{copied_name(entry)}.gz"


def copied_name(entry):
    """Name under which `data_dir` is searched for a file; None for a file with a path."""
    return None if entry["path"] is not None else download_name(entry["url"])


def local_file(name):
    """File of a dataset on this machine, or None."""
    return local_copy(DATASETS[name]["source"], name)


def download(entry):
    """Place of a downloaded file."""
    return DOWNLOAD.format(file=download_name(entry["url"]))


def source_file(wildcards):
    """File of a dataset: on this machine if it is there, else the place of its download."""
    return local_file(wildcards.dataset) or download(
        DATASETS[wildcards.dataset]["source"]
    )


def source_url(wildcards):
    """File that notes the URL of a download; an empty list for a file on this machine."""
    return [] if local_file(wildcards.dataset) else f"{source_file(wildcards)}.url"


def other_entries(dataset):
    """Entries of the files of a dataset beside its training file, by part."""
    source = DATASETS[dataset]["source"]
    return {part: source[part] for part in OTHER_FILES if source.get(part) is not None}


def other_files(wildcards):
    """Files of a dataset beside its training file, by part."""
    return {
        part: local_copy(entry, wildcards.dataset) or download(entry)
        for part, entry in other_entries(wildcards.dataset).items()
    }


def other_urls(wildcards):
    """Notes of the URLs of those that are downloaded, by part."""
    return {
        f"{part}_url": f"{download(entry)}.url"
        for part, entry in other_entries(wildcards.dataset).items()
        if not local_copy(entry, wildcards.dataset)
    }


def check_columns():
    """End with one line where a file on this machine lacks a column, before any job starts."""
    from lindrop.data.headers import check_headers  # slow, and not needed by jobs

    for name in FROM_FILES:
        entry = DATASETS[name]
        others = [local_copy(other, name) for other in other_entries(name).values()]
        for file in filter(None, [local_file(name), *others]):
            try:
                check_headers(
                    Path(file), entry["source"], entry["protocol"]["min_rating"]
                )
            except UserError as error:
                sys.exit(f"lindrop: error: dataset {name}: {error}")


def expected_of_others(wildcards):
    """Size and checksums of these files, by part."""
    return {
        part: {fact: entry[fact] for fact in ("bytes", "sha256", "md5")}
        for part, entry in other_entries(wildcards.dataset).items()
    }


def packed_files(wildcards):
    """Files of a dataset, by name of the rule's input, that are gzipped copies of a download."""
    name = wildcards.dataset
    entries = {"file": DATASETS[name]["source"], **other_entries(name)}
    return [part for part, entry in entries.items() if is_packed(entry, name)]


def layout(wildcards):
    """Format of a dataset's files and its columns, with the times where its split needs them."""
    found = source("format", "user", "item", "rating")(wildcards)
    if protocol(wildcards)["split"] in ("time", "leave_last"):
        of_format = "timestamp" if found["format"] == "movielens" else None
        entry = DATASETS[wildcards.dataset]["source"]
        found["time"] = entry.get("time", of_format)
    return found


def needed_gram(wildcards, file):
    """X'X, if the model is fitted from it; an empty list for a fit from X or from users × users."""
    entry, choice = CATALOGUE[wildcards.model], CHOICES.get(wildcards.dataset)
    from_users = entry.full_rank and choice is not None and choice["dual"]
    return file if entry.gram and not from_users else []


def needed_spectrum(wildcards, file):
    """Spectrum of X'X, if the model is fitted from it, else an empty list."""
    return file if CATALOGUE[wildcards.model].spectrum else []


def fitting_gram(wildcards):
    """X'X of the training users, from which the chosen point of a model is fitted."""
    return needed_gram(wildcards, GRAM)


def fitting_spectrum(wildcards):
    """Spectrum of the X'X of the training users."""
    return needed_spectrum(wildcards, SPECTRUM)


def tuning_gram(wildcards):
    """X'X that tuning fits to: of a weak split, without the interactions that judge it."""
    gram = GRAM_OF_TUNING if wildcards.dataset in WEAK else GRAM
    return needed_gram(wildcards, gram)


def tuning_spectrum(wildcards):
    """Spectrum of the X'X that tuning fits to."""
    spectrum = SPECTRUM_OF_TUNING if wildcards.dataset in WEAK else SPECTRUM
    return needed_spectrum(wildcards, spectrum)


def tuning_part(wildcards):
    """Part of the split that tuning fits to."""
    return "validation/fold_in" if wildcards.dataset in WEAK else "train"


def image_files(wildcards):
    """Files of an image set by part, with the note of its URL for each one that is downloaded."""
    files = {}
    for part, entry in config["images"][wildcards.images].items():
        copy = local_copy(entry, wildcards.images)
        files[part] = copy or download(entry)
        if not copy:
            files[f"{part}_url"] = f"{download(entry)}.url"
    return files


def deep_metrics():
    """Metrics that `make deep` made, with fingerprints by which Table 1 leaves out outdated ones.

    They are parameters, not inputs: the default run neither needs PyTorch nor trains for hours.
    """
    return {
        file: {
            "state": lineage("fit_deep", dataset=name, model=model),
            "file": file_state(file),
        }
        for name in DATASETS
        for model in DEEP
        if Path(file := real(METRICS, dataset=name, model=model)).exists()
    }


def gram_shards(wildcards):
    """Files of the parts of X'X that are added up; none if one job computes all of it."""
    shards, dataset = config["gram_shards"], wildcards.dataset
    parts = range(shards if shards > 1 else 0)
    return collect(GRAM_SHARD, dataset=dataset, shard=parts, shards=shards)


def model_shards(wildcards):
    """Files of the parts of a model that are joined; none if one job fits all of it."""
    shards = config["model_shards"] if CATALOGUE[wildcards.model].columns else 1
    parts = range(shards if shards > 1 else 0)
    return collect(MODEL_SHARD, **wildcards, shard=parts, shards=shards)


def deep_options(model):
    """Configured options of a deep model, and its number of threads."""
    return config["models"].get(model, {}) | {"threads": DEEP_THREADS}


def points_per_job(dataset, model):
    """Points of a grid in one tuning job; one for deep models, each with its own checkpoint.

    A search takes all points, as each fit decides which point is next.
    """
    if model in DEEP:
        return 1
    how = tuned(dataset, model)
    if how["tuning"] == "search":
        return max(1, len(grid(how["options"])))
    return config["points_per_job"]


def points_of(wildcards):
    """Range of the grid's points that a tuning job takes."""
    dataset, model = wildcards.dataset, wildcards.model
    n_points = len(grid(tuned(dataset, model)["options"]))
    return chunks(n_points, points_per_job(dataset, model))[int(wildcards.chunk)]


def tuning_chunks(wildcards):
    """Results of the tuning jobs of a model; none if its grid has a single point."""
    dataset, model = wildcards.dataset, wildcards.model
    n_points = len(grid(tuned(dataset, model)["options"]))
    n_chunks = len(chunks(n_points, points_per_job(dataset, model)))
    jobs = range(n_chunks if n_points > 1 else 0)
    return collect(TUNING, **wildcards, chunk=jobs)


def paper_settings(paper, names):
    """Configured values of these names, from the section of a paper or else from the top level."""
    own = config.get(paper, {})
    return {name: own.get(name, config.get(name)) for name in names}


def media_files(path, name, category, labels, ends):
    """Files of a figure or a table by file ending; the first one is shown on the pages."""
    files = {end: path.format(name=name, end=end) for end in ends}
    shown = {"caption": f"../report/{name}.rst", "category": category, "labels": labels}
    return files | {ends[0]: report(files[ends[0]], **shown)}


def figure_files(name, category, **labels):
    """Files of a figure: png for the pages, pdf for printing, csv with its data."""
    return media_files(FIGURE, name, category, labels, ("png", "pdf", "csv"))


def table_files(name, category, **labels):
    """Files of a table: html, csv, Markdown and LaTeX."""
    return media_files(TABLE, name, category, labels, ("html", "csv", "md", "tex"))


def checks_of(papers):
    """Files of checks of these papers, without those that only `make deep` makes."""
    files = [str(file) for paper in papers for file in PAPER_RESULTS[paper]]
    return [file for file in files if file.endswith(".json")]


def deep_results(end):
    """Files with this ending that `make deep` made, or a target such as `attribution`.

    They are parameters, not inputs: the default run neither needs PyTorch nor trains for hours.
    """
    files = [real(file) for file in DEEP_RESULTS if file.endswith(end)]
    asked = [name for name in ASKED_RESULTS if name not in EVERY_RUN]
    files += [file for name in asked for file in asked_results(name, end)]
    return [file for file in files if Path(file).exists()]


def asked_results(name, end):
    """Files with this ending that a target of its own made, if it made them from these datasets."""
    files = [real(file) for file in ASKED_RESULTS[name]]
    (numbers,) = (Path(file) for file in files if file.endswith(".csv"))
    try:
        lines = numbers.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    made_from = {line.partition(",")[0] for line in lines[1:]}
    return (
        [file for file in files if file.endswith(end)]
        if made_from <= {*DATASETS}
        else []
    )


def on_page(page, file):
    """Whether a page shows a figure or a table."""
    name = Path(file).stem
    if page == "compare":
        return name in COMPARED
    if name in ("compare", "compare_costs", "compare_groups", "datasets"):
        return False
    return page == "index" or name.startswith(f"{page}_")


def reported():
    """Figures and tables of the report by file, with their labels, in the order of the rules."""
    return {
        file: ": ".join(file.flags["report"].labels.values())
        for own in vars(rules)["_rules"].values()
        for file in own.rule.output
        if "report" in file.flags
    }


def repeat_errors():
    """Repeat the errors of this run's jobs at its end, where a user looks for them.

    Snakemake's own logger prints them after everything it says about the same failures.
    """
    for log, message in errors_of_run().items():
        logger.error(f"lindrop: error: {message} (log: {log})")


def delete_damaged():
    """Delete the results that jobs of this run found damaged, so that the next run makes them anew.

    At the end of the run, as a job that starts now could not say what became of its input.
    """
    for file in damaged_of_run():
        if Path(RESULTS).resolve() in file.resolve().parents and file.is_file():
            file.unlink()
            logger.error(f"lindrop: {file} was damaged and is deleted: run again")


def tell_results():
    """Print where the pages are at the end of a run, and the number of claims that hold.

    `make` says this itself, as Snakemake calls no handler where nothing was to be done.
    """
    made = {job.rule.name for job in workflow.dag.finished_jobs}
    for page in PAGES if "MAKELEVEL" not in os.environ else []:
        if f"{page}_page" in made:
            whole = page == "index"
            place = real(PAGE, page=page)
            print(last_words(Path(RESULTS)) if whole else place, file=sys.stderr)
    if "compare_page" in made:
        tell_winners()


def tell_winners():
    """Print the best model of each dataset that was compared, and how to recommend by it."""
    import pandas as pd  # slow, and not often needed
    from lindrop.output.winner import words

    lines = pd.read_csv(real(TABLE, name="compare", end="csv"), dtype={"dataset": str})
    for dataset, rows in lines.groupby("dataset", sort=False):
        print(f"{dataset}: {' '.join(words(rows, CRITERION))}", file=sys.stderr)
    given = "".join(f" {os.path.relpath(file)}" for file in workflow.configfiles)
    command = f"snakemake --cores {HEAVY} recommend --configfile{given}"
    print(f"next: {command}", file=sys.stderr)


if workflow.is_main_process:
    check_columns()


def best_compared():
    """The best model of each dataset in the comparison that was made last."""
    found = {}
    try:
        with open(real(TABLE, name="compare", end="csv"), encoding="utf-8") as file:
            for row in csv.DictReader(file):  # the best model of a dataset comes first
                found.setdefault(row["dataset"], row["model"])
    except (OSError, ValueError, KeyError):
        pass
    return found


def recommending():
    """The models that recommend, by dataset: those that are named, else the best one, else EASE."""
    best, named = best_compared(), config["recommend"]["models"]
    return {
        dataset: named or [best[dataset] if best.get(dataset) in CATALOGUE else "ease"]
        for dataset in DATASETS
    }


def recommended():
    """Files of recommendations."""
    return [
        RECOMMENDATIONS.format(dataset=dataset, model=model)
        for dataset, models in recommending().items()
        for model in models
    ]


def tell_recommending():
    """Print which model recommends where the configuration names none, and if it was chosen on older data."""
    if config["recommend"]["models"] is not None:
        return
    jobs = {(job.rule.name, *job.wildcards) for job in workflow.dag.needrun_jobs()}
    table = Path(real(TABLE, name="compare", end="csv"))
    best = best_compared()
    for dataset, (model,) in recommending().items():
        if ("recommend_users", dataset, model) not in jobs:
            continue
        split = Path(real(SPLIT, dataset=dataset))
        if best.get(dataset) != model:
            why = f"as {table} compares no models on it"
        elif ("split", dataset) in jobs or (
            split.stat().st_mtime > table.stat().st_mtime
        ):
            why = f"the best of {table}, which is of older data"
        else:
            why = f"the best of {table}"
        print(f"{dataset}: {model} recommends, {why}", file=sys.stderr)
