from lindrop.base.reporting import job
from lindrop.claims.check_files import write_checks
from lindrop.output.figures import save
from lindrop.papers.pal2020.curve_checks import dropconnect_checks
from lindrop.papers.pal2020.curves import dropconnect_curves
from lindrop.papers.pal2020.figures import draw_dropconnect

with job(snakemake.log[0]):
    params = snakemake.params
    curves = dropconnect_curves(params.seed, iterations=params.iterations)
    save(draw_dropconnect(curves), curves, snakemake.output)
    write_checks(snakemake.output.checks, "pal2020", "fig3", dropconnect_checks("fig3", curves))
