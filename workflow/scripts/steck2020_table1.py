from pathlib import Path

from lindrop.base.reporting import job
from lindrop.base.yaml_files import read_yaml
from lindrop.data.provenance import comparable
from lindrop.models.ranks import rank_of_table
from lindrop.output.tables import write_table
from lindrop.papers.steck2020.table1 import Column, Paper, shown_table1, table1, warn_of_edges
from lindrop.store.metrics import read_metrics, read_state
from lindrop.store.split import read_split_facts

params, files = snakemake.params, snakemake.input


def tested(dataset):
    """By model; of the deep ones, those that are of this configuration."""
    deep = [file for file, of in params.deep.items() if read_state(file) == of["state"]]
    found = {
        file.stem: read_metrics(file)
        for file in map(Path, [*files.metrics, *deep])
        if file.parent.name == dataset
    }
    return {
        model: results[rank_of_table(params.rank, list(results))]
        for model, results in found.items()
    }


def paper(split, column):
    same = column and comparable(read_split_facts(split), datasets[column])
    return Paper.of(published, column) if same else None


with job(snakemake.log[0]):
    datasets, published = read_yaml(files.datasets), read_yaml(files.paper)
    columns = [
        Column(
            name,
            tested(name),
            paper(split, column),
        )
        for (name, column), split in zip(params.papers.items(), files.splits, strict=True)
    ]
    warn_of_edges(columns)
    caption = "Accuracy of linear autoencoders on the test users, as in Table 1 of Steck 2020"
    write_table(table1(columns), snakemake.output, caption, shown_table1(columns))
