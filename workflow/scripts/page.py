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
from lindrop.output.compare_page import all_left_out, compared
from lindrop.papers.steck2020.table1_comparison import beside, on_papers_data

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
    files_of = {table.id: table.csv for table in tables}
    figures = [Figure(*described(file)) for file in params.titles if file.endswith(".png")]
    table1, models = None, ()
    if "steck2020_table1" in files_of:
        trained = {figure.id: figure.csv for figure in figures}.get("steck2020_attribution")
        table1 = beside(files_of["steck2020_table1"], read_yaml(files.printed), synthetic, trained)
    if "compare" in files_of:
        table1 = on_papers_data(table1) if table1 else None
        of_models = files_of["compare"], files_of["datasets"]
        left_out = all_left_out(params.left_out, params.metrics)
        models = compared(*of_models, config["criterion"], synthetic, left_out)
    content = Content(
        [assess(paper, checks) for paper in read_papers(files.claims, files.schema)],
        sorted(figures, key=lambda figure: figure.id != "compare_costs"),  # what models cost first
        tables,
        table1,
        provenance(Path(params.benchmarks)),
        config,
        models,
    )
    with atomic(snakemake.output[0]) as partial:
        partial.write_text(render(content, Path(files.templates[0]).parent), encoding="utf-8")
