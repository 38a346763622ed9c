from lindrop.base.reporting import job
from lindrop.claims.check_files import write_checks
from lindrop.output.figures import save
from lindrop.papers.pal2020.curve_checks import inputs_checks
from lindrop.papers.pal2020.curves import inputs_curves
from lindrop.papers.pal2020.figures import draw_inputs

with job(snakemake.log[0]):
    params = snakemake.params
    curves = inputs_curves(params.seed, iterations=params.iterations)
    save(draw_inputs(curves), curves, snakemake.output)
    write_checks(snakemake.output.checks, "pal2020", "dropconnect", inputs_checks(curves))
