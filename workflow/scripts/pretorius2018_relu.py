from lindrop.base.reporting import job
from lindrop.claims.check_files import write_all_checks
from lindrop.output.figures import save
from lindrop.papers.pretorius2018.image_checks import network_checks
from lindrop.papers.pretorius2018.image_curves import network_curves
from lindrop.papers.pretorius2018.image_figures import draw_networks
from lindrop.store.training_run import read_run

output = snakemake.output

with job(snakemake.log[0]):
    curves = network_curves(map(read_run, snakemake.input))
    save(draw_networks(curves), curves, output)
    write_all_checks(output.checks, "pretorius2018", network_checks("relu", curves))
