# The table and the figures of Steck 2020.
from lindrop.papers.steck2020.claims import CLAIMS as STECK2020_CLAIMS
from lindrop.papers.steck2020.claims import EXPERIMENTS as STECK2020_EXPERIMENTS
from lindrop.papers.steck2020.models import BASELINES, FIGURE_MODELS, FITTED

SIMILARITY_MODELS = ["zero_diagonal_l2", "product_l2", "full_edlae"]
EMPHASIS_MODELS = ["dropout_l2", "sampled_dropout", "edlae"]


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


rule steck2020_fig1_left:
    input:
        collect(
            "<results>/metrics/{dataset}/{model}.h5",
            dataset=DATASETS,
            model=FIGURE_MODELS,
        ),
    output:
        png=report(
            "<results>/figures/steck2020_fig1_left.png",
            caption="../report/steck2020_fig1_left.rst",
            category="Steck 2020",
            labels={"figure": "Figure 1, left", "part": "accuracy by rank"},
        ),
        pdf="<results>/figures/steck2020_fig1_left.pdf",
        csv="<results>/figures/steck2020_fig1_left.csv",
    log:
        "<logs>/steck2020_fig1_left.log",
    benchmark:
        "<benchmarks>/steck2020_fig1_left.tsv"
    localrule: True
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
        disk_mb=20,
    params:
        code=code("steck2020_fig1_left.py"),
        lineage=led_to_metrics(FIGURE_MODELS),
        names=list(DATASETS),
    script:
        "../scripts/steck2020_fig1_left.py"


rule steck2020_similarities:
    input:
        constrained=collect(
            "<results>/models/{dataset}/zero_diagonal_l2.h5", dataset=DATASETS
        ),
        unconstrained=collect(
            "<results>/models/{dataset}/product_l2.h5", dataset=DATASETS
        ),
        full=collect("<results>/models/{dataset}/full_edlae.h5", dataset=DATASETS),
        grams=collect("<results>/gram/{dataset}.h5", dataset=DATASETS),
    output:
        center_png=report(
            "<results>/figures/steck2020_fig1_center.png",
            caption="../report/steck2020_fig1_center.rst",
            category="Steck 2020",
            labels={"figure": "Figure 1, center", "part": "cosines, Eq. 11"},
        ),
        center_pdf="<results>/figures/steck2020_fig1_center.pdf",
        center_csv="<results>/figures/steck2020_fig1_center.csv",
        right_png=report(
            "<results>/figures/steck2020_fig1_right.png",
            caption="../report/steck2020_fig1_right.rst",
            category="Steck 2020",
            labels={"figure": "Figure 1, right", "part": "cosines, unconstrained"},
        ),
        right_pdf="<results>/figures/steck2020_fig1_right.pdf",
        right_csv="<results>/figures/steck2020_fig1_right.csv",
    log:
        "<logs>/steck2020_similarities.log",
    benchmark:
        "<benchmarks>/steck2020_similarities.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: HEAVY
    resources:
        # B of one dataset at a time, and where there are few items X'X in float64
        mem_mb=lambda wildcards, input, attempt: attempt
        * (1500 + 2.5 * max(Path(file).stat().st_size / 1e6 for file in input.full)),
        runtime=grows(60),
        disk_mb=20,
    params:
        code=code("steck2020_similarities.py"),
        lineage=led_to_metrics(SIMILARITY_MODELS),
        names=list(DATASETS),
    script:
        "../scripts/steck2020_similarities.py"


rule steck2020_theorem:
    output:
        png=report(
            "<results>/figures/steck2020_theorem.png",
            caption="../report/steck2020_theorem.rst",
            category="Steck 2020",
            labels={"figure": "Theorem (Eq. 6)", "part": "sampled dropout"},
        ),
        pdf="<results>/figures/steck2020_theorem.pdf",
        csv="<results>/figures/steck2020_theorem.csv",
    log:
        "<logs>/steck2020_theorem.log",
    benchmark:
        "<benchmarks>/steck2020_theorem.tsv"
    group:
        on_cluster("experiments")
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime=grows(30),
        disk_mb=20,
    params:
        code=code("steck2020_theorem.py"),
        seed=config["seed"],
    script:
        "../scripts/steck2020_theorem.py"


rule steck2020_admm:
    input:
        f"<results>/gram/{list(DATASETS)[0]}.h5",
    output:
        png=report(
            "<results>/figures/steck2020_admm.png",
            caption="../report/steck2020_admm.rst",
            category="Steck 2020",
            labels={"figure": "Solvers of Eq. 10", "part": "convergence"},
        ),
        pdf="<results>/figures/steck2020_admm.pdf",
        csv="<results>/figures/steck2020_admm.csv",
    log:
        "<logs>/steck2020_admm.log",
    benchmark:
        "<benchmarks>/steck2020_admm.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt * (1000 + 2 * input.size_mb),
        runtime=grows(30),
        disk_mb=20,
    params:
        code=code("steck2020_admm.py"),
        lineage=lineage("gram", dataset=list(DATASETS)[0]),
    script:
        "../scripts/steck2020_admm.py"


rule steck2020_checks:
    output:
        collect("<results>/experiments/steck2020/{claim}.json", claim=STECK2020_CLAIMS),
    log:
        "<logs>/steck2020_checks.log",
    benchmark:
        "<benchmarks>/steck2020_checks.tsv"
    group:
        on_cluster("experiments")
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
        disk_mb=20,
    params:
        code=code("steck2020_checks.py"),
        seed=config["seed"],
    script:
        "../scripts/steck2020_checks.py"


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
        paper=own_file("config", "paper_values", "steck2020_table1.yaml"),
    output:
        collect(
            "<results>/experiments/steck2020/{claim}.json", claim=STECK2020_EXPERIMENTS
        ),
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
        code=code("steck2020_experiments.py"),
        lineage=led_to_metrics(sorted({*BASELINES, *FIGURE_MODELS, *SIMILARITY_MODELS})),
        rank=config["rank"],
        papers={name: entry["paper"] for name, entry in DATASETS.items()},
    script:
        "../scripts/steck2020_experiments.py"
