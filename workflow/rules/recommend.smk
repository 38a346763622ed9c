# Recommendations to the users of a dataset, which `snakemake recommend` makes.
import csv


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


def recommended():
    """Files of recommendations: by the models that are named, else by the best one, else by EASE."""
    best, named = best_compared(), config["recommend"]["models"]
    return [
        RECOMMENDATIONS.format(dataset=dataset, model=model)
        for dataset in DATASETS
        for model in named
        or [best[dataset] if best.get(dataset) in CATALOGUE else "ease"]
    ]


rule recommend_users:
    input:
        split=SPLIT,
        model=MODEL,
        users=(
            []
            if config["recommend"]["users"] is None
            else [local(config["recommend"]["users"])]
        ),
    output:
        RECOMMENDATIONS,
    log:
        "<logs>/recommend/{dataset}/{model}.log",
    benchmark:
        "<benchmarks>/recommend/{dataset}/{model}.tsv"
    conda:
        "../../envs/fit.yaml"
    threads: HEAVY
    resources:
        mem_mb=fit_mb,
        runtime=grows(120),
        disk_mb=lambda wildcards, input: 10
        + 40e-6 * config["recommend"]["k"] * size_of(input.split).users,
    params:
        lineage=led_to("recommend"),
        k=config["recommend"]["k"],
    script:
        "../scripts/recommend.py"
