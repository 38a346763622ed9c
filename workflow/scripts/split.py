from lindrop.data.split import Protocol, split
from lindrop.reporting import job
from lindrop.store.interactions import read_interactions
from lindrop.store.split import write_split

with job(snakemake.log[0], f"dataset {snakemake.wildcards.dataset}") as log:
    interactions, source = read_interactions(snakemake.input[0])
    result = split(interactions, Protocol(**snakemake.params.protocol))
    log.info("%s", result.counts)
    write_split(snakemake.output[0], result, source)
