from lindrop.base.reporting import job
from lindrop.data.split import protocol_of
from lindrop.papers.steck2020.attribution import Study, another_split
from lindrop.papers.steck2020.datasets import Dataset
from lindrop.papers.steck2020.partial_emphasis import Emphases, identities
from lindrop.store.csv_files import write_csv
from lindrop.store.split import read_split_facts

name, params, inputs = snakemake.wildcards.dataset, snakemake.params, snakemake.input

with job(snakemake.log[0], f"dataset {name}, split {params.number}"):
    facts = read_split_facts(inputs.split)
    dataset = Dataset.of(name, facts, params.column, params.published)
    protocol = another_split(protocol_of(params.protocol), params.number)
    study = Study.read(inputs.interactions, protocol)
    models, users = Emphases(study).results()
    stated = {"dataset": name, "data": dataset.data, "split": params.number}
    for position, (key, value) in enumerate(stated.items()):
        models.insert(position, key, value)
    models = models.assign(**identities(study.data.x))
    write_csv(snakemake.output.models, models)
    users.insert(0, "split", params.number)
    users.insert(0, "dataset", name)
    write_csv(snakemake.output.users, users)
