# The images and the networks behind the figures of Pretorius 2018.
from lindrop.papers.pretorius2018.kinds import kinds

PRETORIUS2018 = config["pretorius2018"]
IMAGE_SETS = PRETORIUS2018["images"]
STAGES |= {
    "image_set": (
        ["images"],
        lambda images, **_: (
            PRETORIUS2018[images],
            code("pretorius2018_images.py"),
            SEED,
        ),
    ),
    "network": (["image_set"], lambda **_: code("pretorius2018_train.py")),
}


rule pretorius2018_images:
    input:
        lambda wildcards: ([] if wildcards.images == "synthetic" else IMAGES),
    output:
        IMAGE_SET,
    log:
        "<logs>/pretorius2018_images/{images}.log",
    benchmark:
        "<benchmarks>/pretorius2018_images/{images}.tsv"
    conda:
        "../../envs/fit.yaml"
    threads: 1
    resources:
        mem_mb=grows(2000),
        runtime=grows(30),
        disk_mb=500,
    params:
        lineage=led_to("image_set"),
        n_images=lambda wildcards: PRETORIUS2018[wildcards.images]["count"],
        side=lambda wildcards: PRETORIUS2018[wildcards.images].get("side"),
        seed=config["seed"],
    script:
        "../scripts/pretorius2018_images.py"


rule pretorius2018_train:
    input:
        rules.pretorius2018_images.output,
    output:
        NETWORK,
    log:
        "<logs>/pretorius2018_train/{images}.{activation}.{kind}.log",
    benchmark:
        "<benchmarks>/pretorius2018_train/{images}.{activation}.{kind}.tsv"
    conda:
        "../../envs/fit.yaml"
    # each network takes one core, so results do not depend on the number of cores
    threads: 1
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt * (1000 + 15 * input.size_mb),
        runtime=grows(1440),
        disk_mb=50,
    params:
        code=code("pretorius2018_train.py"),
        lineage=led_to("network"),
        settings=lambda wildcards: PRETORIUS2018[wildcards.images]["network"],
        seed=config["seed"],
    script:
        "../scripts/pretorius2018_train.py"


JOBS["pretorius2018_images_linear"] = Job(
    input={"sets": collect(IMAGE_SET, images=IMAGE_SETS)},
    lineage=[lineage("image_set", images=images) for images in IMAGE_SETS],
    settings={
        "settings": {images: PRETORIUS2018[images]["linear"] for images in IMAGE_SETS}
    },
    heavy=True,
    mem_mb=grows(3000),
    runtime=grows(120),
)
for figure, activation in {"supp_fig1": "tanh", "relu": "relu"}.items():
    networks = [
        NETWORK.format(images=images, activation=activation, kind=kind)
        for images in IMAGE_SETS
        for kind in kinds(PRETORIUS2018[images]["network"]["noise"])
    ]
    JOBS[f"pretorius2018_{figure}"] = Job(
        input={"networks": networks},
        lineage=[lineage("network", images=images) for images in IMAGE_SETS],
    )
