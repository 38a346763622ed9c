from lindrop.base.reporting import job
from lindrop.serving.histories import Histories, chosen, read_ids
from lindrop.serving.recommend import recommended
from lindrop.store.model import read_model
from lindrop.store.recommendations import write_recommendations
from lindrop.store.split import read_all_interactions

wildcards, params = snakemake.wildcards, snakemake.params

with job(snakemake.log[0], f"dataset {wildcards.dataset}, model {wildcards.model}"):
    found = Histories(*read_all_interactions(snakemake.input.split))
    if snakemake.input.users:
        found = chosen(found, read_ids(snakemake.input.users[0]))
    write_recommendations(
        snakemake.output[0],
        recommended(read_model(snakemake.input.model), found, params.k),
        len(found.users),
    )
