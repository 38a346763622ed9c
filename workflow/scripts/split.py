from lindrop.base.reporting import job
from lindrop.data.split import protocol_of, split
from lindrop.store.interactions import read_interactions
from lindrop.store.split import write_split

with job(snakemake.log[0], f"dataset {snakemake.wildcards.dataset}") as log:
    interactions, source = read_interactions(snakemake.input[0])
    result = split(interactions, protocol_of(snakemake.params.protocol))
    del interactions  # the file is written with the memory of the split alone
    counts = result.counts
    log.info("%d users, %d items, %d interactions", counts.users, counts.items, counts.interactions)
    log.info("dropped %d users and %d items", counts.users_dropped, counts.items_dropped)
    repeats = counts.repeats_dropped, counts.duplicate_rows
    log.info("%d rows that repeat a pair were dropped, %d are left", *repeats)
    write_split(snakemake.output[0], result, source)
