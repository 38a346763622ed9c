# The tables of Steck 2020, the inputs of its figures, and the checks of its Section 6.
import yaml

from lindrop.papers.catalogue import FOLDER as PAPERS_FOLDER
from lindrop.papers.steck2020.models import FITTED, figure_models

FIGURE_MODELS = figure_models(config["steck2020"]["curves"])
SIMILARITY_MODELS = ["zero_diagonal_l2", "product_l2", "full_edlae"]
LINEAR_ROWS = ["weight_decay", "product_l2", "dropout_l2", "sampled_dropout", "edlae"]
PUBLISHED_SETS = own_file("config", "paper_values", "steck2020_datasets.yaml")
PRINTED_TABLE1 = own_file("config", "paper_values", "steck2020_table1.yaml")
# The paper's name of each dataset, if it is meant to be one of the paper's.
COLUMNS = {name: entry["paper"] for name, entry in DATASETS.items()}
EXPERIMENTS = PAPERS_FOLDER / "steck2020" / "section_6.py"


JOBS["steck2020_table1_datasets"] = Job(
    input={"splits": collect(SPLIT, dataset=DATASETS), "datasets": PUBLISHED_SETS},
    lineage=[lineage("split", dataset=dataset) for dataset in DATASETS],
    settings={"columns": COLUMNS},
)
JOBS["steck2020_table1"] = Job(
    input={
        "metrics": collect(METRICS, dataset=DATASETS, model=FITTED),
        "splits": collect(SPLIT, dataset=DATASETS),
        "datasets": PUBLISHED_SETS,
        "printed": PRINTED_TABLE1,
    },
    lineage=led_to_metrics(FITTED),
    settings={
        "columns": COLUMNS,
        "rank": config["rank"],
        "deep": deep_metrics(),
        "criterion": CRITERION,
    },
)
JOBS["steck2020_fig1_left"] = Job(
    input={
        "metrics": collect(METRICS, dataset=DATASETS, model=FIGURE_MODELS),
        "splits": collect(SPLIT, dataset=DATASETS),
        "datasets": PUBLISHED_SETS,
        "printed": PRINTED_TABLE1,
    },
    lineage=led_to_metrics(FIGURE_MODELS),
    settings={"columns": COLUMNS},
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
JOBS["steck2020_embeddings"] = Job(
    input={"splits": collect(SPLIT, dataset=DATASETS)},
    lineage=[lineage("split", dataset=dataset) for dataset in DATASETS],
    settings={"names": list(DATASETS)},
    heavy=True,
    mem_mb=lambda wildcards, input, attempt: attempt * (1000 + 4 * input.size_mb),
)
JOBS["steck2020_admm"] = Job(
    input={"gram": GRAM.format(dataset=list(DATASETS)[0])},
    lineage=lineage("gram", dataset=list(DATASETS)[0]),
    heavy=True,
    mem_mb=lambda wildcards, input, attempt: attempt * (1000 + 2 * input.size_mb),
)
# Rows 1 to 5 as published and exact, on several splits of every dataset whose split has a seed.
ATTRIBUTED = [name for name in DATASETS if name not in WEAK]
SPLITS = range(config["steck2020"]["splits"])
TIMES = sorted(config["steck2020"]["times"])
PUBLISHED_FACTS = yaml.safe_load(Path(PUBLISHED_SETS).read_text(encoding="utf-8"))
STAGES["attribution"] = (
    ["split"],
    lambda dataset, **_: (
        code("steck2020_attribution.py"),
        COLUMNS[dataset],
        (config["rank"], *config["ranks"]),
        SEED,
    ),
)


rule steck2020_attribution_split:
    input:
        interactions=INTERACTIONS,
        split=SPLIT,
    output:
        models=ATTRIBUTION.format(dataset="{dataset}", part="split-{number}"),
        users=ATTRIBUTION.format(dataset="{dataset}", part="users-{number}"),
    log:
        "<logs>/steck2020_attribution/{dataset}/split-{number}.log",
    benchmark:
        "<benchmarks>/steck2020_attribution/{dataset}/split-{number}.tsv"
    wildcard_constraints:
        number=r"\d+",
    priority: LONGEST
    conda:
        "../../envs/fit.yaml"
    threads: fit_threads
    resources:
        mem_mb=attribution_mb,
        runtime=deep_minutes,
        disk_mb=20,
    params:
        lineage=led_to("attribution"),
        number=lambda wildcards: int(wildcards.number),
        row=0,
        protocol=protocol,
        column=lambda wildcards: COLUMNS[wildcards.dataset],
        published=PUBLISHED_FACTS,
        rank=config["rank"],
        ranks=config["ranks"],
        seed=config["seed"],
    script:
        "../scripts/steck2020_attribution.py"


rule steck2020_attribution_row:
    input:
        interactions=INTERACTIONS,
        split=SPLIT,
        first=ATTRIBUTION.format(dataset="{dataset}", part="split-0"),
    output:
        models=ATTRIBUTION.format(dataset="{dataset}", part="row-{row}"),
    log:
        "<logs>/steck2020_attribution/{dataset}/row-{row}.log",
    benchmark:
        "<benchmarks>/steck2020_attribution/{dataset}/row-{row}.tsv"
    wildcard_constraints:
        row="[1-5]",
    priority: LONGEST
    conda:
        "../../envs/fit.yaml"
    threads: fit_threads
    resources:
        mem_mb=attribution_mb,
        runtime=deep_minutes,
        disk_mb=20,
    params:
        lineage=led_to("attribution"),
        number=0,
        row=lambda wildcards: int(wildcards.row),
        times=TIMES,
        protocol=protocol,
        column=lambda wildcards: COLUMNS[wildcards.dataset],
        published=PUBLISHED_FACTS,
        rank=config["rank"],
        ranks=config["ranks"],
        seed=config["seed"],
    script:
        "../scripts/steck2020_attribution.py"


JOBS["steck2020_attribution"] = Job(
    input={
        "splits": collect(
            ATTRIBUTION,
            dataset=ATTRIBUTED,
            part=[f"split-{number}" for number in SPLITS],
        ),
        "users": collect(
            ATTRIBUTION,
            dataset=ATTRIBUTED,
            part=[f"users-{number}" for number in SPLITS],
        ),
        "rows": collect(
            ATTRIBUTION,
            dataset=ATTRIBUTED,
            part=[f"row-{row}" for row in range(1, 6)],
        ),
        "printed": PRINTED_TABLE1,
    },
    lineage=[
        len(SPLITS),
        TIMES,
        *(lineage("attribution", dataset=dataset) for dataset in ATTRIBUTED),
    ],
)


STAGES["emphasis"] = (
    ["split"],
    lambda dataset, **_: (code("steck2020_emphasis.py"), COLUMNS[dataset]),
)


rule steck2020_emphasis_split:
    input:
        interactions=INTERACTIONS,
        split=SPLIT,
    output:
        models=EMPHASIS.format(dataset="{dataset}", part="split-{number}"),
        users=EMPHASIS.format(dataset="{dataset}", part="users-{number}"),
    log:
        "<logs>/steck2020_emphasis/{dataset}/split-{number}.log",
    benchmark:
        "<benchmarks>/steck2020_emphasis/{dataset}/split-{number}.tsv"
    wildcard_constraints:
        number=r"\d+",
    conda:
        "../../envs/fit.yaml"
    threads: fit_threads
    resources:
        mem_mb=attribution_mb,
        runtime=deep_minutes,
        disk_mb=20,
    params:
        lineage=led_to("emphasis"),
        number=lambda wildcards: int(wildcards.number),
        protocol=protocol,
        column=lambda wildcards: COLUMNS[wildcards.dataset],
        published=PUBLISHED_FACTS,
    script:
        "../scripts/steck2020_emphasis.py"


JOBS["steck2020_emphasis"] = Job(
    input={
        kind: collect(
            EMPHASIS,
            dataset=ATTRIBUTED,
            part=[f"{part}-{number}" for number in SPLITS],
        )
        for kind, part in {"splits": "split", "users": "users"}.items()
    },
    lineage=[
        len(SPLITS),
        *(lineage("emphasis", dataset=dataset) for dataset in ATTRIBUTED),
    ],
)


STAGES["curves"] = (
    ["split"],
    lambda dataset, **_: (
        code("steck2020_curves.py"),
        COLUMNS[dataset],
        config["ranks"],
        SEED,
    ),
)


rule steck2020_curves:
    input:
        interactions=INTERACTIONS,
        split=SPLIT,
    output:
        curves=CURVES_AS_PUBLISHED,
    log:
        "<logs>/steck2020_curves/{dataset}.log",
    benchmark:
        "<benchmarks>/steck2020_curves/{dataset}.tsv"
    conda:
        "../../envs/fit.yaml"
    threads: fit_threads
    resources:
        mem_mb=attribution_mb,
        runtime=deep_minutes,
        disk_mb=20,
    params:
        lineage=led_to("curves"),
        protocol=protocol,
        column=lambda wildcards: COLUMNS[wildcards.dataset],
        published=PUBLISHED_FACTS,
        ranks=config["ranks"],
        seed=config["seed"],
    script:
        "../scripts/steck2020_curves.py"


JOBS["steck2020_fig1_as_published"] = Job(
    input={"curves": collect(CURVES_AS_PUBLISHED, dataset=ATTRIBUTED)},
    lineage=[lineage("curves", dataset=dataset) for dataset in ATTRIBUTED],
)


LED_TO_EXPERIMENTS = led_to_metrics(
    sorted({*FITTED, *FIGURE_MODELS, *SIMILARITY_MODELS})
)


rule steck2020_experiments:
    input:
        metrics=collect(METRICS, dataset=DATASETS, model=LINEAR_ROWS),
        splits=collect(SPLIT, dataset=DATASETS),
        properties=TABLE.format(name="steck2020_table1_datasets", end="csv"),
        table=TABLE.format(name="steck2020_table1", end="csv"),
        left=FIGURE.format(name="steck2020_fig1_left", end="csv"),
        center=FIGURE.format(name="steck2020_fig1_center", end="csv"),
        right=FIGURE.format(name="steck2020_fig1_right", end="csv"),
        popular=FIGURE.format(name="steck2020_embeddings", end="csv"),
        datasets=PUBLISHED_SETS,
        printed=PRINTED_TABLE1,
    output:
        CHECKS.format(paper="steck2020", job="experiments"),
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
        lineage=LED_TO_EXPERIMENTS,
        modules=[module_name(EXPERIMENTS)],
        settings={"columns": COLUMNS, "rank": config["rank"]},
    script:
        "../scripts/checks.py"


PAPER_RESULTS["steck2020"].append(CHECKS.format(paper="steck2020", job="experiments"))
LED_TO_CHECKS["steck2020"].append((code("checks.py", EXPERIMENTS), LED_TO_EXPERIMENTS))
