from pathlib import Path

import pandas as pd

from lindrop.base.reporting import job
from lindrop.base.yaml_files import read_yaml
from lindrop.claims.check_files import write_all_checks
from lindrop.models.ranks import rank_of_table
from lindrop.papers.steck2020.cosine_checks import cosine_checks
from lindrop.papers.steck2020.dataset_checks import dataset_checks, shared_entries
from lindrop.papers.steck2020.experiments import Dataset, published_sets
from lindrop.papers.steck2020.rank_checks import rank_checks
from lindrop.papers.steck2020.table1_checks import table1_checks
from lindrop.store.metrics import read_metrics
from lindrop.store.split import read_split_facts, read_split_matrix

params, files = snakemake.params, snakemake.input


def tested(name):
    """The models of row 5 and of what it is compared with, at the table's rank."""
    for file in map(Path, files.metrics):
        if file.parent.name == name:
            results = read_metrics(file)
            yield file.stem, results[rank_of_table(params.rank, list(results))]


def checks(dataset, split):
    name = dataset.name
    stderr = printed["columns"][dataset.paper]["stderr"] if dataset.paper else None
    history, held_out = (
        read_split_matrix(split, f"test/{part}") for part in ("fold_in", "held_out")
    )
    (properties,) = of_dataset(files.properties, name).to_dict("records")
    return [
        *dataset_checks(dataset, properties, shared_entries(history, held_out)),
        *table1_checks(dataset, of_dataset(files.table, name), dict(tested(name)), stderr),
        *rank_checks(dataset, of_dataset(files.left, name)),
        *cosine_checks(dataset, *(of_dataset(file, name) for file in (files.center, files.right))),
    ]


def of_dataset(file, name):
    frame = pd.read_csv(file)
    return frame[frame["dataset"] == name]


with job(snakemake.log[0]):
    published, printed = read_yaml(files.datasets), read_yaml(files.paper)
    datasets = [
        Dataset.of(name, read_split_facts(split), column, published)
        for (name, column), split in zip(params.papers.items(), files.splits, strict=True)
    ]
    found = [
        check
        for dataset, split in zip(datasets, files.splits, strict=True)
        for check in checks(dataset, split)
    ]
    found.append(published_sets(datasets, len(published)))
    write_all_checks(snakemake.output, "steck2020", found)
