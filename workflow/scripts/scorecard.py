from pathlib import Path

from lindrop.base.atomic import atomic
from lindrop.base.reporting import job
from lindrop.claims.assess import assess
from lindrop.claims.register import read_papers
from lindrop.claims.tables import markdown, scorecard

files, results = snakemake.input, Path(snakemake.output.csv).parent

with job(snakemake.log[0]):
    papers = [
        assess(paper, results / "experiments") for paper in read_papers(files.claims, files.schema)
    ]
    with atomic(snakemake.output.csv) as partial:
        scorecard(papers).to_csv(partial, index=False, lineterminator="\n")
    with atomic(snakemake.output.md) as partial:
        partial.write_text(markdown(papers), encoding="utf-8")
