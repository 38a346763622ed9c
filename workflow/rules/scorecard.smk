# The scorecard and the pages, from the checks that the other rules computed.
import yaml

CLAIMS_FILES = {
    paper: own_file("config", "claims", f"{paper}.yaml") for paper in PAPERS
}
CLAIMS_SCHEMA = own_file("workflow", "lindrop", "schemas", "claims.schema.yaml")
# Titles of the figures and tables, by file.
REPORTED = reported()
# Papers whose claims each page shows. The last page has none: it compares models on the datasets.
PAGES = {"index": list(PAPERS), **{paper: [paper] for paper in PAPERS}, "compare": []}


rule scorecard:
    input:
        claims=list(CLAIMS_FILES.values()),
        schema=CLAIMS_SCHEMA,
        checks=checks_of(PAPERS),
    output:
        csv=SCORECARD.format(end="csv"),
        md=SCORECARD.format(end="md"),
    log:
        "<logs>/scorecard.log",
    benchmark:
        "<benchmarks>/scorecard.tsv"
    localrule: True
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        **LIGHT,
    params:
        code=code("scorecard.py"),
        lineage=LED_TO_CHECKS,
        deep={file: file_state(file) for file in deep_results(".json")},
    script:
        "../scripts/scorecard.py"


for page, papers in PAGES.items():
    shown = {file: title for file, title in REPORTED.items() if on_page(page, file)}
    optional = [file for files, _ in OPTIONAL_RESULTS for file in files]
    media = [file for file in shown if file not in map(real, optional)]
    captions = [
        own_file("workflow", "report", f"{Path(file).stem}.rst") for file in shown
    ]
    deep = [file for file in deep_results(".png") if file in shown]

    rule:
        name:
            f"{page}_page"
        input:
            claims=[CLAIMS_FILES[paper] for paper in papers],
            schema=CLAIMS_SCHEMA,
            checks=checks_of(papers),
            media=media,
            captions=captions,
            printed=PRINTED_TABLE1 if any("table1." in file for file in media) else [],
            templates=own_files("workflow", "lindrop", "templates", "*"),
        output:
            PAGE.format(page=page),
        log:
            f"<logs>/{page}_page.log",
        benchmark:
            f"<benchmarks>/{page}_page.tsv"
        localrule: True
        conda:
            "../../envs/figures.yaml"
        threads: 1
        resources:
            **LIGHT,
        params:
            code=code("page.py"),
            lineage=[LED_TO_CHECKS[paper] for paper in papers]
            or led_to_metrics(COMPARED_MODELS),
            models=TITLES,
            titles={str(file): shown[file] for file in shown if file in [*media, *deep]},
            deep={file: file_state(file) for file in [*deep, *deep_results(".json")]},
            benchmarks=real("<benchmarks>"),
            left_out=left_out() if page == "compare" else {},
            metrics=budgeted_metrics() if page == "compare" else [],
            config=yaml.safe_dump(config, sort_keys=False, allow_unicode=True),
        script:
            "../scripts/page.py"
