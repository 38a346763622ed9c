# What led to each file: the reason to make it again. No rule stands here.
#
# When a job fails, Snakemake deletes what it had made before, but would not miss that beside an older
# result of a later job. So every job on the way from a file to a result has as a parameter all that
# led to its output: it is then asked for again, and fails again, until the mistake is mended.
import functools
import hashlib

from lindrop.base.digest import digest, remember
from lindrop.data.fetch import files_below
from lindrop.models.catalogue import CATALOGUE

remember(Path(".snakemake", "lindrop", "code.json"))
# Rows and options of all models: a model's jobs depend on its own row alone, and have its options as
# parameters.
ROWS = [
    WORKFLOW / "lindrop" / "models" / file for file in ("catalogue.py", "options.py")
]


@functools.cache
def code(script, *modules):
    """Hash of a script, of the modules that it is told to run, and of the library's code behind both."""
    return digest([WORKFLOW / "scripts" / script, *modules], WORKFLOW)


@functools.cache
def code_of_model(script, model):
    """Hash of the code behind a script that fits one model: of no other model's code or row."""
    entry = CATALOGUE[model]
    files = [WORKFLOW / "scripts" / script, entry.module]
    row = entry.ranks.name, sorted(entry.fixed.items()), entry.one_rank, entry.warm
    return digest(files, WORKFLOW, without=ROWS), entry.function, *row


def file_state(file):
    """What tells that a local file, or one in a local folder, changed; nothing of a download."""
    files = files_below(Path(file)) if file else []
    return [(f.name, f.stat().st_size, f.stat().st_mtime_ns) for f in files]


def known_source(dataset):
    """Where a dataset comes from, what is known of it and how it is read; a mirror is no matter."""
    source = DATASETS[dataset]["source"]
    local = None if dataset in SYNTHETIC else local_file(dataset)
    return {key: source[key] for key in source if key != "mirrors"}, file_state(local)


def known_images(images):
    """Where the parts of a set of images come from, and what is known of them."""
    return {
        part: (
            {key: entry[key] for key in entry if key != "mirrors"},
            file_state(local_copy(entry, images)),
        )
        for part, entry in config["images"][images].items()
    }


SEED, RANKS = config["seed"], (config["rank"], *config["ranks"])

# Each stage: those before it, and as a function of the wildcards what is its own, code included.
STAGES = {
    "source": ([], lambda dataset, **_: known_source(dataset)),
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
    "gram": (["split"], lambda **_: code("gram.py")),
    "spectrum": (["gram"], lambda **_: (code("spectrum.py"), RANKS, SEED)),
    "tune": (
        ["spectrum"],
        lambda model, **_: (code_of_model("tune.py", model), model_options(model)),
    ),
    "fit": (["tune"], lambda model, **_: code_of_model("fit.py", model)),
    "tune_deep": (
        ["split"],
        lambda model, **_: (
            code_of_model("tune_deep.py", model),
            deep_options(model),
            SEED,
        ),
    ),
    "fit_deep": (
        ["tune_deep"],
        lambda model, **_: code_of_model("fit_deep.py", model),
    ),
    "images": (
        [],
        lambda images, **_: (
            (known_images(images), code("read_images.py"))
            if images in config["images"]
            else "generated"
        ),
    ),
    "image_set": (
        ["images"],
        lambda images, **_: (
            config["pretorius2018"][images],
            code("pretorius2018_images.py"),
            SEED,
        ),
    ),
    "network": (["image_set"], lambda **_: code("pretorius2018_train.py")),
    "deep_dropout": (
        ["images"],
        lambda **_: (config["pal2020"]["deep"], code("pal2020_train.py"), SEED),
    ),
}


@functools.cache
def lineage(stage, **wildcards):
    """Fingerprint of all that leads to the output of a stage."""
    before, own = STAGES[stage]
    state = [own(**wildcards), *(lineage(one, **wildcards) for one in before)]
    return hashlib.sha256(repr(state).encode()).hexdigest()[:16]


def led_to(stage):
    """The lineage of a stage as a parameter of its rule."""
    return lambda wildcards: lineage(stage, **wildcards)


def led_to_metrics(models):
    """Fingerprint of all that leads to the metrics of these models on every dataset."""
    states = [
        lineage("fit", dataset=dataset, model=model)
        for dataset in DATASETS
        for model in models
    ]
    return hashlib.sha256(repr(states).encode()).hexdigest()[:16]
