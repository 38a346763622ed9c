from lindrop.base.reporting import job
from lindrop.data.split import protocol_of
from lindrop.papers.steck2020.attribution import Study
from lindrop.papers.steck2020.curves import curves
from lindrop.papers.steck2020.datasets import Dataset
from lindrop.store.csv_files import write_csv
from lindrop.store.split import read_split_facts

name, params, inputs = snakemake.wildcards.dataset, snakemake.params, snakemake.input

with job(snakemake.log[0], f"dataset {name}"):
    facts = read_split_facts(inputs.split)
    dataset = Dataset.of(name, facts, params.column, params.published)
    sizes = params.ranks[0], params.ranks, dataset.paper, params.seed
    study = Study.read(inputs.interactions, protocol_of(params.protocol), *sizes)
    found = curves(study, params.ranks)
    stated = {"dataset": name, "data": dataset.data, "set": dataset.paper}
    for position, (key, value) in enumerate(stated.items()):
        found.insert(position, key, value)
    write_csv(snakemake.output.curves, found)
