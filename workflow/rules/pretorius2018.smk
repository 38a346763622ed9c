# The figures of Pretorius 2018, and its claims checked.
from lindrop.pretorius2018.claims import CLAIMS as PRETORIUS2018_CLAIMS


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
    conda:
        "../../envs/fit.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
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
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
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
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
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
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
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
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("pretorius2018_weight_norms.py"),
        seed=config["seed"],
    script:
        "../scripts/pretorius2018_weight_norms.py"
