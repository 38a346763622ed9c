# X'X of a split, its spectrum, and the tuning, fitting and testing of models.


wildcard_constraints:
    model=one_of(MODELS),


rule gram_shard:
    input:
        split=SPLIT,
    output:
        temp(GRAM_SHARD),
    log:
        "<logs>/gram_shard/{dataset}.{shard}-of-{shards}.log",
    benchmark:
        "<benchmarks>/gram_shard/{dataset}.{shard}-of-{shards}.tsv"
    wildcard_constraints:
        shard=r"\d+",
        shards=r"\d+",
    priority: FIRST
    conda:
        "../../envs/fit.yaml"
    threads: fit_threads
    resources:
        mem_mb=gram_mb,
        runtime=grows(60),
        disk_mb=matrix_mb,
    params:
        lineage=led_to("gram"),
        shard=lambda wildcards: int(wildcards.shard),
        shards=lambda wildcards: int(wildcards.shards),
        part="train",
    script:
        "../scripts/gram.py"


rule gram:
    input:
        split=SPLIT,
        shards=gram_shards,
    output:
        GRAM,
    log:
        "<logs>/gram/{dataset}.log",
    benchmark:
        "<benchmarks>/gram/{dataset}.tsv"
    priority: FIRST
    conda:
        "../../envs/fit.yaml"
    threads: fit_threads
    resources:
        mem_mb=gram_mb,
        runtime=grows(60),
        disk_mb=matrix_mb,
    params:
        lineage=led_to("gram"),
        shard=0,
        shards=1,
        part="train",
    script:
        "../scripts/gram.py"


# Tuning fits the models of a weak split to another part of it.
use rule gram as gram_of_tuning with:
    input:
        split=SPLIT,
    output:
        GRAM_OF_TUNING,
    log:
        "<logs>/gram_of_tuning/{dataset}.log",
    benchmark:
        "<benchmarks>/gram_of_tuning/{dataset}.tsv"
    params:
        lineage=led_to("gram"),
        shard=0,
        shards=1,
        part="validation/fold_in",


rule spectrum:
    input:
        split=SPLIT,
        gram=GRAM,
    output:
        SPECTRUM,
    log:
        "<logs>/spectrum/{dataset}.log",
    benchmark:
        "<benchmarks>/spectrum/{dataset}.tsv"
    priority: FIRST
    conda:
        "../../envs/fit.yaml"
    threads: fit_threads
    resources:
        mem_mb=spectrum_mb,
        runtime=grows(120),
        disk_mb=matrix_mb,
    params:
        lineage=led_to("spectrum"),
        ranks=lambda wildcards: ranks_of_dataset(wildcards.dataset),
        rank=config["rank"],
        seed=config["seed"],
        part="train",
    script:
        "../scripts/spectrum.py"


use rule spectrum as spectrum_of_tuning with:
    input:
        split=SPLIT,
        gram=GRAM_OF_TUNING,
    output:
        SPECTRUM_OF_TUNING,
    log:
        "<logs>/spectrum_of_tuning/{dataset}.log",
    benchmark:
        "<benchmarks>/spectrum_of_tuning/{dataset}.tsv"
    params:
        lineage=led_to("spectrum"),
        ranks=lambda wildcards: ranks_of_dataset(wildcards.dataset),
        rank=config["rank"],
        seed=config["seed"],
        part="validation/fold_in",


rule tune:
    input:
        split=SPLIT,
        gram=tuning_gram,
        spectrum=tuning_spectrum,
    output:
        TUNING,
    log:
        "<logs>/tune/{dataset}/{model}/{chunk}.log",
    benchmark:
        "<benchmarks>/tune/{dataset}/{model}/{chunk}.tsv"
    wildcard_constraints:
        chunk=r"\d+",
    priority: turn
    group:
        on_cluster("tuning", of=is_small)
    conda:
        "../../envs/fit.yaml"
    threads: fit_threads
    resources:
        mem_mb=fit_mb,
        runtime=lambda wildcards, input, attempt: attempt
        * fit_minutes(wildcards, input, len(points_of(wildcards))),
        disk_mb=10,
    params:
        lineage=led_to("tune"),
        seed=config["seed"],
        rank=how("rank"),
        ranks=how("ranks"),
        options=how("options"),
        points=lambda wildcards: list(points_of(wildcards)),
        metrics=TUNED_BY,
        criterion=CRITERION,
        tuning=how("tuning"),
        part=tuning_part,
    script:
        "../scripts/tune.py"


rule model_shard:
    input:
        split=SPLIT,
        trials=tuning_chunks,
    output:
        temp(MODEL_SHARD),
    log:
        "<logs>/model_shard/{dataset}/{model}.{shard}-of-{shards}.log",
    benchmark:
        "<benchmarks>/model_shard/{dataset}/{model}.{shard}-of-{shards}.tsv"
    wildcard_constraints:
        shard=r"\d+",
        shards=r"\d+",
    priority: turn
    conda:
        "../../envs/fit.yaml"
    threads: fit_threads
    resources:
        mem_mb=shard_mb,
        runtime=grows(60),
        disk_mb=shard_disk_mb,
    params:
        lineage=led_to("fit"),
        seed=config["seed"],
        rank=how("rank"),
        ranks=how("ranks"),
        options=how("options"),
        shard=lambda wildcards: int(wildcards.shard),
        shards=lambda wildcards: int(wildcards.shards),
        criterion=CRITERION,
        tuning=how("tuning"),
    script:
        "../scripts/model_shard.py"


rule fit:
    input:
        split=SPLIT,
        gram=fitting_gram,
        spectrum=fitting_spectrum,
        trials=tuning_chunks,
        shards=model_shards,
    output:
        metrics=METRICS,
        model=MODEL,
    log:
        "<logs>/fit/{dataset}/{model}.log",
    benchmark:
        "<benchmarks>/fit/{dataset}/{model}.tsv"
    priority: turn
    group:
        on_cluster("fitting", of=is_small)
    conda:
        "../../envs/fit.yaml"
    threads: fit_threads
    resources:
        mem_mb=fit_mb,
        runtime=lambda wildcards, input, attempt: attempt
        * fit_minutes(wildcards, input, 10),
        disk_mb=model_disk_mb,
    params:
        lineage=led_to("fit"),
        seed=config["seed"],
        rank=how("rank"),
        ranks=how("ranks"),
        options=how("options"),
        metrics=TESTED_BY,
        criterion=CRITERION,
        tuning=how("tuning"),
    script:
        "../scripts/fit.py"
