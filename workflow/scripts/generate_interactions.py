from lindrop.data.synthetic import interactions
from lindrop.reporting import job
from lindrop.store import write_interactions

with job(snakemake.log[0]):
    params = snakemake.params
    data = interactions(
        params.preset,
        params.seed,
        users=params.n_users,
        items=params.n_items,
        interactions=params.n_interactions,
    )
    write_interactions(snakemake.output[0], data, {"format": "synthetic", "preset": params.preset})
