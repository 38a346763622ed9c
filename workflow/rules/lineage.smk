# Fingerprints of all that leads to a file, which decide whether it is made again. No rules here.
#
# When a job fails, Snakemake deletes its old output. If a later result still exists, Snakemake would
# not ask for the deleted file again, and the failure would be forgotten. Therefore every job has as
# a parameter a fingerprint of all that leads to its output: the failed job is run again until it
# succeeds.
import functools
import hashlib

from lindrop.base.digest import digest, remember
from lindrop.data.archives import files_below
from lindrop.models.catalogue import CATALOGUE
from lindrop.planning.limit import FIT, times_left_out

remember(Path(".snakemake", "lindrop", "code.json"))
# Rows and options of all models. A model's jobs depend on its own row alone and have its options as
# parameters; what shows models depends on their titles (see `led_to_metrics`). The estimates of
# memory are left out as well, as they change no result.
ROWS = [
    WORKFLOW / "lindrop" / "models" / file
    for file in ("catalogue.py", "memory.py", "options.py")
]


@functools.cache
def code(script, *modules):
    """Hash of the code of a script, of modules that it imports by name, and of all they import."""
    return digest([WORKFLOW / "scripts" / script, *modules], WORKFLOW, without=ROWS)


@functools.cache
def code_of_model(script, model):
    """Hash of the code of a script that fits a model, without the code and rows of other models."""
    entry = CATALOGUE[model]
    files = [WORKFLOW / "scripts" / script, entry.module]
    row = entry.ranks.name, sorted(entry.fixed.items()), entry.one_rank, entry.warm
    return digest(files, WORKFLOW, without=ROWS), entry.function, *row


def file_state(file):
    """Name, size and time of a local file or of all files in a local folder; empty for a download."""
    files = files_below(Path(file)) if file else []
    return [(f.name, f.stat().st_size, f.stat().st_mtime_ns) for f in files]


def known_source(dataset):
    """Source of a dataset and its local file's state, without mirrors, which change nothing."""
    source = DATASETS[dataset]["source"]
    local = None if dataset in SYNTHETIC else local_file(dataset)
    others = {
        part: file_state(local_copy(entry, dataset))
        for part, entry in other_entries(dataset).items()
    }
    stated = {key: source[key] for key in source if key != "mirrors"}
    return stated, file_state(local), others


def known_images(images):
    """Sources of the parts of an image set and the states of their local files."""
    return {
        part: (
            {key: entry[key] for key in entry if key != "mirrors"},
            file_state(local_copy(entry, images)),
        )
        for part, entry in config["images"][images].items()
    }


TITLES = {
    name: (entry.title, entry.low_rank, entry.torch)
    for name, entry in CATALOGUE.items()
}
SEED = config["seed"]
# What a budget has left out is tried again by the next run.
LEFT = times_left_out()


def tries(dataset, what):
    """How often a model, its fit or a stage was left out on a dataset, if ever."""
    return [LEFT[dataset, what]] if LEFT[dataset, what] else []


# For each stage: the stages before it, as a list or a function of the wildcards, and a function of the
# wildcards that returns everything else that decides its output, code included.
STAGES = {
    "source": (
        [],
        lambda dataset, **_: (known_source(dataset), code("verify_source.py")),
    ),
    "interactions": (
        ["source"],
        lambda dataset, **_: (
            (code("generate_interactions.py"), SEED)
            if dataset in SYNTHETIC
            else code("read_interactions.py")
        ),
    ),
    "split": (
        ["interactions"],
        lambda dataset, **_: (code("split.py"), DATASETS[dataset]["protocol"]),
    ),
    "gram": (
        ["split"],
        lambda dataset, **_: (code("gram.py"), *tries(dataset, "gram")),
    ),
    "spectrum": (
        ["gram"],
        lambda dataset, **_: (
            code("spectrum.py"),
            (config["rank"], *ranks_of_dataset(dataset)),
            SEED,
            *tries(dataset, "spectrum"),
        ),
    ),
    "tune": (
        lambda model, **_: [
            (
                "spectrum"
                if CATALOGUE[model].spectrum
                else "gram" if CATALOGUE[model].gram else "split"
            )
        ],
        lambda dataset, model, **_: (
            code_of_model("tune.py", model),
            sorted(tuned(dataset, model).items()),
            SEED,
            *tries(dataset, model),
            TUNED_BY,
            CRITERION,
        ),
    ),
    "fit": (
        ["tune"],
        lambda dataset, model, **_: (
            code_of_model("fit.py", model),
            code("model_shard.py") if CATALOGUE[model].columns else "",
            *tries(dataset, FIT + model),
            TESTED_BY,
            CRITERION,
        ),
    ),
    "recommend": (["fit"], lambda **_: code("recommend.py")),
    "tune_deep": (
        ["split"],
        lambda model, **_: (
            code_of_model("tune_deep.py", model),
            deep_options(model),
            SEED,
            TUNED_BY,
            CRITERION,
        ),
    ),
    "fit_deep": (
        ["tune_deep"],
        lambda model, **_: (code_of_model("fit_deep.py", model), TESTED_BY),
    ),
    "images": (
        [],
        lambda images, **_: (
            (known_images(images), code("read_images.py"))
            if images in config["images"]
            else "generated"
        ),
    ),
}


def fingerprint(facts):
    """Short text that differs where facts differ; nothing in them may be a set or a function."""
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


@functools.cache
def lineage(stage, **wildcards):
    """Fingerprint of everything that decides the output of a stage."""
    before, own = STAGES[stage]
    before = before(**wildcards) if callable(before) else before
    return fingerprint(
        [own(**wildcards), *(lineage(one, **wildcards) for one in before)]
    )


def led_to(stage):
    """Function of the wildcards that returns the fingerprint of a stage."""
    return lambda wildcards: lineage(stage, **wildcards)


def led_to_metrics(models):
    """Fingerprint of what decides the metrics of these models on all datasets, and their titles."""
    states = [
        (
            lineage(
                "fit_deep" if model in DEEP else "fit", dataset=dataset, model=model
            ),
            TITLES[model],
        )
        for dataset in DATASETS
        for model in models
    ]
    return fingerprint(states)
