# The best model of each dataset in the last comparison, by which `snakemake recommend` recommends.
# This file has no rules.
import csv


def best_compared():
    """The best model of each dataset by the configured criterion, in the comparison made last."""
    found = {}
    try:
        with open(real(TABLE, name="compare", end="csv"), encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["metric"] == CRITERION]
        for row in sorted(rows, key=lambda row: -float(row["mean"] or "-inf")):
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


def tell_winners():
    """Print the best model of each dataset that was compared, and how to recommend by it."""
    from lindrop.output.winner import words  # slow, and not often needed
    from lindrop.store.csv_files import read_plain

    lines = read_plain(real(TABLE, name="compare", end="csv"))
    for dataset, rows in lines.groupby("dataset", sort=False):
        print(f"{dataset}: {' '.join(words(rows, CRITERION))}", file=sys.stderr)
    given = "".join(f" {os.path.relpath(file)}" for file in workflow.configfiles)
    command = f"snakemake --cores {HEAVY} recommend --configfile{given}"
    print(f"next: {command}", file=sys.stderr)


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
            why = f"as {table} compares no models on it by {CRITERION}"
        elif ("split", dataset) in jobs or (
            split.stat().st_mtime > table.stat().st_mtime
        ):
            why = f"the best of {table}, which is of older data"
        else:
            why = f"the best of {table}"
        print(f"{dataset}: {model} recommends, {why}", file=sys.stderr)
