from lindrop.figures import save
from lindrop.pretorius2018.image_checks import network_checks
from lindrop.pretorius2018.image_curves import network_curves
from lindrop.pretorius2018.image_figures import draw_networks
from lindrop.reporting import job
from lindrop.store.checks import write_all_checks
from lindrop.store.training_run import read_run

output = snakemake.output

with job(snakemake.log[0]):
    curves = network_curves(map(read_run, snakemake.input))
    save(draw_networks(curves), curves, output)
    write_all_checks(output.checks, "pretorius2018", network_checks("supp_fig1", curves))
