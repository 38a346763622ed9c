from lindrop.data.split import Protocol, split
from lindrop.reporting import job
from lindrop.store import read_interactions, write_split

with job(snakemake.log[0]) as log:
    params = snakemake.params
    protocol = Protocol(
        heldout_users=params.heldout_users,
        min_rating=params.min_rating,
        min_user_interactions=params.min_user_interactions,
        min_item_users=params.min_item_users,
        test_fraction=params.test_fraction,
        seed=params.seed,
    )
    interactions, source = read_interactions(snakemake.input[0])
    result = split(interactions, protocol)
    log.info("%s", result.counts)
    write_split(snakemake.output[0], result, source)
