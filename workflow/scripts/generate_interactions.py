from dataclasses import replace

from lindrop.data.synthetic.generator import synthetic_interactions
from lindrop.data.synthetic.recipe import PRESETS
from lindrop.reporting import job
from lindrop.store import write_interactions

with job(snakemake.log[0]):
    params = snakemake.params
    sizes = {name: params[f"n_{name}"] for name in ("users", "items", "interactions")}
    given = {name: size for name, size in sizes.items() if size is not None}
    recipe = replace(PRESETS[params.preset], **given)
    source = {"format": "synthetic", "preset": params.preset}
    write_interactions(
        snakemake.output[0], synthetic_interactions(recipe, params.seed), source | given
    )
