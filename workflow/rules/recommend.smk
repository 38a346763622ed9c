# Recommendations to the users of a dataset, which `snakemake recommend` makes.


rule recommend_users:
    input:
        split=SPLIT,
        model=MODEL,
        users=(
            []
            if config["recommend"]["users"] is None
            else [local(config["recommend"]["users"])]
        ),
    output:
        RECOMMENDATIONS,
    log:
        "<logs>/recommend/{dataset}/{model}.log",
    benchmark:
        "<benchmarks>/recommend/{dataset}/{model}.tsv"
    conda:
        "../../envs/fit.yaml"
    threads: HEAVY
    resources:
        mem_mb=fit_mb,
        runtime=grows(120),
        disk_mb=lambda wildcards, input: 10
        + 40e-6 * config["recommend"]["k"] * size_of(input.split).users,
    params:
        lineage=led_to("recommend"),
        k=config["recommend"]["k"],
        users=file_state(config["recommend"]["users"]),
    script:
        "../scripts/recommend.py"
