# The figures of Pretorius 2018, and its claims checked.
from lindrop.papers.pretorius2018.claims import CLAIMS as PRETORIUS2018_CLAIMS


rule pretorius2018_checks:
    output:
        collect(
            "<results>/experiments/pretorius2018/{claim}.json",
            claim=PRETORIUS2018_CLAIMS,
        ),
    log:
        "<logs>/pretorius2018_checks.log",
    benchmark:
        "<benchmarks>/pretorius2018_checks.tsv"
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
        code=code("pretorius2018_checks.py"),
        seed=config["seed"],
    script:
        "../scripts/pretorius2018_checks.py"


rule pretorius2018_dynamics:
    output:
        png=report(
            "<results>/figures/pretorius2018_dynamics.png",
            caption="../report/pretorius2018_dynamics.rst",
            category="Pretorius 2018",
            labels={"figure": "Dynamics", "part": "AE, DAE and WDAE"},
        ),
        pdf="<results>/figures/pretorius2018_dynamics.pdf",
        csv="<results>/figures/pretorius2018_dynamics.csv",
        checks="<results>/experiments/pretorius2018/dynamics.json",
    log:
        "<logs>/pretorius2018_dynamics.log",
    benchmark:
        "<benchmarks>/pretorius2018_dynamics.tsv"
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
        code=code("pretorius2018_dynamics.py"),
        seed=config["seed"],
    script:
        "../scripts/pretorius2018_dynamics.py"


rule pretorius2018_dae_vs_wdae:
    output:
        png=report(
            "<results>/figures/pretorius2018_dae_vs_wdae.png",
            caption="../report/pretorius2018_dae_vs_wdae.rst",
            category="Pretorius 2018",
            labels={"figure": "DAE and WDAE", "part": "fixed points and speed"},
        ),
        pdf="<results>/figures/pretorius2018_dae_vs_wdae.pdf",
        csv="<results>/figures/pretorius2018_dae_vs_wdae.csv",
        checks="<results>/experiments/pretorius2018/dae_vs_wdae.json",
    log:
        "<logs>/pretorius2018_dae_vs_wdae.log",
    benchmark:
        "<benchmarks>/pretorius2018_dae_vs_wdae.tsv"
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
        code=code("pretorius2018_dae_vs_wdae.py"),
    script:
        "../scripts/pretorius2018_dae_vs_wdae.py"


rule pretorius2018_rates:
    output:
        png=report(
            "<results>/figures/pretorius2018_rates.png",
            caption="../report/pretorius2018_rates.rst",
            category="Pretorius 2018",
            labels={"figure": "Rates", "part": "optimal rates"},
        ),
        pdf="<results>/figures/pretorius2018_rates.pdf",
        csv="<results>/figures/pretorius2018_rates.csv",
        checks="<results>/experiments/pretorius2018/rates.json",
    log:
        "<logs>/pretorius2018_rates.log",
    benchmark:
        "<benchmarks>/pretorius2018_rates.tsv"
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
        code=code("pretorius2018_rates.py"),
    script:
        "../scripts/pretorius2018_rates.py"


rule pretorius2018_weight_norms:
    output:
        png=report(
            "<results>/figures/pretorius2018_weight_norms.png",
            caption="../report/pretorius2018_weight_norms.rst",
            category="Pretorius 2018",
            labels={"figure": "Weight norms", "part": "DAE and WDAE"},
        ),
        pdf="<results>/figures/pretorius2018_weight_norms.pdf",
        csv="<results>/figures/pretorius2018_weight_norms.csv",
        checks="<results>/experiments/pretorius2018/weight_norms.json",
    log:
        "<logs>/pretorius2018_weight_norms.log",
    benchmark:
        "<benchmarks>/pretorius2018_weight_norms.tsv"
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
        code=code("pretorius2018_weight_norms.py"),
        seed=config["seed"],
    script:
        "../scripts/pretorius2018_weight_norms.py"


PRETORIUS2018 = config["pretorius2018"]
IMAGE_SETS = PRETORIUS2018["images"]


rule pretorius2018_images:
    input:
        lambda wildcards: (
            []
            if wildcards.images == "synthetic"
            else "<results>/data/images/{images}.h5"
        ),
    output:
        "<results>/experiments/pretorius2018/images/{images}.h5",
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
        "<results>/experiments/pretorius2018/networks/{images}/{activation}/{kind}.h5",
    log:
        "<logs>/pretorius2018_train/{images}.{activation}.{kind}.log",
    benchmark:
        "<benchmarks>/pretorius2018_train/{images}.{activation}.{kind}.tsv"
    conda:
        "../../envs/fit.yaml"
    # networks run side by side on a core each, and do not depend on the number of cores
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


rule pretorius2018_images_linear:
    input:
        collect(
            "<results>/experiments/pretorius2018/images/{images}.h5", images=IMAGE_SETS
        ),
    output:
        png=report(
            "<results>/figures/pretorius2018_images_linear.png",
            caption="../report/pretorius2018_images_linear.rst",
            category="Pretorius 2018",
            labels={"figure": "Images, linear", "part": "theory and simulation"},
        ),
        pdf="<results>/figures/pretorius2018_images_linear.pdf",
        csv="<results>/figures/pretorius2018_images_linear.csv",
        checks=[
            "<results>/experiments/pretorius2018/images_linear.json",
            "<results>/experiments/pretorius2018/images_linear_ends.json",
        ],
    log:
        "<logs>/pretorius2018_images_linear.log",
    benchmark:
        "<benchmarks>/pretorius2018_images_linear.tsv"
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grows(3000),
        runtime=grows(120),
        disk_mb=20,
    params:
        code=code("pretorius2018_images_linear.py"),
        lineage=[lineage("image_set", images=images) for images in IMAGE_SETS],
        settings={images: PRETORIUS2018[images]["linear"] for images in IMAGE_SETS},
        seed=config["seed"],
    script:
        "../scripts/pretorius2018_images_linear.py"


rule pretorius2018_supp_fig1:
    input:
        networks("tanh"),
    output:
        png=report(
            "<results>/figures/pretorius2018_supp_fig1.png",
            caption="../report/pretorius2018_supp_fig1.rst",
            category="Pretorius 2018",
            labels={"figure": "Supplement, Figure 1", "part": "tanh networks"},
        ),
        pdf="<results>/figures/pretorius2018_supp_fig1.pdf",
        csv="<results>/figures/pretorius2018_supp_fig1.csv",
        checks=[
            "<results>/experiments/pretorius2018/supp_fig1.json",
            "<results>/experiments/pretorius2018/supp_fig1_range.json",
        ],
    log:
        "<logs>/pretorius2018_supp_fig1.log",
    benchmark:
        "<benchmarks>/pretorius2018_supp_fig1.tsv"
    localrule: True
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
        disk_mb=20,
    params:
        code=code("pretorius2018_supp_fig1.py"),
        lineage=[lineage("network", images=images) for images in IMAGE_SETS],
    script:
        "../scripts/pretorius2018_supp_fig1.py"


rule pretorius2018_relu:
    input:
        networks("relu"),
    output:
        png=report(
            "<results>/figures/pretorius2018_relu.png",
            caption="../report/pretorius2018_relu.rst",
            category="Pretorius 2018",
            labels={"figure": "ReLU", "part": "relu networks"},
        ),
        pdf="<results>/figures/pretorius2018_relu.pdf",
        csv="<results>/figures/pretorius2018_relu.csv",
        checks=[
            "<results>/experiments/pretorius2018/relu.json",
            "<results>/experiments/pretorius2018/relu_range.json",
            "<results>/experiments/pretorius2018/relu_ends.json",
            "<results>/experiments/pretorius2018/relu_noise.json",
            "<results>/experiments/pretorius2018/relu_inputs.json",
        ],
    log:
        "<logs>/pretorius2018_relu.log",
    benchmark:
        "<benchmarks>/pretorius2018_relu.tsv"
    localrule: True
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
        disk_mb=20,
    params:
        code=code("pretorius2018_relu.py"),
        lineage=[lineage("network", images=images) for images in IMAGE_SETS],
    script:
        "../scripts/pretorius2018_relu.py"
