from lindrop.base.atomic import atomic
from lindrop.base.reporting import job
from lindrop.claims.assess import assess
from lindrop.claims.register import read_papers
from lindrop.claims.tables import markdown, scorecard

files = snakemake.input

with job(snakemake.log[0]):
    checks = [*files.checks, *snakemake.params.deep]
    papers = [assess(paper, checks) for paper in read_papers(files.claims, files.schema)]
    with atomic(snakemake.output.csv) as partial:
        scorecard(papers).to_csv(partial, index=False, lineterminator="\n")
    with atomic(snakemake.output.md) as partial:
        partial.write_text(markdown(papers), encoding="utf-8")
