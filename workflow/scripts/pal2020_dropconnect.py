from lindrop.figures import save
from lindrop.pal2020.curve_checks import inputs_checks
from lindrop.pal2020.curves import inputs_curves
from lindrop.pal2020.figures import draw_inputs
from lindrop.reporting import job
from lindrop.store.checks import write_checks

with job(snakemake.log[0]):
    params = snakemake.params
    curves = inputs_curves(params.seed, iterations=params.iterations)
    save(draw_inputs(curves), curves, snakemake.output)
    write_checks(snakemake.output.checks, "pal2020", "dropconnect", inputs_checks(curves))
