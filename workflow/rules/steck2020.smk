# The tables of Steck 2020, the inputs of its figures, and the checks of its Section 6.
from lindrop.papers.steck2020.models import FIGURE_MODELS, FITTED

SIMILARITY_MODELS = ["zero_diagonal_l2", "product_l2", "full_edlae"]
EMPHASIS_MODELS = ["dropout_l2", "sampled_dropout", "edlae"]
EXPERIMENTS = PAPERS_FOLDER / "steck2020" / "section_6.py"


rule steck2020_table1_datasets:
    input:
        splits=collect(SPLIT, dataset=DATASETS),
        paper=own_file("config", "paper_values", "steck2020_datasets.yaml"),
    output:
        **table_files(
            "steck2020_table1_datasets",
            "Steck 2020",
            table="Table 1",
            part="data-set properties",
        ),
    log:
        "<logs>/steck2020_table1_datasets.log",
    benchmark:
        "<benchmarks>/steck2020_table1_datasets.tsv"
    localrule: True
    conda:
        "../../envs/data.yaml"
    resources:
        mem_mb=grows(500),
        runtime=grows(10),
        disk_mb=20,
    params:
        code=code("steck2020_table1_datasets.py"),
        lineage=[lineage("split", dataset=dataset) for dataset in DATASETS],
        names=list(DATASETS),
        papers=[entry["paper"] for entry in DATASETS.values()],
    script:
        "../scripts/steck2020_table1_datasets.py"


rule steck2020_table1:
    input:
        metrics=collect(
            METRICS,
            dataset=DATASETS,
            model=FITTED,
        ),
        splits=collect(SPLIT, dataset=DATASETS),
        datasets=own_file("config", "paper_values", "steck2020_datasets.yaml"),
        paper=own_file("config", "paper_values", "steck2020_table1.yaml"),
    output:
        **table_files(
            "steck2020_table1", "Steck 2020", table="Table 1", part="accuracies"
        ),
    log:
        "<logs>/steck2020_table1.log",
    benchmark:
        "<benchmarks>/steck2020_table1.tsv"
    localrule: True
    conda:
        "../../envs/figures.yaml"
    resources:
        **LIGHT,
    params:
        code=code("steck2020_table1.py"),
        lineage=led_to_metrics(FITTED),
        deep=deep_metrics(),
        rank=config["rank"],
        papers={name: entry["paper"] for name, entry in DATASETS.items()},
    script:
        "../scripts/steck2020_table1.py"


JOBS["steck2020_fig1_left"] = Job(
    input={
        "metrics": collect(
            METRICS,
            dataset=DATASETS,
            model=FIGURE_MODELS,
        )
    },
    lineage=led_to_metrics(FIGURE_MODELS),
    settings={"names": list(DATASETS)},
)
for figure, low_rank in {
    "fig1_center": "zero_diagonal_l2",
    "fig1_right": "product_l2",
}.items():
    JOBS[f"steck2020_{figure}"] = Job(
        input={
            "low": collect(MODEL, model=low_rank, dataset=DATASETS),
            "full": collect(MODEL, model="full_edlae", dataset=DATASETS),
            "grams": collect(GRAM, dataset=DATASETS),
        },
        lineage=led_to_metrics([low_rank, "full_edlae"]),
        settings={"names": list(DATASETS)},
        heavy=True,
        threads=HEAVY,
        mem_mb=similarity_mb,
    )
JOBS["steck2020_admm"] = Job(
    input={"gram": GRAM.format(dataset=list(DATASETS)[0])},
    lineage=lineage("gram", dataset=list(DATASETS)[0]),
    heavy=True,
    mem_mb=lambda wildcards, input, attempt: attempt * (1000 + 2 * input.size_mb),
)


rule steck2020_experiments:
    input:
        metrics=collect(
            METRICS,
            dataset=DATASETS,
            model=EMPHASIS_MODELS,
        ),
        splits=collect(SPLIT, dataset=DATASETS),
        properties=TABLE.format(name="steck2020_table1_datasets", end="csv"),
        table=TABLE.format(name="steck2020_table1", end="csv"),
        left=FIGURE.format(name="steck2020_fig1_left", end="csv"),
        center=FIGURE.format(name="steck2020_fig1_center", end="csv"),
        right=FIGURE.format(name="steck2020_fig1_right", end="csv"),
        datasets=own_file("config", "paper_values", "steck2020_datasets.yaml"),
        printed=own_file("config", "paper_values", "steck2020_table1.yaml"),
    output:
        CHECKS.format(paper="steck2020", job="experiments"),
    log:
        "<logs>/steck2020_experiments.log",
    benchmark:
        "<benchmarks>/steck2020_experiments.tsv"
    localrule: True
    conda:
        "../../envs/figures.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(10),
        disk_mb=20,
    params:
        code=code("checks.py", EXPERIMENTS),
        lineage=led_to_metrics(sorted({*FITTED, *FIGURE_MODELS, *SIMILARITY_MODELS})),
        modules=[module_name(EXPERIMENTS)],
        settings={
            "rank": config["rank"],
            "columns": {name: entry["paper"] for name, entry in DATASETS.items()},
        },
    script:
        "../scripts/checks.py"


PAPER_RESULTS["steck2020"] += [
    rules.steck2020_table1_datasets.output,
    rules.steck2020_table1.output,
    rules.steck2020_experiments.output,
]
