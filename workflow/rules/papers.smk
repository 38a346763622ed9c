# The figures and checks of every paper in lindrop.papers.catalogue: one rule for each, made in a loop.
#
# In a loop, only what is evaluated at once belongs to one rule: a function of the wildcards, and
# the name of a script with a variable in it, would all see the last round's values.


def figure_files(paper, name, figure):
    """What a figure's job writes, by name."""
    path = f"<results>/figures/{paper}_{name}"
    shown = report(
        f"{path}.png",
        caption=f"../report/{paper}_{name}.rst",
        category=paper_of(paper),
        labels={"figure": figure.label, "part": figure.part},
    )
    files = {"png": shown, "pdf": f"{path}.pdf", "csv": f"{path}.csv"}
    if figure.checks:
        files["checks"] = f"<results>/experiments/{paper}/{name}.json"
    return files


def paper_settings(paper, names):
    """Settings by name: of the paper's own section of the configuration, else of the whole."""
    own = config.get(paper, {})
    return {name: own.get(name, config.get(name)) for name in names}


for paper, figures in PAPERS.items():
    for figure, row in figures.items():
        making = JOBS.get(f"{paper}_{figure}", Job())
        files = figure_files(paper, figure, row)
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

    PAPER_RESULTS[paper].append(f"<results>/experiments/{paper}/checks.json")

    rule:
        name:
            f"{paper}_checks"
        output:
            f"<results>/experiments/{paper}/checks.json",
        log:
            f"<logs>/{paper}_checks.log",
        benchmark:
            f"<benchmarks>/{paper}_checks.tsv"
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
            f"<results>/report/{paper}.html",
        log:
            f"<logs>/{paper}.log",
        localrule: True
        conda:
            "../../envs/data.yaml"
