from pathlib import Path

from lindrop.reporting import job
from lindrop.scorecard.assess import assess
from lindrop.scorecard.claims import read_papers
from lindrop.scorecard.tables import markdown, scorecard
from lindrop.store.atomic import atomic

files, results = snakemake.input, Path(snakemake.output.csv).parent

with job(snakemake.log[0]):
    papers = [
        assess(paper, results / "experiments") for paper in read_papers(files.claims, files.schema)
    ]
    with atomic(snakemake.output.csv) as partial:
        scorecard(papers).to_csv(partial, index=False, lineterminator="\n")
    with atomic(snakemake.output.md) as partial:
        partial.write_text(markdown(papers), encoding="utf-8")
