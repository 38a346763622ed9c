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
        tables=[
            *(
                "compare_table",
                "compare_groups_table",
                "compare_costs",
                "compare_page",
            ),
            *("datasets_table", "dataset_long_tails"),
            *(["compare_so_far"] * len(SO_FAR)),
            *([] if ONLY_SOME else ["steck2020_table1", "steck2020_table1_datasets"]),
        ],
        files={name: files_here(name) for name in FROM_FILES},
        kept=str(LOOKS),
        told=[choice["told"] for choice in CHOICES.values()],
    script:
        "../scripts/plan.py"
