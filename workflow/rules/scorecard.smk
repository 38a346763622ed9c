# What holds of each paper, claim by claim, from the checks that the other rules wrote.
CLAIMS_FILES = [
    own_file("config", "claims", f"{paper}.yaml")
    for paper in ("steck2020", "mianjy2018", "pal2020", "pretorius2018")
]
CLAIMS_SCHEMA = own_file("workflow", "lindrop", "schemas", "claims.schema.yaml")
# made by `make deep` only: without them their claims are not run
DEEP_CHECKS = [rules.pal2020_fig2.output.checks]
DEEP_FIGURES = [rules.pal2020_fig2.output.png]


rule scorecard:
    input:
        claims=CLAIMS_FILES,
        schema=CLAIMS_SCHEMA,
        checks=[
            file
            for file in check_files(claims_of(CLAIMS_FILES, CLAIMS_SCHEMA))
            if file.replace("<results>", RESULTS) not in DEEP_CHECKS
        ],
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
        deep=[file_state(file) for file in DEEP_CHECKS if Path(file).exists()],
    script:
        "../scripts/scorecard.py"


REPORTED = reported()
MADE = {file: title for file, title in REPORTED.items() if file not in DEEP_FIGURES}


rule report_page:
    input:
        scorecard=rules.scorecard.output,
        claims=CLAIMS_FILES,
        schema=CLAIMS_SCHEMA,
        media=list(MADE),
        captions=own_files("workflow", "report", "*.rst"),
        paper=own_file("config", "paper_values", "steck2020_table1.yaml"),
        templates=own_files("workflow", "lindrop", "templates", "*"),
    output:
        "<results>/report/index.html",
    log:
        "<logs>/report_page.log",
    benchmark:
        "<benchmarks>/report_page.tsv"
    localrule: True
    conda:
        "../../envs/figures.yaml"
    threads: 1
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
        disk_mb=20,
    params:
        code=code("report_page.py"),
        titles={
            str(file): REPORTED[file]
            for file in REPORTED
            if file in MADE or Path(file).exists()
        },
        deep=[file_state(file) for file in DEEP_FIGURES if Path(file).exists()],
        config=yaml.safe_dump(config, sort_keys=False, allow_unicode=True),
    script:
        "../scripts/report_page.py"
