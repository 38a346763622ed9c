# The figures of Pal 2020, and its claims checked.
from lindrop.papers.pal2020.claims import CLAIMS as PAL2020_CLAIMS

PAL2020 = config["pal2020"]


rule pal2020_checks:
    output:
        collect("<results>/experiments/pal2020/{claim}.json", claim=PAL2020_CLAIMS),
    log:
        "<logs>/pal2020_checks.log",
    benchmark:
        "<benchmarks>/pal2020_checks.tsv"
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
        code=code("pal2020_checks.py"),
        seed=config["seed"],
    script:
        "../scripts/pal2020_checks.py"


rule pal2020_fig1:
    output:
        png=report(
            "<results>/figures/pal2020_fig1.png",
            caption="../report/pal2020_fig1.rst",
            category="Pal 2020",
            labels={"figure": "Figure 1", "part": "DropBlock"},
        ),
        pdf="<results>/figures/pal2020_fig1.pdf",
        csv="<results>/figures/pal2020_fig1.csv",
        checks="<results>/experiments/pal2020/fig1.json",
    log:
        "<logs>/pal2020_fig1.log",
    benchmark:
        "<benchmarks>/pal2020_fig1.tsv"
    group:
        on_cluster("experiments")
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime=grows(60),
        disk_mb=20,
    params:
        code=code("pal2020_fig1.py"),
        seed=config["seed"],
        iterations=PAL2020["iterations"],
    script:
        "../scripts/pal2020_fig1.py"


rule pal2020_fig3:
    output:
        png=report(
            "<results>/figures/pal2020_fig3.png",
            caption="../report/pal2020_fig3.rst",
            category="Pal 2020",
            labels={"figure": "Figure 3", "part": "DropConnect"},
        ),
        pdf="<results>/figures/pal2020_fig3.pdf",
        csv="<results>/figures/pal2020_fig3.csv",
        checks="<results>/experiments/pal2020/fig3.json",
    log:
        "<logs>/pal2020_fig3.log",
    benchmark:
        "<benchmarks>/pal2020_fig3.tsv"
    group:
        on_cluster("experiments")
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime=grows(60),
        disk_mb=20,
    params:
        code=code("pal2020_fig3.py"),
        seed=config["seed"],
        iterations=PAL2020["iterations"],
    script:
        "../scripts/pal2020_fig3.py"


rule pal2020_fig4:
    output:
        png=report(
            "<results>/figures/pal2020_fig4.png",
            caption="../report/pal2020_fig4.rst",
            category="Pal 2020",
            labels={"figure": "Figure 4", "part": "overlapping blocks"},
        ),
        pdf="<results>/figures/pal2020_fig4.pdf",
        csv="<results>/figures/pal2020_fig4.csv",
        checks="<results>/experiments/pal2020/fig4.json",
    log:
        "<logs>/pal2020_fig4.log",
    benchmark:
        "<benchmarks>/pal2020_fig4.tsv"
    group:
        on_cluster("experiments")
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime=grows(60),
        disk_mb=20,
    params:
        code=code("pal2020_fig4.py"),
        seed=config["seed"],
        iterations=PAL2020["iterations"],
    script:
        "../scripts/pal2020_fig4.py"


rule pal2020_fig5:
    output:
        png=report(
            "<results>/figures/pal2020_fig5.png",
            caption="../report/pal2020_fig5.rst",
            category="Pal 2020",
            labels={"figure": "Figure 5", "part": "DropBlock, more θ"},
        ),
        pdf="<results>/figures/pal2020_fig5.pdf",
        csv="<results>/figures/pal2020_fig5.csv",
        checks="<results>/experiments/pal2020/fig5.json",
    log:
        "<logs>/pal2020_fig5.log",
    benchmark:
        "<benchmarks>/pal2020_fig5.tsv"
    group:
        on_cluster("experiments")
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime=grows(60),
        disk_mb=20,
    params:
        code=code("pal2020_fig5.py"),
        seed=config["seed"],
        iterations=PAL2020["iterations"],
    script:
        "../scripts/pal2020_fig5.py"


rule pal2020_fig6:
    output:
        png=report(
            "<results>/figures/pal2020_fig6.png",
            caption="../report/pal2020_fig6.rst",
            category="Pal 2020",
            labels={"figure": "Figure 6", "part": "DropConnect, more θ"},
        ),
        pdf="<results>/figures/pal2020_fig6.pdf",
        csv="<results>/figures/pal2020_fig6.csv",
        checks="<results>/experiments/pal2020/fig6.json",
    log:
        "<logs>/pal2020_fig6.log",
    benchmark:
        "<benchmarks>/pal2020_fig6.tsv"
    group:
        on_cluster("experiments")
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime=grows(60),
        disk_mb=20,
    params:
        code=code("pal2020_fig6.py"),
        seed=config["seed"],
        iterations=PAL2020["iterations"],
    script:
        "../scripts/pal2020_fig6.py"


rule pal2020_dropconnect:
    output:
        png=report(
            "<results>/figures/pal2020_dropconnect.png",
            caption="../report/pal2020_dropconnect.rst",
            category="Pal 2020",
            labels={"figure": "DropConnect", "part": "correlated inputs"},
        ),
        pdf="<results>/figures/pal2020_dropconnect.pdf",
        csv="<results>/figures/pal2020_dropconnect.csv",
        checks="<results>/experiments/pal2020/dropconnect.json",
    log:
        "<logs>/pal2020_dropconnect.log",
    benchmark:
        "<benchmarks>/pal2020_dropconnect.tsv"
    group:
        on_cluster("experiments")
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime=grows(60),
        disk_mb=20,
    params:
        code=code("pal2020_dropconnect.py"),
        seed=config["seed"],
        iterations=PAL2020["iterations"],
    script:
        "../scripts/pal2020_dropconnect.py"


rule pal2020_schemes:
    output:
        png=report(
            "<results>/figures/pal2020_schemes.png",
            caption="../report/pal2020_schemes.rst",
            category="Pal 2020",
            labels={"figure": "Characteristic matrices", "part": "schemes"},
        ),
        pdf="<results>/figures/pal2020_schemes.pdf",
        csv="<results>/figures/pal2020_schemes.csv",
    log:
        "<logs>/pal2020_schemes.log",
    benchmark:
        "<benchmarks>/pal2020_schemes.tsv"
    group:
        on_cluster("experiments")
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime=grows(60),
        disk_mb=20,
    params:
        code=code("pal2020_schemes.py"),
        seed=config["seed"],
    script:
        "../scripts/pal2020_schemes.py"


rule pal2020_train:
    input:
        "<results>/data/images/{images}.h5",
    output:
        "<results>/experiments/pal2020/deep/{images}.csv",
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


rule pal2020_fig2:
    input:
        collect(
            "<results>/experiments/pal2020/deep/{images}.csv",
            images=PAL2020["deep"]["images"],
        ),
    output:
        png=report(
            "<results>/figures/pal2020_fig2.png",
            caption="../report/pal2020_fig2.rst",
            category="Pal 2020",
            labels={"figure": "Figure 2", "part": "ResNet-50"},
        ),
        pdf="<results>/figures/pal2020_fig2.pdf",
        csv="<results>/figures/pal2020_fig2.csv",
        checks="<results>/experiments/pal2020/fig2.json",
    log:
        "<logs>/pal2020_fig2.log",
    benchmark:
        "<benchmarks>/pal2020_fig2.tsv"
    localrule: True
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
        disk_mb=20,
    params:
        code=code("pal2020_fig2.py"),
        lineage=[
            lineage("deep_dropout", images=images)
            for images in PAL2020["deep"]["images"]
        ],
    script:
        "../scripts/pal2020_fig2.py"
