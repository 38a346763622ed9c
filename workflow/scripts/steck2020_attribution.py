from lindrop.base.reporting import job
from lindrop.data.split import protocol_of
from lindrop.papers.steck2020.attribution import PUBLISHED, Study, another_split
from lindrop.papers.steck2020.datasets import Dataset
from lindrop.papers.steck2020.procedures import ROWS, Point
from lindrop.store.csv_files import read_csv, write_csv
from lindrop.store.split import read_split_facts

name, params, inputs = snakemake.wildcards.dataset, snakemake.params, snakemake.input

with job(snakemake.log[0], f"dataset {name}, split {params.number}"):
    facts = read_split_facts(inputs.split)
    dataset = Dataset.of(name, facts, params.column, params.published)
    protocol = another_split(protocol_of(params.protocol), params.number)
    sizes = params.rank, params.ranks, dataset.paper, params.seed
    study = Study.read(inputs.interactions, protocol, *sizes)
    if params.row:
        row = ROWS[params.row - 1]
        first = read_csv(inputs.first, "the rule steck2020_attribution_split")
        published = first[(first["procedure"] == PUBLISHED) & (first["row"] == row.number)]
        (of,) = published.to_dict("records")
        trials = study.longer(row, Point(of["p"], of["lambda"], int(of["epochs"])), params.times)
    else:
        trials = study.trials()
    models, users = study.results(trials)
    stated = {"dataset": name, "data": dataset.data, "paper": dataset.paper, "split": params.number}
    for position, (key, value) in enumerate(stated.items()):
        models.insert(position, key, value)
    write_csv(snakemake.output.models, models)
    if snakemake.output.get("users"):
        users.insert(0, "split", params.number)
        users.insert(0, "dataset", name)
        write_csv(snakemake.output.users, users)
