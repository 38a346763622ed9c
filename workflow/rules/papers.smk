# A rule for each figure, set of checks and target of the papers in lindrop.papers.catalogue.
#
# In a loop, a function of the wildcards or a script name with a variable would be evaluated after the
# loop, with the values of its last round. So everything here is evaluated at once.

for paper, figures in PAPERS.items():
    for figure, row in figures.items():
        making = JOBS.get(f"{paper}_{figure}", Job())
        labels = {"figure": row.label, "part": row.part}
        files = figure_files(f"{paper}_{figure}", paper_of(paper), **labels)
        if row.checks:
            files["checks"] = CHECKS.format(paper=paper, job=figure)
        (DEEP_RESULTS if row.deep else PAPER_RESULTS[paper]).extend(files.values())

        rule:
            name:
                f"{paper}_{figure}"
            input:
                **making.input,
            output:
                **files,
            log:
                f"<logs>/{paper}_{figure}.log",
            benchmark:
                f"<benchmarks>/{paper}_{figure}.tsv"
            group:
                making.group
            localrule: making.local
            conda:
                "../../envs/figures.yaml"
            threads: making.threads
            resources:
                mem_mb=making.mem_mb,
                runtime=making.runtime,
                disk_mb=20,
            params:
                code=code("figure.py", figure_module(paper, figure)),
                lineage=making.lineage,
                module=module_name(figure_module(paper, figure)),
                settings=paper_settings(paper, row.settings) | making.settings,
            script:
                "../scripts/figure.py"

    PAPER_RESULTS[paper].append(CHECKS.format(paper=paper, job="checks"))

    rule:
        name:
            f"{paper}_checks"
        output:
            CHECKS.format(paper=paper, job="checks"),
        log:
            f"<logs>/{paper}_checks.log",
        benchmark:
            f"<benchmarks>/{paper}_checks.tsv"
        group:
            on_cluster("experiments")
        conda:
            "../../envs/fit.yaml"
        resources:
            **LIGHT,
        params:
            code=code("checks.py", *check_modules(paper)),
            modules=[module_name(file) for file in check_modules(paper)],
            settings={"seed": config["seed"]},
        script:
            "../scripts/checks.py"

    rule:
        name:
            paper
        input:
            PAPER_RESULTS[paper],
            PAGE.format(page=paper),
        log:
            f"<logs>/{paper}.log",
        localrule: True
        conda:
            "../../envs/data.yaml"
