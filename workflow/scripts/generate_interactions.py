from lindrop.base.reporting import job
from lindrop.data.synthetic.generator import synthetic_interactions
from lindrop.data.synthetic.recipe import recipe_of
from lindrop.store.interactions import write_interactions

with job(snakemake.log[0], f"dataset {snakemake.wildcards.dataset}"):
    asked = snakemake.params.recipe
    data = synthetic_interactions(recipe_of(**asked), snakemake.params.seed)
    write_interactions(snakemake.output[0], data, {"format": "synthetic"} | asked)
