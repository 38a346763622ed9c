# The tables of Steck 2020, what its figures are made from, and what is asked of them.
from lindrop.papers.steck2020.models import FIGURE_MODELS, FITTED

SIMILARITY_MODELS = ["zero_diagonal_l2", "product_l2", "full_edlae"]
EMPHASIS_MODELS = ["dropout_l2", "sampled_dropout", "edlae"]
EXPERIMENTS = PAPERS_FOLDER / "steck2020" / "experiments.py"


rule steck2020_table1_datasets:
    input:
        splits=collect("<results>/data/{dataset}/split.h5", dataset=DATASETS),
        paper=own_file("config", "paper_values", "steck2020_datasets.yaml"),
    output:
        html=report(
            "<results>/tables/steck2020_table1_datasets.html",
            caption="../report/steck2020_table1_datasets.rst",
            category="Steck 2020",
            labels={"table": "Table 1", "part": "data-set properties"},
        ),
        csv="<results>/tables/steck2020_table1_datasets.csv",
        md="<results>/tables/steck2020_table1_datasets.md",
        tex="<results>/tables/steck2020_table1_datasets.tex",
    log:
        "<logs>/steck2020_table1_datasets.log",
    benchmark:
        "<benchmarks>/steck2020_table1_datasets.tsv"
    localrule: True
    conda:
        "../../envs/data.yaml"
    threads: 1
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
            "<results>/metrics/{dataset}/{model}.h5",
            dataset=DATASETS,
            model=FITTED,
        ),
        splits=collect("<results>/data/{dataset}/split.h5", dataset=DATASETS),
        datasets=own_file("config", "paper_values", "steck2020_datasets.yaml"),
        paper=own_file("config", "paper_values", "steck2020_table1.yaml"),
    output:
        html=report(
            "<results>/tables/steck2020_table1.html",
            caption="../report/steck2020_table1.rst",
            category="Steck 2020",
            labels={"table": "Table 1", "part": "accuracies"},
        ),
        csv="<results>/tables/steck2020_table1.csv",
        md="<results>/tables/steck2020_table1.md",
        tex="<results>/tables/steck2020_table1.tex",
    log:
        "<logs>/steck2020_table1.log",
    benchmark:
        "<benchmarks>/steck2020_table1.tsv"
    localrule: True
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
        disk_mb=20,
    params:
        code=code("steck2020_table1.py"),
        lineage=led_to_metrics(FITTED),
        deep=deep_metrics(),
        rank=config["rank"],
        papers={name: entry["paper"] for name, entry in DATASETS.items()},
    script:
        "../scripts/steck2020_table1.py"


def similarity_mb(wildcards, input, attempt):
    """B of one dataset at a time, and where there are few items X'X in float64."""
    largest = max(Path(file).stat().st_size for file in input.full)
    return attempt * (1500 + 2.5e-6 * largest)


JOBS["steck2020_fig1_left"] = Job(
    input={
        "metrics": collect(
            "<results>/metrics/{dataset}/{model}.h5",
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
            "low": collect(
                f"<results>/models/{{dataset}}/{low_rank}.h5", dataset=DATASETS
            ),
            "full": collect(
                "<results>/models/{dataset}/full_edlae.h5", dataset=DATASETS
            ),
            "grams": collect("<results>/gram/{dataset}.h5", dataset=DATASETS),
        },
        lineage=led_to_metrics([low_rank, "full_edlae"]),
        settings={"names": list(DATASETS)},
        heavy=True,
        threads=HEAVY,
        mem_mb=similarity_mb,
    )
JOBS["steck2020_admm"] = Job(
    input={"gram": f"<results>/gram/{list(DATASETS)[0]}.h5"},
    lineage=lineage("gram", dataset=list(DATASETS)[0]),
    heavy=True,
    mem_mb=lambda wildcards, input, attempt: attempt * (1000 + 2 * input.size_mb),
)


rule steck2020_experiments:
    input:
        metrics=collect(
            "<results>/metrics/{dataset}/{model}.h5",
            dataset=DATASETS,
            model=EMPHASIS_MODELS,
        ),
        splits=collect("<results>/data/{dataset}/split.h5", dataset=DATASETS),
        properties="<results>/tables/steck2020_table1_datasets.csv",
        table="<results>/tables/steck2020_table1.csv",
        left="<results>/figures/steck2020_fig1_left.csv",
        center="<results>/figures/steck2020_fig1_center.csv",
        right="<results>/figures/steck2020_fig1_right.csv",
        datasets=own_file("config", "paper_values", "steck2020_datasets.yaml"),
        printed=own_file("config", "paper_values", "steck2020_table1.yaml"),
    output:
        "<results>/experiments/steck2020/experiments.json",
    log:
        "<logs>/steck2020_experiments.log",
    benchmark:
        "<benchmarks>/steck2020_experiments.tsv"
    localrule: True
    conda:
        "../../envs/figures.yaml"
    threads: 1
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
