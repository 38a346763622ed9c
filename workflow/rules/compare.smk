# The tables of models on the user's datasets, which `snakemake compare` makes.
COMPARED_MODELS = sorted(
    {model for name in DATASETS for model in compared_models(name)}
)
# Tables of the models that are done, while slower ones are still being tuned.
SO_FAR = [
    SO_FAR_TABLE.format(dataset=dataset, stage=stage)
    for dataset, choice in CHOICES.items()
    for stage in range(len(choice["stages"]))
]


rule compare_table:
    input:
        metrics=[
            METRICS.format(dataset=dataset, model=model)
            for dataset in DATASETS
            for model in compared_models(dataset)
        ],
        splits=collect(SPLIT, dataset=DATASETS),
    output:
        **table_files("compare", "Data", table="Models"),
    log:
        "<logs>/compare_table.log",
    benchmark:
        "<benchmarks>/compare_table.tsv"
    localrule: True
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        **LIGHT,
    params:
        code=code("table.py", WORKFLOW / "lindrop" / "output" / "compare.py"),
        lineage=led_to_metrics(COMPARED_MODELS),
        module="lindrop.output.compare",
        settings={
            "names": list(DATASETS),
            "rank": config["rank"],
            "shown": config["metrics"],
            "criterion": CRITERION,
        },
    script:
        "../scripts/table.py"


use rule compare_table as compare_groups_table with:
    output:
        **table_files("compare_groups", "Data", table="Models by groups"),
    log:
        "<logs>/compare_groups_table.log",
    benchmark:
        "<benchmarks>/compare_groups_table.tsv"
    params:
        code=code("table.py", WORKFLOW / "lindrop" / "output" / "compare_groups.py"),
        lineage=led_to_metrics(COMPARED_MODELS),
        module="lindrop.output.compare_groups",
        settings={
            "names": list(DATASETS),
            "rank": config["rank"],
            "shown": config["metrics"],
        },


rule compare_so_far:
    input:
        metrics=lambda wildcards: collect(
            METRICS,
            dataset=wildcards.dataset,
            model=CHOICES[wildcards.dataset]["stages"][int(wildcards.stage)],
        ),
        split=SPLIT,
    output:
        SO_FAR_TABLE,
    log:
        "<logs>/compare_so_far/{dataset}.{stage}.log",
    benchmark:
        "<benchmarks>/compare_so_far/{dataset}.{stage}.tsv"
    wildcard_constraints:
        stage=r"\d+",
    priority: 1000
    localrule: True
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        **LIGHT,
    params:
        code=code("compare_so_far.py"),
        lineage=lambda wildcards: [
            lineage("fit", dataset=wildcards.dataset, model=model)
            for model in CHOICES[wildcards.dataset]["stages"][int(wildcards.stage)]
        ],
        rank=config["rank"],
        shown=CRITERION,
        left=lambda wildcards: [
            model
            for model in compared_models(wildcards.dataset)
            if model not in CHOICES[wildcards.dataset]["stages"][int(wildcards.stage)]
        ],
    script:
        "../scripts/compare_so_far.py"


use rule dataset_long_tails as compare_costs with:
    input:
        metrics=rules.compare_table.input.metrics,
        splits=rules.compare_table.input.splits,
    output:
        **figure_files("compare_costs", "Data", figure="Accuracy, time and size"),
    log:
        "<logs>/compare_costs.log",
    benchmark:
        "<benchmarks>/compare_costs.tsv"
    threads: 1
    resources:
        **LIGHT,
    params:
        code=code("figure.py", WORKFLOW / "lindrop" / "output" / "compare_costs.py"),
        lineage=led_to_metrics(COMPARED_MODELS),
        module="lindrop.output.compare_costs",
        settings=rules.compare_table.params.settings,


use rule compare_table as datasets_table with:
    input:
        interactions=collect(INTERACTIONS, dataset=DATASETS),
        splits=collect(SPLIT, dataset=DATASETS),
    output:
        **table_files("datasets", "Data", table="Datasets"),
    log:
        "<logs>/datasets_table.log",
    benchmark:
        "<benchmarks>/datasets_table.tsv"
    params:
        code=code("table.py", WORKFLOW / "lindrop" / "output" / "datasets.py"),
        lineage=[lineage("split", dataset=dataset) for dataset in DATASETS],
        module="lindrop.output.datasets",
        settings={"names": list(DATASETS)},
