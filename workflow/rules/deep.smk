# The deep autoencoders of Table 1, which `make deep` tunes and fits with PyTorch.


rule tune_deep:
    input:
        split=SPLIT,
    output:
        TUNING,
    log:
        "<logs>/tune_deep/{dataset}/{model}/{chunk}.log",
    benchmark:
        "<benchmarks>/tune_deep/{dataset}/{model}/{chunk}.tsv"
    wildcard_constraints:
        model=one_of(DEEP),
        chunk=r"\d+",
    conda:
        "../../envs/torch.yaml"
    threads: DEEP_THREADS
    resources:
        mem_mb=fit_mb,
        runtime=deep_minutes,
        disk_mb=deep_disk_mb,
    params:
        lineage=led_to("tune_deep"),
        seed=config["seed"],
        options=lambda wildcards: deep_options(wildcards.model),
        points=lambda wildcards: list(points_of(wildcards)),
        metrics=TUNED_BY,
        criterion=CRITERION,
        part=tuning_part,
    script:
        "../scripts/tune_deep.py"


rule fit_deep:
    input:
        split=SPLIT,
        trials=tuning_chunks,
    output:
        metrics=METRICS,
        model=MODEL,
    log:
        "<logs>/fit_deep/{dataset}/{model}.log",
    benchmark:
        "<benchmarks>/fit_deep/{dataset}/{model}.tsv"
    wildcard_constraints:
        model=one_of(DEEP),
    conda:
        "../../envs/torch.yaml"
    threads: DEEP_THREADS
    resources:
        mem_mb=fit_mb,
        runtime=deep_minutes,
        disk_mb=deep_disk_mb,
    params:
        lineage=led_to("fit_deep"),
        seed=config["seed"],
        options=lambda wildcards: deep_options(wildcards.model),
        metrics=TESTED_BY,
        criterion=CRITERION,
        part=tuning_part,
        tuning=lambda wildcards: str(Path(real(TUNING, **wildcards, chunk=0)).parent),
    script:
        "../scripts/fit_deep.py"
