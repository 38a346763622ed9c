# The figures of Mianjy 2018, and its claims checked.
from lindrop.papers.mianjy2018.claims import CLAIMS as MIANJY2018_CLAIMS


rule mianjy2018_checks:
    output:
        collect(
            "<results>/experiments/mianjy2018/{claim}.json", claim=MIANJY2018_CLAIMS
        ),
    log:
        "<logs>/mianjy2018_checks.log",
    benchmark:
        "<benchmarks>/mianjy2018_checks.tsv"
    group:
        on_cluster("experiments")
    conda:
        "../../envs/fit.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
        disk_mb=20,
    params:
        code=code("mianjy2018_checks.py"),
        seed=config["seed"],
    script:
        "../scripts/mianjy2018_checks.py"


rule mianjy2018_fig1:
    output:
        png=report(
            "<results>/figures/mianjy2018_fig1.png",
            caption="../report/mianjy2018_fig1.rst",
            category="Mianjy 2018",
            labels={"figure": "Figure 1", "part": "landscape"},
        ),
        pdf="<results>/figures/mianjy2018_fig1.pdf",
        csv="<results>/figures/mianjy2018_fig1.csv",
        checks="<results>/experiments/mianjy2018/fig1.json",
    log:
        "<logs>/mianjy2018_fig1.log",
    benchmark:
        "<benchmarks>/mianjy2018_fig1.tsv"
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
        code=code("mianjy2018_fig1.py"),
    script:
        "../scripts/mianjy2018_fig1.py"


rule mianjy2018_fig2:
    output:
        png=report(
            "<results>/figures/mianjy2018_fig2.png",
            caption="../report/mianjy2018_fig2.rst",
            category="Mianjy 2018",
            labels={"figure": "Figure 2", "part": "traces of dropout"},
        ),
        pdf="<results>/figures/mianjy2018_fig2.pdf",
        csv="<results>/figures/mianjy2018_fig2.csv",
        checks="<results>/experiments/mianjy2018/fig2.json",
    log:
        "<logs>/mianjy2018_fig2.log",
    benchmark:
        "<benchmarks>/mianjy2018_fig2.tsv"
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
        code=code("mianjy2018_fig2.py"),
        seed=config["seed"],
    script:
        "../scripts/mianjy2018_fig2.py"


rule mianjy2018_convergence:
    output:
        "<results>/experiments/mianjy2018/convergence.csv",
    log:
        "<logs>/mianjy2018_convergence.log",
    benchmark:
        "<benchmarks>/mianjy2018_convergence.tsv"
    conda:
        "../../envs/fit.yaml"
    threads: HEAVY
    resources:
        mem_mb=grows(1000),
        disk_mb=20,
        runtime=lambda wildcards, attempt: attempt * (10 + config["mianjy2018"]["runs"]),
    params:
        code=code("mianjy2018_convergence.py"),
        seed=config["seed"],
        runs=config["mianjy2018"]["runs"],
    script:
        "../scripts/mianjy2018_convergence.py"


rule mianjy2018_fig3:
    input:
        "<results>/experiments/mianjy2018/convergence.csv",
    output:
        png=report(
            "<results>/figures/mianjy2018_fig3.png",
            caption="../report/mianjy2018_fig3.rst",
            category="Mianjy 2018",
            labels={"figure": "Figure 3", "part": "convergence of dropout"},
        ),
        pdf="<results>/figures/mianjy2018_fig3.pdf",
        csv="<results>/figures/mianjy2018_fig3.csv",
        checks=[
            "<results>/experiments/mianjy2018/fig3.json",
            "<results>/experiments/mianjy2018/section_6_monotone.json",
            "<results>/experiments/mianjy2018/section_6_speed.json",
        ],
    log:
        "<logs>/mianjy2018_fig3.log",
    benchmark:
        "<benchmarks>/mianjy2018_fig3.tsv"
    localrule: True
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
        disk_mb=20,
    params:
        code=code("mianjy2018_fig3.py"),
        state=[code("mianjy2018_convergence.py"), config["seed"], config["mianjy2018"]],
    script:
        "../scripts/mianjy2018_fig3.py"
