from lindrop.base.reporting import job
from lindrop.papers.pretorius2018.image_sets import (
    SYNTHETIC,
    published_set,
    synthetic_set,
    write_image_set,
)
from lindrop.store.images import read_images

name, params = snakemake.wildcards.images, snakemake.params

with job(snakemake.log[0], f"images {name}"):
    if name == SYNTHETIC:
        images = synthetic_set(params.n_images, params.side, params.seed)
    else:
        pixels, _, files = read_images(snakemake.input[0], params.n_images)
        images = published_set(name, pixels, files, params.n_images)
    write_image_set(snakemake.output[0], images)
