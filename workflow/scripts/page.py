from pathlib import Path

import yaml

from lindrop.base.atomic import atomic
from lindrop.base.reporting import job
from lindrop.base.yaml_files import read_yaml
from lindrop.claims.assess import assess
from lindrop.claims.media import Figure, Table, caption_of
from lindrop.claims.page import Content, generated, render
from lindrop.claims.provenance import provenance
from lindrop.claims.register import read_papers
from lindrop.papers.steck2020.table1_comparison import beside

files, params = snakemake.input, snakemake.params
captions = {Path(file).stem: Path(file) for file in files.captions}


def described(file):
    """Identifier, title, caption and data of a figure or a table."""
    name = Path(file).stem
    caption = caption_of(captions.get(name, Path(name)))
    return name, params.titles[file], caption, Path(file)


with job(snakemake.log[0]):
    config = yaml.safe_load(params.config)
    checks = [*files.checks, *(file for file in params.deep if file.endswith(".json"))]
    tables = [Table(*described(file)) for file in params.titles if file.endswith(".html")]
    synthetic = generated(config)
    measured = (table.csv for table in tables if table.id == "steck2020_table1")
    content = Content(
        [assess(paper, checks) for paper in read_papers(files.claims, files.schema)],
        [Figure(*described(file)) for file in params.titles if file.endswith(".png")],
        tables,
        next((beside(file, read_yaml(files.printed), synthetic) for file in measured), None),
        provenance(Path(params.benchmarks)),
        config,
    )
    with atomic(snakemake.output[0]) as partial:
        partial.write_text(render(content, Path(files.templates[0]).parent), encoding="utf-8")
