# A rule for each figure, set of checks and target of the papers in lindrop.papers.catalogue.
#
# In a loop, a function of the wildcards or a script name with a variable would be evaluated after the
# loop, with the values of its last round. So everything here is evaluated at once. Lists of results hold
# plain strings: Snakemake would look for the caption of a marked one beside the rule that asks for it.
from lindrop.claims.media import paper_of
from lindrop.papers.catalogue import check_modules, module_of

for paper, rows in PAPERS.items():
    for name, row in rows.items():
        identifier, making = f"{paper}_{name}", JOBS.get(f"{paper}_{name}", Job())
        made_by = module_of(paper, name)
        if isinstance(row, Table):
            labels = {"table": row.label, "part": row.part}
            files = table_files(identifier, paper_of(paper), **labels)
            PAPER_RESULTS[paper].extend(map(str, files.values()))

            rule:
                name:
                    identifier
                input:
                    **making.input,
                output:
                    **files,
                log:
                    f"<logs>/{identifier}.log",
                benchmark:
                    f"<benchmarks>/{identifier}.tsv"
                localrule: True
                conda:
                    "../../envs/figures.yaml"
                threads: 1
                resources:
                    **LIGHT,
                params:
                    code=code("table.py", made_by),
                    lineage=making.lineage,
                    module=module_name(made_by),
                    settings=making.settings,
                script:
                    "../scripts/table.py"

        else:
            labels = {"figure": row.label, "part": row.part}
            files = figure_files(identifier, paper_of(paper), **labels)
            if row.checks:
                files["checks"] = CHECKS.format(paper=paper, job=name)
            settings = paper_settings(paper, row.settings) | making.settings
            facts = code("figure.py", made_by), making.lineage, settings
            made_from = fingerprint(facts)
            made = [*map(str, files.values())]
            if row.deep:
                DEEP_RESULTS.extend(made)
            elif row.asked:
                ASKED_RESULTS[name].extend(made)
            if name in EVERY_RUN or not (row.deep or row.asked):
                PAPER_RESULTS[paper].extend(made)
                LED_TO_CHECKS[paper] += [made_from] if row.checks else []
            else:
                OPTIONAL_RESULTS.append((made, made_from))

            rule:
                name:
                    identifier
                input:
                    **making.input,
                output:
                    **files,
                log:
                    f"<logs>/{identifier}.log",
                benchmark:
                    f"<benchmarks>/{identifier}.tsv"
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
                    code=code("figure.py", made_by),
                    lineage=making.lineage,
                    made_from=made_from,
                    module=module_name(made_by),
                    settings=settings,
                script:
                    "../scripts/figure.py"

    PAPER_RESULTS[paper].append(CHECKS.format(paper=paper, job="checks"))
    LED_TO_CHECKS[paper].append((code("checks.py", *check_modules(paper)), SEED))

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
        threads: 1
        resources:
            **LIGHT,
        params:
            code=code("checks.py", *check_modules(paper)),
            modules=[module_name(file) for file in check_modules(paper)],
            settings={"seed": config["seed"]},
        script:
            "../scripts/checks.py"
