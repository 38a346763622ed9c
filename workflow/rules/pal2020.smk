# The deep networks behind Figure 2 of Pal 2020, trained by `make deep`.
PAL2020 = config["pal2020"]
STAGES["deep_dropout"] = (
    ["images"],
    lambda **_: (PAL2020["deep"], code("pal2020_train.py"), SEED),
)


rule pal2020_train:
    input:
        IMAGES,
    output:
        DEEP_DROPOUT,
    log:
        "<logs>/pal2020_train/{images}.log",
    benchmark:
        "<benchmarks>/pal2020_train/{images}.tsv"
    wildcard_constraints:
        images=one_of(config["images"]),
    conda:
        "../../envs/torch.yaml"
    threads: DEEP_THREADS
    resources:
        mem_mb=lambda wildcards, attempt: attempt
        * (2000 + 25 * PAL2020["deep"]["count"]),
        runtime=grows(1440),
        disk_mb=20,
    params:
        code=code("pal2020_train.py"),
        lineage=led_to("deep_dropout"),
        seed=config["seed"],
        n_images=PAL2020["deep"]["count"],
        settings={key: PAL2020["deep"][key] for key in ("iterations", "rate", "draws")}
        | {"threads": DEEP_THREADS},
    script:
        "../scripts/pal2020_train.py"


JOBS["pal2020_fig2"] = Job(
    input={
        "tables": collect(
            DEEP_DROPOUT,
            images=PAL2020["deep"]["images"],
        )
    },
    lineage=[
        lineage("deep_dropout", images=images) for images in PAL2020["deep"]["images"]
    ],
)
