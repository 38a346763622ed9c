# `snakemake plan`: what the configured run will take, before anything of it starts.


rule plan:
    log:
        "<logs>/plan.log",
    localrule: True
    conda:
        "../../envs/data.yaml"
    threads: 1
    resources:
        **LIGHT,
    params:
        models=sorted({*FITTED, *FIGURE_MODELS, *(SOME_COMPARED or [])}),
        compared=COMPARED_MODELS,
        files={name: files_here(name) for name in FROM_FILES},
        kept=str(LOOKS),
        told=[choice["told"] for choice in CHOICES.values()],
    script:
        "../scripts/plan.py"
