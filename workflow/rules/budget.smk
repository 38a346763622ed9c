# What a budget of minutes allows on the user's own data. This file has no rules.
#
# The choice is made before Snakemake plans any job, from a look at the files, and is kept: another run
# of the same configuration on the same files makes the same choice, on any number of cores, so that
# finished results stay. Jobs read it, as they may see other files and other cores. Every configuration has
# a file of its own, or a dry run of another one would change the choice of a run that has begun.
import json

import psutil

from lindrop.base.atomic import atomic
from lindrop.base.memory import available_bytes
from lindrop.data.archives import files_below
from lindrop.planning import budget as budgets
from lindrop.planning import limit
from lindrop.planning.look import looked_at
from lindrop.planning.sizes import stated_size
from lindrop.planning.work import is_dual
from lindrop.version import VERSION

LOOKS = Path(".snakemake", "lindrop", "looks.json")
CHOSEN = Path(".snakemake", "lindrop", "budget")
MOST_BYTES = (
    2e9  # of files that are read before a run; of larger ones the stated size counts
)
FITTING = ("model_shard", "fit")  # rules that come after the tuning of a model
BUDGET = config["compare"]["budget"]
STARTED = psutil.Process().create_time()


def files_here(dataset):
    """Files of a dataset on this machine, by part; none if one of them must be downloaded."""
    entries = {"train": DATASETS[dataset]["source"], **other_entries(dataset)}
    files = {part: local_copy(entry, dataset) for part, entry in entries.items()}
    return {} if None in files.values() else {part: str(f) for part, f in files.items()}


def size_before_a_run(dataset):
    """Size of a dataset: of its files if they are here, else as stated; None if nobody knows."""
    entry, files = DATASETS[dataset], files_here(dataset)
    sizes = [
        f.stat().st_size for part in files.values() for f in files_below(Path(part))
    ]
    if not files or sum(sizes) > MOST_BYTES:
        return stated_size(entry)
    try:
        return looked_at(entry, files, LOOKS)
    except UserError:  # the job that reads the file says what is wrong with it
        return None


def choice_of(dataset):
    """Choice for a dataset as plain data; None if nobody knows its size."""
    size = size_before_a_run(dataset)
    if size is None:
        return None
    choice = budgets.chosen(
        *(dataset, size, config, BUDGET, HEAVY, available_bytes()),
        *(SOME_COMPARED, GIVEN),
    )
    return {
        "told": budgets.told(dataset, choice, BUDGET, HEAVY),
        "left_out": choice.left_out,
        "dual": is_dual(size),
        "stages": choice.stages(),
        "models": {
            model: {"options": dict(way.options), "rank": way.rank}
            for model, way in choice.ways.items()
        },
    }


def choices():
    """The choice for every dataset that has a budget, by name."""
    states = [
        (name, file_state(f)) for name in BUDGETED for f in files_here(name).values()
    ]
    asked = hashlib.sha256(repr((VERSION, config, sorted(GIVEN))).encode()).hexdigest()
    of_files = hashlib.sha256(repr(states).encode()).hexdigest()
    file = CHOSEN / f"{asked[:16]}.json"
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        if kept["files"] == of_files or not workflow.is_main_process:
            return kept["choices"]
    except (OSError, ValueError, KeyError):
        pass
    found = {name: choice_of(name) for name in BUDGETED}
    found = {name: choice for name, choice in found.items() if choice is not None}
    with atomic(file) as partial:
        partial.write_text(
            json.dumps({"files": of_files, "choices": found}, indent=1),
            encoding="utf-8",
        )
    return found


CHOICES = choices() if BUDGETED else {}


def tuned(dataset, model):
    """How a model is tuned on a dataset: its options, its rank, all its ranks, and by which search."""
    found = {
        "options": config["models"].get(model, {}),
        "rank": config["rank"],
        "ranks": config["ranks"],
        "tuning": config["tuning"],
    }
    if dataset not in CHOICES:
        return found
    chosen = CHOICES[dataset]["models"].get(model, {"rank": config["rank"]})
    if "tuning" not in GIVEN:
        found["tuning"] = "search"
    if "ranks" not in GIVEN:
        found["ranks"] = [chosen["rank"]]
    return found | chosen


def ranks_of_dataset(dataset):
    """Ranks of all low-rank models on a dataset."""
    if dataset not in CHOICES or "ranks" in GIVEN:
        return config["ranks"]
    ranks = {way["rank"] for way in CHOICES[dataset]["models"].values()}
    return sorted(ranks | {config["rank"]})


def compared_models(dataset):
    """Models that `snakemake compare` compares on a dataset."""
    if dataset not in CHOICES:
        return SOME_COMPARED or FITTED
    named_deep = [model for model in SOME_COMPARED or [] if model in DEEP]
    return [*CHOICES[dataset]["models"], *named_deep]


def how(key):
    """Function of the wildcards that returns a part of how a model is tuned on a dataset."""
    return lambda wildcards: tuned(wildcards.dataset, wildcards.model)[key]


def turn(wildcards):
    """Priority of a model's jobs: those of a choice in its order, so that quick models come first."""
    models = list(CHOICES.get(wildcards.dataset, {"models": []})["models"])
    place = models.index(wildcards.model) if wildcards.model in models else len(models)
    return FIRST + len(models) - place


def left_out():
    """Why models are left out by the choice for each dataset that has a budget."""
    return {dataset: choice["left_out"] for dataset, choice in CHOICES.items()}


def budgeted_metrics():
    """Files of the metrics of models that a budget may leave out."""
    return [
        real(METRICS, dataset=dataset, model=model)
        for dataset in CHOICES
        for model in compared_models(dataset)
    ]


def begin_budget():
    """Print what was read and chosen before the first job of `snakemake compare`, and start its clock.

    Models that the configuration names are done whatever they take, unless it says the minutes, too.
    On a cluster, where jobs wait for their turn, no clock ends them, nor where the papers' claims are
    checked, which need every model.
    """
    needed = {job.rule.name for job in workflow.dag.needrun_jobs()}
    if "compare_table" not in needed:
        return
    for choice in CHOICES.values():
        print(choice["told"], file=sys.stderr, flush=True)
    asked = BUDGET_GIVEN or not SOME_COMPARED
    if CHOICES and asked and not CLUSTER and "scorecard" not in needed:
        limit.begin(BUDGET * len(CHOICES), STARTED)
        end_with_budget()


def end_with_budget():
    """Let rules of this run that serve a model start no script once its budget is over."""
    stages = {
        **dict.fromkeys(("gram", "gram_shard", "gram_of_tuning"), "gram"),
        **dict.fromkeys(("spectrum", "spectrum_of_tuning"), "spectrum"),
        **dict.fromkeys(("tune", "model_shard", "fit"), ""),
        "compare_so_far": "the table so far",
    }
    for name, stage in stages.items():
        made_by = workflow.get_rule(name)
        made_by.run_func = limit.ended_with_budget(
            *(made_by.run_func, stage, limit.FIT if name in FITTING else ""),
            told=name != "compare_so_far",
        )
