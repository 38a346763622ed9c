import pandas as pd

from lindrop.data.provenance import dataset_row
from lindrop.reporting import job
from lindrop.store.split import read_split_facts
from lindrop.tables import write_table
from lindrop.yaml_files import read_yaml

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
