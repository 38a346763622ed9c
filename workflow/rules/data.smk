# Interactions from a published archive, a table of the user or the generator, and their split.


wildcard_constraints:
    dataset=one_of(DATASETS),


rule fetch:
    output:
        file=update(DOWNLOAD),
        url=f"{DOWNLOAD}.url",
    log:
        "<logs>/fetch/{file}.log",
    benchmark:
        "<benchmarks>/fetch/{file}.tsv"
    wildcard_constraints:
        file=one_of(DOWNLOADS),
    priority: FIRST
    localrule: True
    conda:
        "../../envs/data.yaml"
    threads: 1
    resources:
        mem_mb=grows(300),
        runtime=grows(600),
        disk_mb=lambda wildcards: 10 + DOWNLOADS[wildcards.file].get("bytes", 5e9) / 1e6,
    params:
        # only the URL, as nothing else is a reason to download again: the script looks up the rest
        url=lambda wildcards: DOWNLOADS[wildcards.file]["url"],
    script:
        "../scripts/fetch.py"


rule verify_source:
    input:
        unpack(other_files),
        unpack(other_urls),
        file=source_file,
        url=source_url,
    output:
        SOURCE,
    log:
        "<logs>/verify_source/{dataset}.log",
    benchmark:
        "<benchmarks>/verify_source/{dataset}.tsv"
    priority: FIRST
    localrule: True
    conda:
        "../../envs/data.yaml"
    threads: 1
    resources:
        mem_mb=grows(300),
        runtime=grows(30),
        disk_mb=1,
    params:
        expected=source("bytes", "sha256", "md5"),
        others=expected_of_others,
        packed=packed_files,
        code=code("verify_source.py"),
        lineage=led_to("source"),
    script:
        "../scripts/verify_source.py"


rule read_interactions:
    input:
        unpack(other_files),
        file=source_file,
        source=rules.verify_source.output,
    output:
        INTERACTIONS,
    log:
        "<logs>/read_interactions/{dataset}.log",
    benchmark:
        "<benchmarks>/read_interactions/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(FROM_FILES),
    priority: FIRST
    conda:
        "../../envs/data.yaml"
    threads: HEAVY
    resources:
        mem_mb=reading_mb,
        runtime=grows(60),
        disk_mb=lambda wildcards, input: 10 + texts_mb(wildcards, input),
    params:
        lineage=led_to("interactions"),
        layout=layout,
        others=lambda wildcards: list(other_entries(wildcards.dataset)),
        stated=source("rows", "users", "items"),
        min_rating=lambda wildcards: protocol(wildcards)["min_rating"],
    script:
        "../scripts/read_interactions.py"


rule generate_interactions:
    output:
        INTERACTIONS,
    log:
        "<logs>/generate_interactions/{dataset}.log",
    benchmark:
        "<benchmarks>/generate_interactions/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(SYNTHETIC),
    priority: FIRST
    conda:
        "../../envs/data.yaml"
    threads: HEAVY
    resources:
        mem_mb=lambda wildcards, attempt: (500 + 24e-6 * generated_rows(wildcards))
        * attempt,
        runtime=grows(60),
        disk_mb=lambda wildcards: 10 + 12e-6 * generated_rows(wildcards),
    params:
        lineage=led_to("interactions"),
        recipe=source("preset", "users", "items", "interactions"),
        seed=config["seed"],
    script:
        "../scripts/generate_interactions.py"


rule split:
    input:
        INTERACTIONS,
    output:
        SPLIT,
    log:
        "<logs>/split/{dataset}.log",
    benchmark:
        "<benchmarks>/split/{dataset}.tsv"
    priority: FIRST
    conda:
        "../../envs/data.yaml"
    threads: HEAVY
    resources:
        mem_mb=splitting_mb,
        runtime=grows(60),
        disk_mb=lambda wildcards, input: 10 + 2 * input.size_mb,
    params:
        lineage=led_to("split"),
        protocol=protocol,
    script:
        "../scripts/split.py"


rule published_csv:
    input:
        SPLIT,
    output:
        directory(PUBLISHED_CSV),
    log:
        "<logs>/published_csv/{dataset}.log",
    benchmark:
        "<benchmarks>/published_csv/{dataset}.tsv"
    conda:
        "../../envs/data.yaml"
    threads: HEAVY
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt * (500 + 12 * input.size_mb),
        runtime=grows(60),
        disk_mb=lambda wildcards, input: 10 + 20 * input.size_mb,
    params:
        code=code("published_csv.py"),
        lineage=led_to("split"),
    script:
        "../scripts/published_csv.py"


rule dataset_long_tails:
    input:
        splits=collect(SPLIT, dataset=DATASETS),
    output:
        **figure_files("dataset_long_tails", "Data", figure="Popularity and activity"),
    log:
        "<logs>/dataset_long_tails.log",
    benchmark:
        "<benchmarks>/dataset_long_tails.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: HEAVY
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt * (500 + 12 * input.size_mb),
        runtime=grows(30),
        disk_mb=20,
    params:
        code=code("figure.py", WORKFLOW / "lindrop" / "output" / "long_tails.py"),
        lineage=[lineage("split", dataset=dataset) for dataset in DATASETS],
        module="lindrop.output.long_tails",
        settings={"names": list(DATASETS)},
    script:
        "../scripts/figure.py"
