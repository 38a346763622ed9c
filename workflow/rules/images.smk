# Published image sets, read when an experiment needs them.


rule read_images:
    input:
        unpack(image_files),
    output:
        IMAGES,
    log:
        "<logs>/read_images/{images}.log",
    benchmark:
        "<benchmarks>/read_images/{images}.tsv"
    wildcard_constraints:
        images=one_of(config["images"]),
    conda:
        "../../envs/data.yaml"
    threads: 1
    resources:
        mem_mb=grows(1500),
        runtime=grows(30),
        disk_mb=lambda wildcards, input: 10 + 5 * input.size_mb,
    params:
        lineage=led_to("images"),
        expected=lambda wildcards: {
            part: {fact: entry[fact] for fact in ("bytes", "sha256", "md5")}
            for part, entry in config["images"][wildcards.images].items()
        },
    script:
        "../scripts/read_images.py"
