# The simulation behind Figure 3 of Mianjy 2018.


rule mianjy2018_convergence:
    output:
        CONVERGENCE,
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
        # one parameter: Snakemake compares the set of values, which two that swap leave unchanged
        settings={"seed": config["seed"], "runs": config["mianjy2018"]["runs"]},
    script:
        "../scripts/mianjy2018_convergence.py"


JOBS["mianjy2018_fig3"] = Job(
    input={"curves": CONVERGENCE},
    lineage=[code("mianjy2018_convergence.py"), config["seed"], config["mianjy2018"]],
)
