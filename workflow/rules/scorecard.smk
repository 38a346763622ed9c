# What holds of each paper, claim by claim, from the checks that the other rules computed; the pages.
CLAIMS_FILES = {
    paper: own_file("config", "claims", f"{paper}.yaml") for paper in PAPERS
}
CLAIMS_SCHEMA = own_file("workflow", "lindrop", "schemas", "claims.schema.yaml")
# Figures and tables by file: what a reader calls them.
REPORTED = reported()
# By page: the papers whose claims it shows. The last one is about the user's datasets alone.
PAGES = {"index": list(PAPERS), **{paper: [paper] for paper in PAPERS}, "compare": []}


def checks_of(papers):
    """The files of checks of these papers, without what only `make deep` computes."""
    files = [str(file) for paper in papers for file in PAPER_RESULTS[paper]]
    return [file for file in files if file.endswith(".json")]


def deep_results(end):
    """The files with this end that `make deep` left.

    They are no inputs: the default run neither waits for PyTorch nor trains for hours.
    """
    files = [real(file) for file in DEEP_RESULTS if file.endswith(end)]
    return [file for file in files if Path(file).exists()]


def on_page(page, file):
    """Whether a page shows a figure or a table."""
    name = Path(file).stem
    if page == "compare":
        return name in COMPARED
    return page == "index" or name.startswith(f"{page}_")


rule scorecard:
    input:
        claims=list(CLAIMS_FILES.values()),
        schema=CLAIMS_SCHEMA,
        checks=checks_of(PAPERS),
    output:
        csv="<results>/scorecard.csv",
        md="<results>/scorecard.md",
    log:
        "<logs>/scorecard.log",
    benchmark:
        "<benchmarks>/scorecard.tsv"
    localrule: True
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
        disk_mb=20,
    params:
        code=code("scorecard.py"),
        deep={file: file_state(file) for file in deep_results(".json")},
    script:
        "../scripts/scorecard.py"


for page, papers in PAGES.items():
    shown = {file: title for file, title in REPORTED.items() if on_page(page, file)}
    media = [file for file in shown if file not in map(real, DEEP_RESULTS)]
    deep = [file for file in deep_results(".png") if file in shown]

    rule:
        name:
            f"{page}_page"
        input:
            claims=[CLAIMS_FILES[paper] for paper in papers],
            schema=CLAIMS_SCHEMA,
            checks=checks_of(papers),
            media=media,
            captions=own_files("workflow", "report", "*.rst"),
            printed=own_file("config", "paper_values", "steck2020_table1.yaml"),
            templates=own_files("workflow", "lindrop", "templates", "*"),
        output:
            f"<results>/report/{page}.html",
        log:
            f"<logs>/{page}_page.log",
        benchmark:
            f"<benchmarks>/{page}_page.tsv"
        localrule: True
        conda:
            "../../envs/figures.yaml"
        threads: 1
        resources:
            mem_mb=grows(1000),
            runtime=grows(10),
            disk_mb=20,
        params:
            code=code("page.py"),
            titles={file: shown[file] for file in shown if file in [*media, *deep]},
            deep={file: file_state(file) for file in [*deep, *deep_results(".json")]},
            config=yaml.safe_dump(config, sort_keys=False, allow_unicode=True),
        script:
            "../scripts/page.py"
