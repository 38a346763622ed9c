import pandas as pd

from lindrop.base.reporting import job
from lindrop.base.yaml_files import read_yaml
from lindrop.data.provenance import dataset_row
from lindrop.output.tables import write_table
from lindrop.store.split import read_split_facts

with job(snakemake.log[0]):
    published = read_yaml(snakemake.input.paper)
    datasets = zip(
        snakemake.params.names, snakemake.params.papers, snakemake.input.splits, strict=True
    )
    rows = [
        dataset_row(name, read_split_facts(file), column, published)
        for name, column, file in datasets
    ]
    caption = "Data-set properties, as in Table 1 of Steck 2020"
    write_table(pd.DataFrame(rows), snakemake.output, caption)
