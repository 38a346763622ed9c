# The tables of models on the user's datasets, which `snakemake compare` makes.
COMPARED_MODELS = SOME_COMPARED or FITTED


rule compare_table:
    input:
        metrics=[
            METRICS.format(dataset=dataset, model=model)
            for dataset in DATASETS
            for model in COMPARED_MODELS
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
