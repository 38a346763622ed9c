import pandas as pd

from lindrop.base.reporting import job
from lindrop.claims.check_files import write_all_checks
from lindrop.output.figures import save
from lindrop.papers.pretorius2018.image_checks import linear_checks
from lindrop.papers.pretorius2018.image_figures import draw_linear
from lindrop.papers.pretorius2018.image_sets import read_image_set
from lindrop.papers.pretorius2018.linear_images import linear_curves

params, output = snakemake.params, snakemake.output

with job(snakemake.log[0]):
    curves = pd.concat(
        linear_curves(images, params.settings[images.source["name"]], params.seed)
        for images in map(read_image_set, snakemake.input)
    )
    save(draw_linear(curves), curves, output)
    write_all_checks(output.checks, "pretorius2018", linear_checks(curves))
