import pandas as pd

from lindrop.figures import save
from lindrop.pretorius2018.image_checks import linear_checks
from lindrop.pretorius2018.image_figures import draw_linear
from lindrop.pretorius2018.image_sets import read_image_set
from lindrop.pretorius2018.linear_images import linear_curves
from lindrop.reporting import job
from lindrop.store.checks import write_all_checks

params, output = snakemake.params, snakemake.output

with job(snakemake.log[0]):
    curves = pd.concat(
        linear_curves(images, params.settings[images.source["name"]], params.seed)
        for images in map(read_image_set, snakemake.input)
    )
    save(draw_linear(curves), curves, output)
    write_all_checks(output.checks, "pretorius2018", linear_checks(curves))
